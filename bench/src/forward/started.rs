//! Programs of others that listen at an address, and the folder of their files.

use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Fault;

/// An address that was free a moment ago, for programs that cannot pick one.
pub(super) fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind("127.0.0.1:0")?.local_addr()
}

/// Runs a program until stdin ends. Its process is printed beside its address: that is the one whose
/// processor time counts.
pub(super) fn run(
    command: &mut Command,
    address: SocketAddr,
    patience: Duration,
) -> Result<(), Fault> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.spawn()?;
    let served = until_input_ends(&mut child, address, patience);
    // It may have ended already.
    child.kill().ok();
    child.wait()?;
    served
}

fn until_input_ends(
    child: &mut Child,
    address: SocketAddr,
    patience: Duration,
) -> Result<(), Fault> {
    let started = Instant::now();
    while TcpStream::connect(address).is_err() {
        if started.elapsed() > patience || child.try_wait()?.is_some() {
            return Err("the program does not listen".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    writeln!(io::stdout(), "{address} {}", child.id())?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

/// A folder of its own, removed with it.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new() -> io::Result<Self> {
        let name = format!("switchboard-bench-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder)?;
        Ok(Self(folder))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // There is no place left to report it to.
        std::fs::remove_dir_all(&self.0).ok();
    }
}
