//! The client that the official conformance suite starts: `conformance-client URL`.
//!
//! What it has to do is in variables that the suite sets; see the module `conformance`.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use switchboard_tests::conformance::{Task, play};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let mut stderr = std::io::stderr().lock();
            let mut cause: Option<&dyn Error> = Some(error.as_ref());
            while let Some(error) = cause {
                // Nobody is left to tell when stderr is gone.
                let _ = writeln!(stderr, "conformance-client: {error}");
                cause = error.source();
            }
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let task = Task::read(std::env::args().skip(1), |name| std::env::var(name).ok())?;
    play(&task).await
}
