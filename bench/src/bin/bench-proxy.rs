//! A bare reverse proxy in front of one server, for `bench-load`.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser;
use switchboard_bench::forward::{Upstream, nginx, proxy};

/// The allocator of all programs of the benchmark.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Forwards to one server until stdin ends
#[derive(Parser)]
struct Arguments {
    /// The server program
    #[arg(long)]
    server: String,
    /// The core that the server is to stay on
    #[arg(long)]
    server_cpu: Option<usize>,
    /// Have nginx do it
    #[arg(long)]
    nginx: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let server = Upstream::Http.command(&arguments.server, arguments.server_cpu);
    let done = if arguments.nginx {
        nginx(&server)
    } else {
        proxy(&server)
    };
    let Err(fault) = done else {
        return ExitCode::SUCCESS;
    };
    // Ignored: there is no other place to report this.
    let _ = writeln!(io::stderr(), "bench-proxy: {fault}");
    ExitCode::FAILURE
}
