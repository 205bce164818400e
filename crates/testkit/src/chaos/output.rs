//! The acts of faults, and the output that performs them.

use std::fmt;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};

/// The end of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The client is done.
    Done,
    /// Exit with this status.
    Exit(i32),
    /// A crash.
    Abort,
}

/// One side of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Input,
    Output,
}

/// Closes the descriptors of the process, which dropping a stream leaves open.
pub(crate) type Close = fn(Side);

/// One step of writing.
pub(crate) enum Act {
    Bytes(Vec<u8>),
    /// Each byte in a write of its own.
    Bytewise(Vec<u8>),
    /// The same bytes repeatedly, up to this number of bytes.
    Fill(&'static [u8], u64),
    /// This many lines, each created when it is written.
    Repeat(u64, Box<dyn Fn(u64) -> String + Send + Sync>),
    /// A line at intervals, for ever, beside everything else.
    Every(Duration, Box<dyn Fn(u64) -> String + Send + Sync>),
    /// A line after a while, beside everything else.
    Later(Duration, String),
    /// A pause before anything is read.
    Wait(Duration),
    /// This many bytes on stderr.
    Stderr(u64),
    CloseOutput,
    End(Ending),
}

impl fmt::Debug for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Act")
    }
}

impl Act {
    /// Returns true if it is performed after the writing, or beside it.
    #[cfg(feature = "http")]
    pub(crate) fn takes_time(&self) -> bool {
        matches!(self, Self::Every(..) | Self::Later(..) | Self::End(..))
    }

    pub(crate) fn line(text: impl Into<String>, end: &str) -> Self {
        let mut text = text.into();
        text.push_str(end);
        Self::Bytes(text.into_bytes())
    }
}

/// Size of one write of repeated bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// Stdout or its substitute, until it is closed.
pub(crate) struct Output<W> {
    writer: Option<W>,
    close: Close,
}

impl<W: AsyncWrite + Unpin> Output<W> {
    pub(crate) fn new(writer: W, close: Close) -> Self {
        Self {
            writer: Some(writer),
            close,
        }
    }

    /// Performs one act; returns the ending if the act ends the server.
    pub(crate) async fn act(&mut self, act: Act) -> io::Result<Option<Ending>> {
        match act {
            Act::Bytes(bytes) => self.write(&bytes).await?,
            Act::Bytewise(bytes) => {
                for byte in bytes {
                    self.write(&[byte]).await?;
                    // Let other tasks run, or all bytes would arrive at once.
                    tokio::task::yield_now().await;
                }
            }
            Act::Fill(pattern, count) => {
                let chunk = chunk(pattern);
                let mut left = count;
                while left > 0 {
                    let part = part(&chunk, left);
                    self.write(part).await?;
                    left = left.saturating_sub(part.len() as u64);
                }
            }
            Act::Repeat(count, line) => {
                let mut lines = String::new();
                for number in 1..=count {
                    lines.push_str(&line(number));
                    lines.push('\n');
                    if lines.len() >= CHUNK_BYTES || number == count {
                        self.write(lines.as_bytes()).await?;
                        lines.clear();
                    }
                }
            }
            Act::Stderr(count) => flood_stderr(count).await,
            Act::CloseOutput => {
                if let Some(mut writer) = self.writer.take() {
                    writer.shutdown().await.ok();
                    (self.close)(Side::Output);
                }
            }
            Act::End(ending) => return Ok(Some(ending)),
            Act::Wait(time) => tokio::time::sleep(time).await,
            // Turned into tasks before they get here.
            Act::Every(..) | Act::Later(..) => {}
        }
        Ok(None)
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(writer) = &mut self.writer {
            writer.write_all(bytes).await?;
            writer.flush().await?;
        }
        Ok(())
    }
}

async fn flood_stderr(mut left: u64) {
    let mut stderr = tokio::io::stderr();
    let chunk = chunk(b"a line of a log, again and again and again and again and so on..\n");
    while left > 0 {
        let part = part(&chunk, left);
        if stderr.write_all(part).await.is_err() {
            // The reader is gone.
            return;
        }
        left = left.saturating_sub(part.len() as u64);
    }
    stderr.flush().await.ok();
}

/// Repeats a pattern to a chunk that is large enough for one write.
fn chunk(pattern: &[u8]) -> Vec<u8> {
    pattern.repeat(CHUNK_BYTES.div_ceil(pattern.len().max(1)))
}

fn part(chunk: &[u8], left: u64) -> &[u8] {
    let part = usize::try_from(left).unwrap_or(usize::MAX);
    chunk.get(..part).unwrap_or(chunk)
}
