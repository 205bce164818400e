//! stdout and stderr, without keeping the runtime's thread waiting for who reads them.
//!
//! A reader may stall: a pager, a full pipe, a terminal after Ctrl-S. While servers are attended, what a reader does
//! not take at once is put in a queue, and a thread writes it as the reader goes on. Everything keeps its order. Who
//! produces without end waits until the queue is empty ([`settled`]); so does the end of the program, until a signal
//! comes. Without servers there is nothing to keep waiting, and everything is written directly.

use std::collections::VecDeque;
use std::io;
#[cfg(not(unix))]
use std::io::Write as _;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// What is kept for a reader of stderr at most. More is counted, and told of once the reader goes on.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Where something is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Results.
    Out,
    /// Everything else.
    Err,
}

/// What happens to what a reader does not take at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The reader is waited for.
    Direct,
    /// It is put in the queue.
    Queued,
    /// It is dropped: a signal has come, and nothing is waited for any more.
    Stopped,
}

struct Queue {
    mode: Mode,
    /// How many have servers to attend.
    attending: usize,
    waiting: VecDeque<(Stream, Vec<u8>)>,
    bytes: usize,
    /// Texts that had no place.
    lost: u64,
    /// Whether the thread is writing something.
    is_writing: bool,
    has_thread: bool,
    /// Why something could not be written that nobody has been told of yet.
    failure: Option<io::Error>,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue {
    mode: Mode::Direct,
    attending: 0,
    waiting: VecDeque::new(),
    bytes: 0,
    lost: 0,
    is_writing: false,
    has_thread: false,
    failure: None,
});

/// Wakes the thread.
static MORE: Condvar = Condvar::new();
/// Wakes who waits until everything is written.
static WRITTEN: Notify = Notify::const_new();

fn queue() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Nobody waits for a reader while this is there.
pub(crate) struct Attending(());

/// Begins to attend servers.
pub(crate) fn attend() -> Attending {
    let mut queue = queue();
    queue.attending += 1;
    if queue.mode == Mode::Direct && can_be_asked() {
        queue.mode = Mode::Queued;
    }
    Attending(())
}

impl Drop for Attending {
    fn drop(&mut self) {
        let mut queue = queue();
        queue.attending = queue.attending.saturating_sub(1);
        queue.mode = match (queue.attending, queue.mode) {
            // A prompt goes on after a command of it was stopped.
            (1.., Mode::Stopped) => Mode::Queued,
            (0, Mode::Queued) => Mode::Direct,
            (_, mode) => mode,
        };
    }
}

/// Writes something, or has it written.
///
/// # Errors
/// When it cannot be written. What the thread could not write is told by [`settled`].
pub(crate) fn write(stream: Stream, bytes: &[u8]) -> io::Result<()> {
    let mut queue = queue();
    match queue.mode {
        Mode::Direct => {
            drop(queue);
            write_all(stream, bytes)
        }
        Mode::Stopped => write_now(stream, bytes).map(drop),
        Mode::Queued => {
            let rest = match queue.is_idle() {
                true => write_now(stream, bytes)?,
                false => bytes,
            };
            match rest.is_empty() {
                true => Ok(()),
                false => queue.add(stream, rest),
            }
        }
    }
}

/// Waits until everything is written. Cancel safe.
///
/// # Errors
/// When something of it could not be written, which is told once.
pub(crate) async fn settled() -> io::Result<()> {
    written().await;
    queue().failure.take().map_or(Ok(()), Err)
}

/// Waits until everything is written, or could not be. Cancel safe.
pub(crate) async fn written() {
    loop {
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

/// Drops what is not written yet.
pub(crate) fn discard() {
    let mut queue = queue();
    queue.waiting.clear();
    queue.bytes = 0;
}

/// Drops what is not written yet, and from now on all that a reader does not take at once.
pub(crate) fn stop() {
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
        if self.lost > 0 {
            let lost = std::mem::take(&mut self.lost);
            let told = format!("({lost} texts were not shown: nobody read them)\n");
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

/// Writes what is in the queue, for as long as there is a program.
fn write_queued() {
    let mut queue = queue();
    loop {
        let Some((stream, bytes)) = queue.waiting.pop_front() else {
            WRITTEN.notify_waiters();
            queue = MORE.wait(queue).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        queue.bytes = queue.bytes.saturating_sub(bytes.len());
        queue.is_writing = true;
        drop(queue);
        let written = write_all(stream, &bytes);
        queue = self::queue();
        queue.is_writing = false;
        // Where nobody reads stderr, nothing is lost.
        if let (Err(error), Stream::Out) = (written, stream) {
            queue.failure.get_or_insert(error);
        }
    }
}

/// Writes all of it, and waits for the reader.
#[cfg(unix)]
fn write_all(stream: Stream, mut bytes: &[u8]) -> io::Result<()> {
    use rustix::io::Errno;
    while !bytes.is_empty() {
        match rustix::io::write(descriptor(stream), bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            // Another program has made it so that it never waits.
            Err(Errno::AGAIN) => wait_for(stream)?,
            // As the standard library does: what is closed takes everything.
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

/// Waits until the reader takes more.
#[cfg(unix)]
fn wait_for(stream: Stream) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    let fd = descriptor(stream);
    match poll(&mut [PollFd::new(&fd, PollFlags::OUT)], None) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The terminal of a stream, opened once more so that writing to it never waits: one that takes a few bytes says that
/// it takes more. Nothing where the stream is no terminal, or cannot be opened again.
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

/// Writes all of it, and waits for the reader.
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

/// Whether a reader can be asked if it takes more.
fn can_be_asked() -> bool {
    cfg!(unix)
}

/// Writes what the reader takes at once, and gives the rest.
#[cfg(unix)]
fn write_now(stream: Stream, mut bytes: &[u8]) -> io::Result<&[u8]> {
    use rustix::io::Errno;
    /// A pipe that takes anything takes this much (`PIPE_BUF`).
    const AT_ONCE: usize = 4096;
    let fd = terminal(stream).unwrap_or_else(|| descriptor(stream));
    while let Some(part) = bytes.get(..AT_ONCE.min(bytes.len()))
        && !part.is_empty()
        && takes_more(stream)
    {
        match rustix::io::write(fd, part) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            // Another program has made it so that it never waits.
            Err(Errno::AGAIN) => break,
            // As the standard library does: what is closed takes everything.
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
    // Whatever cannot be asked is written to by the thread.
    poll(&mut asked, Some(&at_once)).is_ok_and(|answers| answers > 0)
}

/// Never used: here everything is written directly.
#[cfg(not(unix))]
fn write_now(stream: Stream, bytes: &[u8]) -> io::Result<&[u8]> {
    write_all(stream, bytes).map(|()| bytes.get(bytes.len()..).unwrap_or_default())
}
