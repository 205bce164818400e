//! Ways to bring a program to a standstill, and to see that it stands.

use std::fs::{self, File, OpenOptions};
use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{CWD, FileType, FlockOperation, Mode, OFlags, flock, mknodat};

/// What the program waits for in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standstill {
    /// Its stdin, a pipe that nobody writes to.
    Stdin,
    /// The pipe at `FIFO`, to be read, that nobody writes to.
    Unwritten,
    /// The pipe at `FIFO`, to be written, that nobody opens.
    Unopened,
    /// The pipe at `FIFO`, to be written, that is full.
    FullFile,
    /// Its stdout, a full pipe.
    Stdout,
    /// Its stderr, a full pipe.
    Stderr,
    /// A lock on this file or folder/ in the home that another process holds.
    Lock(&'static str),
}

/// What keeps the program at a standstill, until it is dropped.
pub(super) enum Hold {
    Input { _writer: PipeWriter },
    Output { _reader: PipeReader },
    Fifo(PathBuf, Option<File>),
    Lock { _file: File },
}

/// The numbers of the system calls that wait.
#[cfg(target_arch = "x86_64")]
mod numbers {
    pub(super) const READ: u32 = 0;
    pub(super) const WRITE: u32 = 1;
    pub(super) const OPEN: u32 = 257;
    pub(super) const SLEEP: u32 = 230;
}
#[cfg(target_arch = "aarch64")]
mod numbers {
    pub(super) const READ: u32 = 63;
    pub(super) const WRITE: u32 = 64;
    pub(super) const OPEN: u32 = 56;
    pub(super) const SLEEP: u32 = 115;
}

impl Standstill {
    /// Prepares it for a program that is about to be started in this home.
    pub(super) fn prepare(self, home: &Path, command: &mut Command) -> Hold {
        let fifo = home.join("FIFO");
        match self {
            Self::Stdin => {
                let (reader, writer) = io::pipe().unwrap();
                command.stdin(reader);
                Hold::Input { _writer: writer }
            }
            Self::Stdout => {
                let (reader, writer) = full_pipe();
                command.stdout(writer);
                Hold::Output { _reader: reader }
            }
            Self::Stderr => {
                let (reader, writer) = full_pipe();
                command.stderr(Stdio::from(writer));
                Hold::Output { _reader: reader }
            }
            Self::Unwritten | Self::Unopened => {
                make_fifo(&fifo);
                Hold::Fifo(fifo, None)
            }
            Self::FullFile => {
                make_fifo(&fifo);
                let mut file = open(&fifo, true);
                fill(&mut file);
                Hold::Fifo(fifo, Some(file))
            }
            Self::Lock(path) => {
                let is_folder = path.ends_with('/');
                let path = home.join(path);
                if is_folder {
                    fs::create_dir_all(&path).unwrap();
                } else {
                    let folder = path.parent().unwrap();
                    fs::create_dir_all(folder).unwrap();
                    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
                    fs::set_permissions(folder, mode).unwrap();
                    let mut options = OpenOptions::new();
                    options.write(true).create(true).truncate(true).mode(0o600);
                    options.open(&path).unwrap();
                }
                let file = File::open(&path).unwrap();
                flock(&file, FlockOperation::LockExclusive).unwrap();
                Hold::Lock { _file: file }
            }
        }
    }

    /// Whether the program stands still now.
    pub(super) fn is_reached(self, pid: u32, hold: &mut Hold) -> bool {
        use numbers::{OPEN, READ, SLEEP, WRITE};
        match (self, hold) {
            (Self::Stdin, _) => waits_in(pid, READ, |fd| fd == 0),
            (Self::Stdout, _) => waits_in(pid, WRITE, |fd| fd == 1),
            (Self::Stderr, _) => waits_in(pid, WRITE, |fd| fd == 2),
            (Self::Unopened, _) => waits_in(pid, OPEN, |_| true),
            (Self::Lock(_), _) => waits_in(pid, SLEEP, |_| true),
            (Self::Unwritten, Hold::Fifo(path, writer)) => {
                // There is somebody to write to as soon as the program wants to read.
                let mut options = OpenOptions::new();
                options.write(true).custom_flags(no_wait());
                if writer.is_none() {
                    *writer = options.open(&*path).ok();
                }
                waits_in(pid, READ, |fd| is_at(pid, fd, path))
            }
            (_, Hold::Fifo(path, _)) => waits_in(pid, WRITE, |fd| is_at(pid, fd, path)),
            _ => unreachable!("each of them has its own hold"),
        }
    }
}

/// Whether a thread of a process waits in a system call whose first argument is such.
fn waits_in(pid: u32, number: u32, is_it: impl Fn(u64) -> bool) -> bool {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return false;
    };
    tasks.flatten().any(|task| {
        // One that runs says so instead of a number; one that is gone says nothing.
        let call = fs::read_to_string(task.path().join("syscall")).unwrap_or_default();
        let mut words = call.split(' ');
        let is_call = words.next() == Some(&number.to_string());
        let first = words.next().and_then(|word| word.strip_prefix("0x"));
        let first = first.and_then(|word| u64::from_str_radix(word, 16).ok());
        is_call && first.is_some_and(&is_it)
    })
}

fn is_at(pid: u32, fd: u64, path: &Path) -> bool {
    fs::read_link(format!("/proc/{pid}/fd/{fd}")).is_ok_and(|found| found == path)
}

fn make_fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

fn no_wait() -> i32 {
    i32::try_from(OFlags::NONBLOCK.bits()).unwrap()
}

fn open(path: &Path, is_read: bool) -> File {
    let mut options = OpenOptions::new();
    options.read(is_read).write(true).custom_flags(no_wait());
    options.open(path).unwrap()
}

fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = io::pipe().unwrap();
    rustix::io::ioctl_fionbio(writer.as_fd(), true).unwrap();
    fill(&mut writer);
    // The program is to wait, and shares this with us.
    rustix::io::ioctl_fionbio(writer.as_fd(), false).unwrap();
    (reader, writer)
}

fn fill(pipe: &mut impl Write) {
    for length in [4096, 1] {
        while pipe.write(&vec![b'x'; length]).is_ok() {}
    }
}
