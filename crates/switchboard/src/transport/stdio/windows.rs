//! What is particular to Windows about child processes. Written for Windows, neither compiled nor run by our checks.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio as Io};

use tokio::process::{Child, Command};

use crate::transport::{BoxRead, BoxWrite, Exit};

/// The pipes are the child's own.
pub(super) struct Streams;

const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

/// Gives the command its pipes and a process group of its own, without a window.
pub(super) fn prepare(command: &mut Command) -> io::Result<Streams> {
    command.stdin(Io::piped()).stdout(Io::piped());
    command.creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW);
    Ok(Streams)
}

impl Streams {
    pub(super) fn of(self, child: &mut Child) -> io::Result<(BoxRead, BoxWrite)> {
        let missing = || io::Error::other("the child has no pipes");
        let reader = child.stdout.take().ok_or_else(missing)?;
        let writer = child.stdin.take().ok_or_else(missing)?;
        Ok((Box::new(reader), Box::new(writer)))
    }
}

/// The direct child only: it is killed when its handle is dropped.
pub(super) struct Group;

impl Group {
    pub(super) fn of(_child: &Child) -> Self {
        Self
    }

    pub(super) fn terminate(&self) {}

    pub(super) fn kill(&mut self) {}
}

pub(super) fn exit_of(status: ExitStatus) -> Exit {
    status.code().map_or(Exit::Unknown, Exit::Code)
}

/// The files that a command may mean: itself, and itself with the endings of programs.
pub(super) fn candidates(file: PathBuf) -> Vec<PathBuf> {
    let mut files = vec![file.clone()];
    if file.extension().is_none() {
        for ending in ["com", "exe", "bat", "cmd"] {
            files.push(file.with_extension(ending));
        }
    }
    files
}

/// Whether a file may be run; `None` when there is no such file.
pub(super) fn may_run(file: &Path) -> Option<bool> {
    std::fs::metadata(file)
        .ok()
        .filter(std::fs::Metadata::is_file)
        .map(|_| true)
}
