//! A host that starts one server without a keeper, writes it down, says its number, and waits to be
//! killed.
//!
//! `ledger-host FOLDER PROGRAM ARGS...`

use std::error::Error;
use std::io::Write;

use switchboard::leftovers::Ledger;
use switchboard::spec::ServerName;
use switchboard::transport::{Connect, Environment, Stdio};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let mut next = || args.next().ok_or("too few arguments");
    let ledger = Ledger::open(next()?)?;
    let stdio = Stdio::new(next()?)
        .args(args)
        .env("TOKEN", "canary-of-a-variable")
        .environment(&Environment::of_process())
        .record(&ledger, &ServerName::parse("stubborn")?);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let link = stdio.connect().await?;
        let mut stdout = std::io::stdout();
        writeln!(stdout, "{}", link.peer().pid().unwrap_or_default())?;
        stdout.flush()?;
        std::future::pending().await
    })
}
