//! The server that every client of a benchmark talks to:
//! `bench-server [--tools COUNT] [--modern]`, on stdin and stdout.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;

use switchboard_bench::server::{Era, Server};

const TOOLS: usize = 1000;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // The client went away, as clients do.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell when this fails too.
            let _ =
                io::Write::write_fmt(&mut io::stderr(), format_args!("bench-server: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<()> {
    let usage = || io::Error::other("usage: bench-server [--tools COUNT] [--modern]");
    let (mut era, mut tools) = (Era::Legacy, TOOLS);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--modern" => era = Era::Modern,
            "--tools" => {
                let count = arguments.next().and_then(|count| count.parse().ok());
                tools = count.ok_or_else(usage)?;
            }
            _ => return Err(usage()),
        }
    }
    // Files of their own, because the standard handles would buffer in small pieces.
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    Server::new(era, tools).serve(input, output)
}
