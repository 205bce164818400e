//! The bundled test server, for clients that are not ours.

use std::process::ExitCode;

use switchboard_testkit::{Eras, Options, serve_stdio};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let eras = match std::env::args().nth(1).as_deref() {
        None => Eras::Both,
        Some("--legacy") => Eras::Legacy,
        Some("--modern") => Eras::Modern,
        Some(_) => return ExitCode::from(2),
    };
    let options = Options {
        eras,
        ..Options::default()
    };
    match serve_stdio(options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
