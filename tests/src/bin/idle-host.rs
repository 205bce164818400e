//! A host with many servers that nobody uses.
//!
//! `idle-host COUNT PROGRAM ARGS...`. It starts that many servers with keepers, calls each once,
//! writes the servers' process numbers to stdout, a line each and an empty one, and does nothing
//! more until its stdin ends.

use std::error::Error;
use std::io::{Read, Write};

use switchboard::protocol::Raw;
use switchboard::session::{CallOptions, Session, SessionOptions};
use switchboard::transport::{Environment, Stdio};

/// The one of the command line.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

async fn start(stdio: &Stdio, count: usize) -> Result<Vec<Session>, Box<dyn Error>> {
    let mut sessions = Vec::new();
    for _ in 0..count {
        let session = Session::connect(stdio, SessionOptions::default()).await?;
        let arguments = Raw::parse(r#"{"message":"hello"}"#)?;
        session
            .call_tool("echo", Some(arguments), CallOptions::default())
            .await?;
        sessions.push(session);
    }
    Ok(sessions)
}

fn main() -> Result<(), Box<dyn Error>> {
    switchboard::keeper::run_if_asked();
    let mut args = std::env::args().skip(1);
    let count = args.next().ok_or("no number")?.parse()?;
    let stdio = Stdio::new(args.next().ok_or("no program")?)
        .args(args)
        .env_passthrough(["SWITCHBOARD_TEST_MARK"])
        .environment(&Environment::of_process())
        .keeper(std::env::current_exe()?);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let sessions = start(&stdio, count).await?;
        let mut pids = String::new();
        for session in &sessions {
            let pid = session.peer().pid().ok_or("no process")?;
            pids.push_str(&format!("{pid}\n"));
        }
        pids.push('\n');
        std::io::stdout().write_all(pids.as_bytes())?;
        // The tasks of the sessions go on meanwhile, had they anything to do.
        let (tell, told) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            std::io::stdin().read_to_end(&mut Vec::new()).ok();
            tell.send(()).ok();
        });
        told.await?;
        for session in sessions {
            session.close().await;
        }
        Ok(())
    })
}
