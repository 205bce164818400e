//! A file that lines are added to while servers are served: that of `--events`, or of `--trace`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use crate::aside::aside;

/// A file to which whole lines are added.
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
