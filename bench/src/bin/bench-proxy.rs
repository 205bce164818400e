//! A bare reverse proxy, an HTTP server before a raw pipe, or a gateway of others, in front of one server, for `bench-load`.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use switchboard_bench::forward::{Peer, Upstream, nginx, peer, pipe, proxy};

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
    /// Put the server on a pipe behind a bare HTTP server
    #[arg(long, conflicts_with_all = ["nginx", "peer"])]
    pipe: bool,
    /// Have this gateway do it, with the server on a pipe
    #[arg(long, requires = "program")]
    peer: Option<Peer>,
    /// What starts that gateway: its program, or an interpreter and a script
    #[arg(last = true)]
    program: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let server = |upstream: Upstream| upstream.command(&arguments.server, arguments.server_cpu);
    let done = match arguments.peer {
        Some(which) => peer(which, &arguments.program, &server(Upstream::Stdio)),
        None if arguments.pipe => pipe(&server(Upstream::Stdio)),
        None if arguments.nginx => nginx(&server(Upstream::Http)),
        None => proxy(&server(Upstream::Http)),
    };
    let Err(fault) = done else {
        return ExitCode::SUCCESS;
    };
    // Ignored: there is no other place to report this.
    let _ = writeln!(io::stderr(), "bench-proxy: {fault}");
    ExitCode::FAILURE
}
