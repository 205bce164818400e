//! The bundled test server as a process, for tests of what a client endures.
//!
//! `endure-server [--journal FILE] [--chaos FLAG[=ARG]]... [--instance NAME] [--start-delay MS]
//! [--asking-models] [--conformance] [--growing] [--shapes] [--talking]`, as `switchboard test-server` has them.

use std::error::Error;
use std::time::Duration;

use switchboard_testkit::{Journal, Options, serve_stdio};

fn main() -> Result<(), Box<dyn Error>> {
    let mut options = Options::default();
    let mut args = std::env::args().skip(1);
    while let Some(option) = args.next() {
        let switch = match option.as_str() {
            "--asking-models" => Some(&mut options.asking_models),
            "--conformance" => Some(&mut options.conformance),
            "--growing" => Some(&mut options.growing),
            "--shapes" => Some(&mut options.shapes),
            "--talking" => Some(&mut options.talking),
            _ => None,
        };
        if let Some(switch) = switch {
            *switch = true;
            continue;
        }
        let value = args.next().ok_or("an option without its value")?;
        match option.as_str() {
            "--journal" => options.journal = Some(Journal::open(value)?),
            "--chaos" => options.chaos.push(value.parse()?),
            "--instance" => options.instance = Some(value),
            "--start-delay" => options.start_delay = Some(Duration::from_millis(value.parse()?)),
            _ => return Err("no such option".into()),
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(serve_stdio(options));
    // A thread may still wait on stdin: the process does not wait for it.
    runtime.shutdown_background();
    Ok(served?)
}
