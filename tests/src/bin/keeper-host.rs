//! A host that starts one server with a keeper, says so, and ends in the way it is told to.
//!
//! `keeper-host END CLOSE-MS TERM-MS PROGRAM ARGS...`. It writes the server's process number to
//! stdout once the server has written a line to stderr, or has ended and was cleaned up after, and
//! then ends with its stdin. Like the command line, it adopts orphans.

use std::error::Error;
use std::io::{Read, Write};
use std::time::Duration;

use switchboard::Limits;
use switchboard::session::{Session, SessionOptions};
use switchboard::spec::Protocol;
use switchboard::transport::{Environment, Stdio};

/// The one of the command line: no other takes so much before `main`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn Error>> {
    switchboard::keeper::run_if_asked();
    switchboard::keeper::adopt_orphans();
    let mut args = std::env::args().skip(1);
    let mut next = || args.next().ok_or("too few arguments");
    let end = next()?;
    let mut limits = Limits::default();
    limits.end_after_close = Duration::from_millis(next()?.parse()?);
    limits.end_after_term = Duration::from_millis(next()?.parse()?);
    let stdio = Stdio::new(next()?)
        .args(args)
        .env_passthrough(["SWITCHBOARD_TEST_MARK"])
        .environment(&Environment::of_process())
        .limits(limits.clone())
        .keeper(std::env::current_exe()?);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let session = runtime.block_on(async {
        let options = SessionOptions::default()
            .protocol(Protocol::Legacy)
            .limits(limits);
        let session = Session::connect(&stdio, options).await?;
        while session.peer().stderr().is_empty() && session.peer().exit().is_none() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok::<_, Box<dyn Error>>(session)
    })?;
    let pid = session.peer().pid().unwrap_or_default();
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{pid}")?;
    stdout.flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    match end.as_str() {
        "close" => {
            runtime.block_on(session.close());
        }
        "drop" => drop(runtime),
        "error" => return Err("this host ends with an error".into()),
        "exit" => std::process::exit(3),
        "panic" => panic!("this host panics"),
        "abort" => std::process::abort(),
        // A signal ends it.
        _ => loop {
            std::thread::park();
        },
    }
    Ok(())
}
