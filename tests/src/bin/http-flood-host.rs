//! A host that calls a server over HTTP which floods it, and says what that cost.
//!
//! `http-flood-host URL`. It calls `add`, which is to go well, then `echo`, which is to be struck,
//! then `add` again, and writes what it saw to stdout, a name and a value a line.

use std::error::Error;
use std::io::Write;
use std::time::{Duration, Instant};

use switchboard::protocol::Raw;
use switchboard::session::{CallError, CallOptions, Session, SessionOptions};
use switchboard::transport::Http;
use switchboard::{Deadline, Timeouts};

/// The one of the command line, which keeps for a while what it is given back.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Longer than any flood takes, be the machine ever so busy.
const DEADLINE: Duration = Duration::from_secs(600);

/// A number of KiB that the system has on this process.
fn status_kib(name: &str) -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.ok_or("no such number")?.trim_start_matches(':');
    Ok(number.trim().trim_end_matches(" kB").parse()?)
}

async fn call(session: &Session, tool: &str, arguments: &str) -> Result<String, CallError> {
    let arguments = Raw::parse(arguments).ok();
    let result = session
        .call_tool(tool, arguments, CallOptions::default())
        .await?;
    let text = result.content().first().and_then(|first| first.as_text());
    Ok(text.unwrap_or_default().to_owned())
}

async fn run(url: &str) -> Result<String, Box<dyn Error>> {
    let timeouts = Timeouts::all(Deadline::within(DEADLINE));
    let options = SessionOptions::default().timeouts(timeouts);
    let session = Session::connect(&Http::new(url)?, options).await?;
    let sum = r#"{"a":1,"b":2}"#;
    call(&session, "add", sum).await?;
    let before = status_kib("VmRSS")?;
    let begun = Instant::now();
    let outcome = match call(&session, "echo", r#"{"message":"hello"}"#).await {
        Ok(text) => format!("ok {text}"),
        Err(error) => format!("error {error}"),
    };
    let took = begun.elapsed();
    let next = call(&session, "add", sum).await?;
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
