//! Does one kind of work with one client and prints what it took, as one line of JSON.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use switchboard_bench::sample::Sample;
use switchboard_bench::server::Era;
use switchboard_bench::theirs::Theirs;
use switchboard_bench::work::{Client, Runtime, ServerCommand, Work};
use switchboard_bench::{Fault, drive, http, raw};

/// One allocator for all clients: what differs is theirs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Does one kind of work with one client and prints what it took
#[derive(Parser)]
struct Arguments {
    /// Client that does the work
    #[arg(long)]
    client: Client,
    /// The runtime of the asynchronous clients
    #[arg(long, default_value = "current")]
    runtime: Runtime,
    /// Work to do
    #[arg(long)]
    work: Work,
    /// Number of repetitions
    #[arg(long, default_value_t = 1000)]
    count: u32,
    /// The server program; the one beside this program when left out
    #[arg(long)]
    server: Option<String>,
    /// The core that the server is to stay on
    #[arg(long)]
    server_cpu: Option<usize>,
    /// Have the server speak 2026-07-28 instead of 2025-11-25
    #[arg(long)]
    modern: bool,
}

fn main() -> ExitCode {
    let told = match run(Arguments::parse()) {
        Ok(line) => writeln!(io::stdout(), "{line}"),
        Err(fault) => writeln!(io::stderr(), "bench-client: {}", chain(&*fault))
            .and_then(|()| Err(io::Error::other(fault))),
    };
    told.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

/// A fault and everything that led to it.
fn chain(fault: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(fault), |fault| fault.source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}

/// Does the work that has no server.
fn catalog(client: Client, work: Work, count: u32) -> Result<Sample, Fault> {
    match (client, work) {
        #[cfg(feature = "ours")]
        (Client::Ours, Work::CatalogFind) => switchboard_bench::catalog::find(count),
        #[cfg(feature = "ours")]
        (Client::Ours, Work::CatalogRebuild) => switchboard_bench::catalog::rebuild(count),
        _ => Err("only we have a catalog".into()),
    }
}

fn run(arguments: Arguments) -> Result<String, Fault> {
    let server = match arguments.server {
        Some(server) => server,
        None => std::env::current_exe()?
            .with_file_name("bench-server")
            .into_os_string()
            .into_string()
            .map_err(|_| "the path of the server is not text: name it with --server")?,
    };
    // Over HTTP everybody speaks the newest.
    let era = if arguments.modern || arguments.work.answers().is_some() {
        Era::Modern
    } else {
        Era::Legacy
    };
    let Arguments {
        client,
        runtime,
        work,
        count,
        server_cpu,
        ..
    } = arguments;
    if let Work::CatalogFind | Work::CatalogRebuild = work {
        return catalog(client, work, count)?.line();
    }
    let server = ServerCommand::new(&server, server_cpu, era, work);
    let over_http = work.answers().is_some();
    let sample = match client {
        #[cfg(feature = "ours")]
        Client::Ours if work == Work::HostEcho => {
            drive::run::<switchboard_bench::hosted::Hosted<false>>(runtime, work, count, server)
        }
        #[cfg(feature = "ours")]
        Client::Ours if work == Work::HostEchoAgent => {
            drive::run::<switchboard_bench::hosted::Hosted<true>>(runtime, work, count, server)
        }
        #[cfg(feature = "ours")]
        Client::Ours if matches!(work, Work::HostConnect1 | Work::HostConnect20) => {
            use switchboard_bench::hosted::{Servers, connect};
            let servers = match work {
                Work::HostConnect1 => Servers::One,
                _ => Servers::Many,
            };
            connect(servers, count, &server)
        }
        Client::Raw if over_http => http::bare(count, &server),
        Client::Rmcp if over_http => {
            drive::run::<http::Theirs<false>>(runtime, work, count, server)
        }
        Client::RmcpPooled if over_http => {
            drive::run::<http::Theirs<true>>(runtime, work, count, server)
        }
        #[cfg(feature = "ours")]
        Client::Ours if over_http => drive::run::<http::Ours>(runtime, work, count, server),
        Client::RmcpPooled => Err("a pipe has no pool".into()),
        Client::Raw => raw::run(work, count, &server),
        Client::Rmcp => drive::run::<Theirs>(runtime, work, count, server),
        #[cfg(feature = "ours")]
        Client::Ours => drive::run::<switchboard_bench::ours::Ours>(runtime, work, count, server),
        #[cfg(not(feature = "ours"))]
        Client::Ours => Err("built without the feature `ours`".into()),
    };
    sample?.line()
}
