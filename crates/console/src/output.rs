//! Non-blocking output to stdout and stderr: a stalled reader never blocks the runtime's thread.
//!
//! A reader may stall: a pager, a full pipe, a terminal after Ctrl-S. While servers are attended, output that
//! the reader does not take at once is queued, and a thread writes it when the reader goes on. The order is
//! kept. A producer without end waits until the queue is empty ([`flush`]), and so does the end of the
//! program, unless a signal arrives. Without servers nothing can be blocked, and everything is written
//! directly.

use std::collections::VecDeque;
use std::io;
#[cfg(not(unix))]
use std::io::Write as _;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Maximum number of queued bytes for a reader of stderr. Further texts are counted and reported later.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// A standard output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// stdout, for results.
    Out,
    /// stderr, for everything else.
    Err,
}

/// Treatment of output that a reader does not take at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Block until the reader takes it.
    Direct,
    /// Queue it.
    Queued,
    /// Drop it: a signal has arrived, and nothing is waited for any more.
    Stopped,
}

/// The state behind [`write`](fn@write): the queue of the writing thread and its mode. One mutex guards all
/// of it, and is released while the thread writes.
struct Queue {
    mode: Mode,
    /// Number of [`Queueing`] guards.
    queueing: usize,
    waiting: VecDeque<(Stream, Vec<u8>)>,
    bytes: usize,
    /// Number of texts that were dropped because the queue was full.
    lost: u64,
    /// True while the thread writes.
    is_writing: bool,
    has_thread: bool,
    /// The first write error that was not reported yet.
    failure: Option<io::Error>,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue {
    mode: Mode::Direct,
    queueing: 0,
    waiting: VecDeque::new(),
    bytes: 0,
    lost: 0,
    is_writing: false,
    has_thread: false,
    failure: None,
});

/// Wakes the thread.
static MORE: Condvar = Condvar::new();
/// Wakes tasks that wait until everything is written.
static WRITTEN: Notify = Notify::const_new();

fn queue() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While it exists, writing queues instead of blocking.
pub struct Queueing(());

/// Switches to queued output.
pub fn begin_queueing() -> Queueing {
    let mut queue = queue();
    queue.queueing += 1;
    if queue.mode == Mode::Direct && can_be_asked() {
        queue.mode = Mode::Queued;
    }
    Queueing(())
}

impl Drop for Queueing {
    fn drop(&mut self) {
        let mut queue = queue();
        queue.queueing = queue.queueing.saturating_sub(1);
        queue.mode = match (queue.queueing, queue.mode) {
            // A prompt goes on after one of its commands was stopped.
            (1.., Mode::Stopped) => Mode::Queued,
            (0, Mode::Queued) => Mode::Direct,
            (_, mode) => mode,
        };
    }
}

/// Writes bytes, or queues them.
///
/// # Errors
/// Returns the error of a write from here. Errors of the thread are returned by [`flush`].
pub fn write(stream: Stream, bytes: &[u8]) -> io::Result<()> {
    let mut queue = queue();
    match queue.mode {
        Mode::Direct => {
            drop(queue);
            write_all(stream, bytes)
        }
        Mode::Stopped => write_now(stream, bytes).map(drop),
        Mode::Queued => {
            // Only an empty queue may be bypassed, to keep the order.
            let rest = if queue.is_idle() {
                write_now(stream, bytes)?
            } else {
                bytes
            };
            if rest.is_empty() {
                Ok(())
            } else {
                queue.add(stream, rest)
            }
        }
    }
}

/// Waits until everything is written. Cancel safe.
///
/// # Errors
/// Returns the first error of the writing thread, once.
pub async fn flush() -> io::Result<()> {
    drain().await;
    queue().failure.take().map_or(Ok(()), Err)
}

/// Waits until everything is written or has failed. Cancel safe.
pub async fn drain() {
    loop {
        // Registered before the check, so that a wake-up in between is not missed.
        let mut written = std::pin::pin!(WRITTEN.notified());
        written.as_mut().enable();
        let is_done = {
            let queue = queue();
            queue.is_idle() || queue.mode == Mode::Stopped
        };
        if is_done {
            return;
        }
        written.await;
    }
}

/// Drops queued output.
pub fn discard() {
    let mut queue = queue();
    queue.waiting.clear();
    queue.bytes = 0;
}

/// Drops queued output, and from now on everything that a reader does not take at once.
pub fn stop() {
    discard();
    let mut queue = queue();
    if queue.mode == Mode::Queued {
        queue.mode = Mode::Stopped;
    }
    WRITTEN.notify_waiters();
}

impl Queue {
    fn is_idle(&self) -> bool {
        self.waiting.is_empty() && !self.is_writing
    }

    fn add(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        if !self.has_thread {
            let thread = std::thread::Builder::new().name("output".to_owned());
            thread.spawn(write_queued)?;
            self.has_thread = true;
        }
        if stream == Stream::Err && self.bytes > MOST_BYTES {
            self.lost += 1;
            return Ok(());
        }
        // The note comes before the text that has room again.
        if self.lost > 0 {
            let lost = std::mem::take(&mut self.lost);
            let told = format!("({lost} messages were dropped: the output was not read in time)\n");
            self.put(Stream::Err, told.into_bytes());
        }
        self.put(stream, bytes.to_vec());
        MORE.notify_one();
        Ok(())
    }

    fn put(&mut self, stream: Stream, bytes: Vec<u8>) {
        self.bytes += bytes.len();
        self.waiting.push_back((stream, bytes));
    }
}

/// Writes the queue, as long as the program runs.
fn write_queued() {
    let mut queue = queue();
    loop {
        let Some((stream, bytes)) = queue.waiting.pop_front() else {
            WRITTEN.notify_waiters();
            queue = MORE.wait(queue).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        queue.bytes = queue.bytes.saturating_sub(bytes.len());
        // Release the lock while writing: producers must not block on the reader.
        queue.is_writing = true;
        drop(queue);
        let written = write_all(stream, &bytes);
        queue = self::queue();
        queue.is_writing = false;
        // Nothing is lost if stderr has no reader.
        if let (Err(error), Stream::Out) = (written, stream) {
            queue.failure.get_or_insert(error);
        }
    }
}

/// Writes all bytes, and blocks until the reader has taken them.
#[cfg(unix)]
fn write_all(stream: Stream, mut bytes: &[u8]) -> io::Result<()> {
    use rustix::io::Errno;
    while !bytes.is_empty() {
        match rustix::io::write(descriptor(stream), bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            // Another program has made the shared descriptor non-blocking.
            Err(Errno::AGAIN) => wait_for(stream)?,
            // As the standard library does: writing to a closed stream succeeds.
            Err(Errno::BADF) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn descriptor(stream: Stream) -> rustix::fd::BorrowedFd<'static> {
    match stream {
        Stream::Out => rustix::stdio::stdout(),
        Stream::Err => rustix::stdio::stderr(),
    }
}

/// Blocks until the reader takes more.
#[cfg(unix)]
fn wait_for(stream: Stream) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    let fd = descriptor(stream);
    match poll(&mut [PollFd::new(&fd, PollFlags::OUT)], None) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Returns the terminal of a stream, reopened as non-blocking: `poll` reports a terminal as ready that takes
/// only a few bytes. `None` if the stream is not a terminal or cannot be reopened.
#[cfg(target_os = "linux")]
fn terminal(stream: Stream) -> Option<rustix::fd::BorrowedFd<'static>> {
    use rustix::fd::{AsFd as _, OwnedFd};
    use rustix::fs::{Mode, OFlags, open};
    use std::sync::OnceLock;
    static TERMINALS: [OnceLock<Option<OwnedFd>>; 2] = [OnceLock::new(), OnceLock::new()];
    let [out, err] = &TERMINALS;
    let (kept, path) = match stream {
        Stream::Out => (out, "/proc/self/fd/1"),
        Stream::Err => (err, "/proc/self/fd/2"),
    };
    let opened = kept.get_or_init(|| {
        if !rustix::termios::isatty(descriptor(stream)) {
            return None;
        }
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        open(path, flags, Mode::empty()).ok()
    });
    opened.as_ref().map(|opened| opened.as_fd())
}

#[cfg(all(unix, not(target_os = "linux")))]
fn terminal(_: Stream) -> Option<rustix::fd::BorrowedFd<'static>> {
    None
}

/// Writes all bytes, and blocks until the reader has taken them.
#[cfg(not(unix))]
fn write_all(stream: Stream, bytes: &[u8]) -> io::Result<()> {
    match stream {
        Stream::Out => {
            let mut stdout = io::stdout().lock();
            stdout.write_all(bytes).and_then(|()| stdout.flush())
        }
        Stream::Err => io::stderr().write_all(bytes),
    }
}

/// Returns true if the system can tell whether a reader takes more.
fn can_be_asked() -> bool {
    cfg!(unix)
}

/// Writes the bytes that the reader takes at once, and returns the rest.
#[cfg(unix)]
fn write_now(stream: Stream, mut bytes: &[u8]) -> io::Result<&[u8]> {
    use rustix::io::Errno;
    /// A pipe that is ready takes at least this much (`PIPE_BUF`).
    const AT_ONCE: usize = 4096;
    let fd = terminal(stream).unwrap_or_else(|| descriptor(stream));
    while let Some(part) = bytes.get(..AT_ONCE.min(bytes.len()))
        && !part.is_empty()
        && takes_more(stream)
    {
        match rustix::io::write(fd, part) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            // Another program has made the shared descriptor non-blocking.
            Err(Errno::AGAIN) => break,
            // As the standard library does: writing to a closed stream succeeds.
            Err(Errno::BADF) => return Ok(&[]),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bytes)
}

#[cfg(unix)]
fn takes_more(stream: Stream) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let fd = descriptor(stream);
    let mut asked = [PollFd::new(&fd, PollFlags::OUT)];
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // If polling fails, the thread writes.
    poll(&mut asked, Some(&at_once)).is_ok_and(|answers| answers > 0)
}

/// Unused here: without polling everything is written directly.
#[cfg(not(unix))]
fn write_now(stream: Stream, bytes: &[u8]) -> io::Result<&[u8]> {
    write_all(stream, bytes).map(|()| bytes.get(bytes.len()..).unwrap_or_default())
}
