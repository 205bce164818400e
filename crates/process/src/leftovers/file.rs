//! The file format of a ledger: one file for each running server. Other programs may have written
//! anything into the folder, so files are validated.
//!
//! This is not a [`Records`](switchboard_core::private_store::Records): many processes add and remove
//! their own files here concurrently and without a lock, while servers start and end. A file that is
//! missing or unreadable means nothing, rather than a loss.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use switchboard_core::files::{self, Source};
use switchboard_core::spec::ServerName;

use super::instance::Instance;

/// The maximum size of a file. Ours have a tenth of it.
const MOST_BYTES: usize = 16 * 1024;

/// The maximum length of a command, in characters; a longer one is cut.
const MOST_COMMAND: usize = 1024;

/// The extension of our files.
const ENDING: &str = "server";

/// A server that runs, or has run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) place: String,
    pub(super) server: ServerName,
    pub(super) command: String,
    pub(super) process: Instance,
    pub(super) host: Instance,
    /// True if the host could not end it and may still run itself.
    pub(super) is_left: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    /// The version of this format.
    format: u32,
    place: String,
    server: String,
    command: String,
    pid: u32,
    started: String,
    host_pid: u32,
    host_started: String,
    /// Omitted if false, as in files written before this field existed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    left: bool,
}

const FORMAT: u32 = 1;

/// Writes a record atomically: under its final name, the file is complete.
pub(super) fn write(folder: &Path, record: &Record) -> io::Result<PathBuf> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    // Unique: a dead host had another number, or does not write any more.
    let name = format!("{}-{}-{next}", record.host.pid, record.process.pid);
    let file = folder.join(format!("{name}.{ENDING}"));
    let unfinished = folder.join(format!("{name}.unfinished"));
    let mut text = serde_json::to_vec(&Document {
        format: FORMAT,
        place: record.place.clone(),
        server: record.server.as_str().to_owned(),
        command: record.command.chars().take(MOST_COMMAND).collect(),
        pid: record.process.pid,
        started: record.process.mark.clone(),
        host_pid: record.host.pid,
        host_started: record.host.mark.clone(),
        left: record.is_left,
    })?;
    text.push(b'\n');
    // Left by a dead host with our number that was interrupted while writing.
    fs::remove_file(&unfinished).ok();
    let written = create(&unfinished)
        .and_then(|mut file| file.write_all(&text))
        .and_then(|()| fs::rename(&unfinished, &file));
    if let Err(error) = written {
        fs::remove_file(&unfinished).ok();
        return Err(error);
    }
    Ok(file)
}

fn create(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    files::make_private(&mut options);
    options.open(file)
}

/// Reads a record; `None` if the file was not written by us.
pub(super) fn read(file: &Path) -> Option<Record> {
    if file.extension().is_none_or(|ending| ending != ENDING) {
        return None;
    }
    let opened = files::open(file, Source::Plain).ok()?;
    if !is_of(opened.metadata(), me()) {
        return None;
    }
    let text = opened.read(MOST_BYTES).ok()?.bytes;
    let document: Document = serde_json::from_slice(&text).ok()?;
    if document.format != FORMAT {
        return None;
    }
    Some(Record {
        place: document.place,
        server: ServerName::parse(&document.server).ok()?,
        command: document.command,
        process: Instance {
            pid: document.pid,
            mark: document.started,
        },
        host: Instance {
            pid: document.host_pid,
            mark: document.host_started,
        },
        is_left: document.left,
    })
}

#[cfg(unix)]
fn me() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(unix)]
fn is_of(metadata: &fs::Metadata, user: u32) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.uid() == user
}

/// Users are not numbers on Windows; the permissions of the folder decide who may write.
#[cfg(windows)]
fn me() -> u32 {
    0
}

#[cfg(windows)]
fn is_of(_metadata: &fs::Metadata, _user: u32) -> bool {
    true
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn record() -> Record {
        let instance = |pid, mark: &str| Instance {
            pid,
            mark: mark.to_owned(),
        };
        Record {
            place: "here".to_owned(),
            server: ServerName::parse("time").unwrap(),
            command: "uvx".to_owned(),
            process: instance(7, "a"),
            host: instance(8, "b"),
            is_left: false,
        }
    }

    #[test]
    fn a_record_reads_as_it_was_written_and_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        files::make_private_folder(&inner).unwrap();
        files::make_private_folder(&inner).unwrap();
        let file = write(&inner, &record()).unwrap();
        assert_eq!(read(&file), Some(record()));
        assert!(!fs::read_to_string(&file).unwrap().contains("left"));
        let left = Record {
            is_left: true,
            ..record()
        };
        let other = write(&inner, &left).unwrap();
        assert_eq!(read(&other), Some(left));
        fs::remove_file(other).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&inner), mode(&file)), (0o700, 0o600));
        // A second one has a file of its own, and neither has left another.
        write(&inner, &record()).unwrap();
        assert_eq!(fs::read_dir(&inner).unwrap().count(), 2);
    }

    #[test]
    fn a_file_is_only_read_by_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let metadata = fs::metadata(write(folder.path(), &record()).unwrap()).unwrap();
        assert!(is_of(&metadata, me()));
        assert!(!is_of(&metadata, me() + 1));
    }

    #[test]
    fn a_file_may_be_as_long_as_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let file = write(folder.path(), &record()).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let most = MOST_BYTES;
        for (length, is_read) in [(most - 1, true), (most, true), (most + 1, false)] {
            fs::write(&file, format!("{text:length$}")).unwrap();
            assert_eq!(read(&file).is_some(), is_read, "{length}");
        }
    }

    #[test]
    fn a_long_command_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        for (length, kept) in [(1023, 1023), (1024, 1024), (1025, 1024), (1 << 20, 1024)] {
            let command = "é".repeat(length);
            let file = write(
                folder.path(),
                &Record {
                    command,
                    ..record()
                },
            )
            .unwrap();
            let command = read(&file).unwrap().command;
            assert_eq!(command.chars().count(), kept);
        }
    }
}
