//! Puts calls on a program that it starts, and prints what they took as one line of JSON.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser;
use switchboard_bench::forward::{Front, Load};
use switchboard_bench::server::Era;

/// The allocator of all programs of the benchmark.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Puts calls on a program that it starts, and prints what they took
#[derive(Parser)]
struct Arguments {
    /// The side of the program that is used
    #[arg(long)]
    front: Front,
    /// Have the calls speak 2026-07-28 instead of 2025-11-25
    #[arg(long)]
    modern: bool,
    /// The path of its endpoint over HTTP
    #[arg(long, default_value = "/mcp")]
    path: String,
    /// The name of the tool that echoes
    #[arg(long, default_value = "echo")]
    tool: String,
    /// Number of calls
    #[arg(long, default_value_t = 1000)]
    count: u32,
    /// Number of calls in flight
    #[arg(long, default_value_t = 1)]
    lanes: usize,
    /// Have hostile clients beside it, over HTTP
    #[arg(long)]
    hostile: bool,
    /// The program, with its arguments
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let load = Load {
        front: arguments.front,
        era: if arguments.modern {
            Era::Modern
        } else {
            Era::Legacy
        },
        path: arguments.path,
        tool: arguments.tool,
        count: arguments.count,
        lanes: arguments.lanes,
        hostile: arguments.hostile,
    };
    let line = switchboard_bench::forward::load(&load, &arguments.command);
    let done = line.and_then(|line| Ok(writeln!(io::stdout(), "{line}")?));
    let Err(fault) = done else {
        return ExitCode::SUCCESS;
    };
    // Ignored: there is no other place to report this.
    let _ = writeln!(io::stderr(), "bench-load: {fault}");
    ExitCode::FAILURE
}
