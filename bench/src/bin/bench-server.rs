//! The server that every client of a benchmark talks to:
//! `bench-server [--tools COUNT] [--modern]`, on stdin and stdout; with `--http json|sse` over HTTP, on a
//! port that it prints, until stdin ends.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd;
use std::process::ExitCode;

use switchboard_bench::http::{Answers, serve};
use switchboard_bench::server::{Era, Server};

const TOOLS: usize = 1000;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // The client went away, as clients do.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Ignored: there is no other place to report this.
            let _ =
                io::Write::write_fmt(&mut io::stderr(), format_args!("bench-server: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<()> {
    let usage = || {
        io::Error::other(
            "usage: bench-server [--tools COUNT] [--modern] [--http json|sse] [--start-delay MS] [--echo]",
        )
    };
    let (mut era, mut tools, mut http, mut echo) = (Era::Legacy, TOOLS, None, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--modern" => era = Era::Modern,
            "--echo" => echo = true,
            "--tools" => {
                let count = arguments.next().and_then(|count| count.parse().ok());
                tools = count.ok_or_else(usage)?;
            }
            "--http" => {
                let answers = arguments.next().and_then(|name| Answers::parse(&name));
                http = Some(answers.ok_or_else(usage)?);
            }
            "--start-delay" => {
                let millis = arguments.next().and_then(|millis| millis.parse().ok());
                let delay = std::time::Duration::from_millis(millis.ok_or_else(usage)?);
                std::thread::sleep(delay);
            }
            _ => return Err(usage()),
        }
    }
    let server = Server::new(era, tools);
    let server = if echo { server.listing_echo() } else { server };
    if let Some(answers) = http {
        return over_http(server, answers);
    }
    // Files of their own, because the standard handles would buffer in small pieces.
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    server.serve(input, output)
}

fn over_http(server: Server, answers: Answers) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (ended, end) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        io::copy(&mut io::stdin(), &mut io::sink()).ok();
        // Whoever waits for it may be gone.
        ended.send(()).ok();
    });
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        writeln!(io::stdout(), "{}", listener.local_addr()?)?;
        tokio::select! {
            served = serve(server, listener, answers) => served,
            _ = end => Ok(()),
        }
    })
}
