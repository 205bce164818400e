//! What is written, and how.

use std::fmt;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};

/// How the server ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Because the client is done.
    Done,
    /// With this exit status.
    Exit(i32),
    /// By a crash.
    Abort,
}

/// One end of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Input,
    Output,
}

/// Closes what dropping a stream leaves open: the descriptors of a process.
pub(crate) type Close = fn(Side);

/// One step of writing.
pub(crate) enum Act {
    Bytes(Vec<u8>),
    /// Each byte by itself.
    Bytewise(Vec<u8>),
    /// The same bytes again and again, until there are so many.
    Fill(&'static [u8], u64),
    /// So many lines, none of which is made before it is written.
    Repeat(u64, Box<dyn Fn(u64) -> String + Send + Sync>),
    /// A line now and then, for ever; everything else goes on.
    Every(Duration, Box<dyn Fn(u64) -> String + Send + Sync>),
    /// A line after a while; everything else goes on.
    Later(Duration, String),
    /// Nothing, before anything is read.
    Wait(Duration),
    /// So many bytes on stderr.
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
    /// Whether it is done later than what is written, or beside it.
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

/// How much of what is repeated goes out with one write.
const CHUNK_BYTES: usize = 64 * 1024;

/// Stdout, or what stands for it, until it is closed.
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

    /// Does one step; says how the server ends where that is what the step is.
    pub(crate) async fn act(&mut self, act: Act) -> io::Result<Option<Ending>> {
        match act {
            Act::Bytes(bytes) => self.write(&bytes).await?,
            Act::Bytewise(bytes) => {
                for byte in bytes {
                    self.write(&[byte]).await?;
                    // Somebody else's turn, or it would all arrive as one.
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
            // Made to tasks of their own before they get here.
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
    let chunk = chunk(b"a line of a log that nobody reads, again and again and again...\n");
    while left > 0 {
        let part = part(&chunk, left);
        if stderr.write_all(part).await.is_err() {
            // Nobody is there to read it.
            return;
        }
        left = left.saturating_sub(part.len() as u64);
    }
    stderr.flush().await.ok();
}

/// A piece of a pattern that is large enough to be written at once.
fn chunk(pattern: &[u8]) -> Vec<u8> {
    pattern.repeat(CHUNK_BYTES.div_ceil(pattern.len().max(1)))
}

fn part(chunk: &[u8], left: u64) -> &[u8] {
    let part = usize::try_from(left).unwrap_or(usize::MAX);
    chunk.get(..part).unwrap_or(chunk)
}
