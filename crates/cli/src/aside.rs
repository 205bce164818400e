//! Work and writing that may wait, away from the runtime's thread.

use std::fs::{File, OpenOptions};
use std::future::pending;
use std::io::{self, Write as _};
use std::panic::resume_unwind;
use std::path::Path;

/// Does something that may wait for a file, a lock or a person on a thread of its own, so that servers are served and
/// signals heard meanwhile. Dropping the future leaves the thread behind: what it does has to be nobody's loss.
pub(crate) async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime ends, and this with it.
            Err(_) => pending().await,
        },
    }
}

/// A file to which whole lines are added while servers are served: that of `--events`, or of `--trace`.
pub(crate) struct Sink {
    /// Away while a thread writes to it.
    file: Option<File>,
    /// Whether it is a file on a disk, to which a line is written faster than it is given to a thread.
    is_on_disk: bool,
}

impl Sink {
    /// Opens a file, which is made where there is none, for its owner alone. A pipe is waited for until it is read.
    ///
    /// # Errors
    /// When it cannot be written to.
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

    /// Adds a line with one write, so that two programs can share a file. A reader that does not read keeps nobody
    /// waiting but who wants to add the next line.
    pub(crate) async fn add(&mut self, line: String) {
        let Some(mut file) = self.file.take() else {
            return;
        };
        let write = move || {
            // A full disk is no reason not to call a tool.
            file.write_all(format!("{line}\n").as_bytes()).ok();
            file
        };
        self.file = Some(match self.is_on_disk {
            true => write(),
            false => aside(write).await,
        });
    }
}
