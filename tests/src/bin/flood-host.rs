//! A host that calls a server which floods it, and says what that cost.
//!
//! `flood-host PROGRAM ARGS...`. It calls `add`, which is to go well, then `echo`, which is to be
//! struck, then `add` again, and writes what it saw to stdout, a name and a value a line.

use std::error::Error;
use std::io::Write;
use std::time::{Duration, Instant};

use switchboard::session::{CallError, Session};
use switchboard::transport::{Environment, Stdio};
use switchboard_tests::flood::{HELLO, SUM, call, connect, status_kib};

/// The one of the command line, which keeps for a while what it is given back.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// When a message went over the limit.
async fn over_limit(session: &Session) -> Instant {
    while session.counts().over_limit == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Instant::now()
}

async fn run(stdio: &Stdio) -> Result<String, Box<dyn Error>> {
    let session = connect(stdio).await?;
    call(&session, "add", SUM).await?;
    let before = status_kib("VmRSS")?;
    let begun = Instant::now();
    let mut over = None;
    let struck = {
        let mut calling = std::pin::pin!(call(&session, "echo", HELLO));
        let mut watching = std::pin::pin!(over_limit(&session));
        loop {
            tokio::select! {
                biased;
                at = &mut watching, if over.is_none() => over = Some(at),
                struck = &mut calling => break struck,
            }
        }
    };
    let ended = Instant::now();
    let after_limit = over.map_or(Duration::ZERO, |at| ended - at);
    let outcome = match struck {
        Ok(text) => format!("ok {text}"),
        Err(CallError::TooLarge { limit_bytes }) => format!("too large {limit_bytes}"),
        Err(error) => format!("error {error}"),
    };
    let next = call(&session, "add", SUM).await?;
    let (whole, counts) = (begun.elapsed(), session.counts());
    let (peak, after) = (status_kib("VmHWM")?, status_kib("VmRSS")?);
    let report = format!(
        "outcome {outcome}\nnext {next}\nafter-limit-ms {}\ncall-ms {}\nall-ms {}\nbefore-kib {before}\n\
         grown-kib {}\nstayed-kib {}\nover-limit {}\ndropped-notices {}\nstderr-lines {}\n",
        after_limit.as_millis(),
        (ended - begun).as_millis(),
        whole.as_millis(),
        peak.saturating_sub(before),
        after.saturating_sub(before),
        counts.over_limit,
        counts.dropped_notices,
        session.peer().stderr().len(),
    );
    session.close().await;
    Ok(report)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let stdio = Stdio::new(args.next().ok_or("no program")?)
        .args(args)
        .environment(&Environment::of_process());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let report = runtime.block_on(run(&stdio))?;
    std::io::stdout().write_all(report.as_bytes())?;
    Ok(())
}
