//! A host that calls a server over HTTP which floods it, and says what that cost.
//!
//! `http-flood-host URL`. It calls `add`, which is to go well, then `echo`, which is to be struck,
//! then `add` again, and writes what it saw to stdout, a name and a value a line.

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use switchboard::transport::Http;
use switchboard_tests::flood::{HELLO, SUM, call, connect, status_kib};

/// The one of the command line, which keeps for a while what it is given back.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

async fn run(url: &str) -> Result<String, Box<dyn Error>> {
    let session = connect(&Http::new(url)?).await?;
    call(&session, "add", SUM).await?;
    let before = status_kib("VmRSS")?;
    let begun = Instant::now();
    let outcome = match call(&session, "echo", HELLO).await {
        Ok(text) => format!("ok {text}"),
        Err(error) => format!("error {error}"),
    };
    let took = begun.elapsed();
    let next = call(&session, "add", SUM).await?;
    let peak = status_kib("VmHWM")?;
    session.close().await;
    Ok(format!(
        "outcome {outcome}\nnext {next}\ncall-ms {}\nbefore-kib {before}\ngrown-kib {}\n",
        took.as_millis(),
        peak.saturating_sub(before),
    ))
}

fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("no URL")?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let report = runtime.block_on(run(&url))?;
    std::io::stdout().write_all(report.as_bytes())?;
    Ok(())
}
