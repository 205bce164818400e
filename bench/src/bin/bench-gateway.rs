//! The gateway in front of one server, for `bench-load`.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser;
use switchboard_bench::forward::{Front, Upstream, gateway};

/// The allocator of all programs of the benchmark.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Serves one server until stdin ends
#[derive(Parser)]
struct Arguments {
    /// The side that clients come to
    #[arg(long)]
    front: Front,
    /// The side that the server is on
    #[arg(long)]
    upstream: Upstream,
    /// The server program
    #[arg(long)]
    server: String,
    /// The core that the server is to stay on
    #[arg(long)]
    server_cpu: Option<usize>,
}

fn main() -> ExitCode {
    let Arguments {
        front,
        upstream,
        server,
        server_cpu,
    } = Arguments::parse();
    let server = upstream.command(&server, server_cpu);
    let done = gateway(front, upstream, &server);
    let Err(fault) = done else {
        return ExitCode::SUCCESS;
    };
    // Ignored: there is no other place to report this.
    let _ = writeln!(io::stderr(), "bench-gateway: {fault}");
    ExitCode::FAILURE
}
