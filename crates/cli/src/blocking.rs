//! Blocking work on a thread of its own, and files that lines are appended to, away from the runtime's
//! thread.

use std::fs::{File, OpenOptions};
use std::future::pending;
use std::io::{self, Write as _};
use std::panic::resume_unwind;
use std::path::Path;

/// Runs blocking work (a file, a lock, a question to the person) on a thread of its own, so that servers and
/// signals are served meanwhile. Dropping the future does not stop the thread, so the work must be harmless
/// if its result is never used.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime is shutting down and drops this future too.
            Err(_) => pending().await,
        },
    }
}

/// A file that whole lines are appended to while servers are served: the one of `--events` or of `--trace`.
pub(crate) struct Sink {
    /// `None` while a thread writes to it.
    file: Option<File>,
    /// True for a regular file: writing a line there is faster than handing it to a thread.
    is_on_disk: bool,
}

impl Sink {
    /// Opens a file for appending, and creates it readable by its owner alone. Opening a pipe blocks until it
    /// has a reader.
    ///
    /// # Errors
    /// Returns the error of the system if the file cannot be opened for writing.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        Ok(Self {
            is_on_disk: file.metadata()?.is_file(),
            file: Some(file),
        })
    }

    /// Appends a line with a single write, so that two programs can share a file. A pipe whose reader is slow
    /// delays only the caller, not the runtime.
    pub(crate) async fn add(&mut self, line: String) {
        let Some(mut file) = self.file.take() else {
            return;
        };
        let write = move || {
            // A full disk is no reason to fail the tool call.
            file.write_all(format!("{line}\n").as_bytes()).ok();
            file
        };
        self.file = Some(if self.is_on_disk {
            write()
        } else {
            run_blocking(write).await
        });
    }
}
