//! What the hosts that are flooded have in common: calls without haste, and what they cost.

use std::error::Error;
use std::time::Duration;

use switchboard::protocol::Raw;
use switchboard::session::{CallError, CallOptions, Session, SessionOptions};
use switchboard::transport::Connect;
use switchboard::{Deadline, Timeouts};

/// Longer than any flood takes, be the machine ever so busy.
const DEADLINE: Duration = Duration::from_secs(600);

/// What the tool `add` is called with.
pub const SUM: &str = r#"{"a":1,"b":2}"#;
/// What the tool `echo` is called with.
pub const HELLO: &str = r#"{"message":"hello"}"#;

/// A session in which no flood takes too long.
///
/// # Errors
/// When there is none.
pub async fn connect(server: &dyn Connect) -> Result<Session, Box<dyn Error>> {
    connect_with(server, SessionOptions::default()).await
}

/// The same, with more that is wanted of it.
///
/// # Errors
/// When there is none.
pub async fn connect_with(
    server: &dyn Connect,
    options: SessionOptions,
) -> Result<Session, Box<dyn Error>> {
    let timeouts = Timeouts::all(Deadline::within(DEADLINE));
    Ok(Session::connect(server, options.timeouts(timeouts)).await?)
}

/// A number of KiB that the system has on this process.
///
/// # Errors
/// When it has none of that name.
pub fn status_kib(name: &str) -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.ok_or("no such number")?.trim_start_matches(':');
    Ok(number.trim().trim_end_matches(" kB").parse()?)
}

/// Calls a tool and gives the text of its result.
///
/// # Errors
/// When there is no result.
pub async fn call(session: &Session, tool: &str, arguments: &str) -> Result<String, CallError> {
    let arguments = Raw::parse(arguments).ok();
    let result = session
        .call_tool(tool, arguments, CallOptions::default())
        .await?;
    let text = result.content().first().and_then(|first| first.as_text());
    Ok(text.unwrap_or_default().to_owned())
}
