//! Ends the program on a second signal, from a thread of its own.
//!
//! The first signal is for the runtime: it cancels what is under way, ends the servers and says so. That needs a
//! runtime that runs. One that waits in a read, a write or a lock cannot do it, so a thread that does nothing else
//! counts the signals, and ends the process on the second. Servers are ended then by their keepers, as after a
//! SIGKILL.

use std::ffi::c_int;
use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level;

use crate::ask::is_away;
use crate::repl::restore_terminal;

/// How long the runtime has to end the program by itself once it has to end: it kills the servers faster than their
/// keepers do.
const GRACE: Duration = Duration::from_millis(500);

/// A Ctrl-C that was obeyed this recently shows that the runtime runs. The thread may learn of a signal only after
/// the runtime has obeyed it.
const RECENT: Duration = Duration::from_millis(1500);

/// How many signals the runtime deals with itself.
static FOR_THE_RUNTIME: AtomicUsize = AtomicUsize::new(1);

/// The signals since the program was started, or since one was obeyed that does not end it.
static SEEN: AtomicUsize = AtomicUsize::new(0);

/// When the last Ctrl-C was obeyed that does not end the program.
static OBEYED: Mutex<Option<Instant>> = Mutex::new(None);

/// Whether the thread runs.
static STARTED: Mutex<bool> = Mutex::new(false);

/// Starts the thread, unless it runs already.
///
/// # Errors
/// When there can be no thread, or no signal can be listened for.
pub(super) fn start() -> io::Result<()> {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !*started {
        let sources = [source(SIGHUP)?, source(SIGINT)?, source(SIGTERM)?];
        let thread = std::thread::Builder::new().name("signals".to_owned());
        thread.spawn(move || watch(sources))?;
        *started = true;
    }
    Ok(())
}

/// A socket that gets a byte with each signal: none of two that come at once is lost.
fn source(signal: c_int) -> io::Result<(c_int, UnixStream)> {
    let (reader, writer) = UnixStream::pair()?;
    low_level::pipe::register(signal, writer)?;
    Ok((signal, reader))
}

fn watch(mut sources: [(c_int, UnixStream); 3]) {
    loop {
        let mut ready = sources
            .each_ref()
            .map(|(_, reader)| PollFd::new(reader, PollFlags::IN));
        // Interrupted by a signal, it is asked again.
        poll(&mut ready, None).ok();
        let ready = ready.map(|source| !source.revents().is_empty());
        for ((signal, reader), is_ready) in sources.iter_mut().zip(ready) {
            let mut bytes = [0; 16];
            let count = match is_ready {
                true => reader.read(&mut bytes).unwrap_or_default(),
                false => 0,
            };
            if count > 0 {
                heard(*signal, count);
            }
        }
    }
}

/// Counts signals, and ends the program where it has to end.
fn heard(signal: c_int, count: usize) {
    // While the person is in a program that we have started for them, Ctrl-C is a key of that program.
    if signal == SIGINT && is_away() {
        return;
    }
    let seen = SEEN.fetch_add(count, Ordering::SeqCst) + count;
    let for_the_runtime = FOR_THE_RUNTIME.load(Ordering::SeqCst);
    if seen <= for_the_runtime {
        return;
    }
    if for_the_runtime > 0 {
        std::thread::sleep(GRACE);
    }
    if was_obeyed_lately() {
        SEEN.store(0, Ordering::SeqCst);
        return;
    }
    restore_terminal();
    // At once: whatever runs at the end of a process may wait for a thread that is stuck.
    low_level::exit(128 + signal);
}

fn was_obeyed_lately() -> bool {
    let obeyed = *OBEYED.lock().unwrap_or_else(PoisonError::into_inner);
    obeyed.is_some_and(|obeyed| obeyed.elapsed() < RECENT)
}

/// Says that a signal was obeyed, and that the program goes on all the same, as a prompt does after Ctrl-C.
pub(crate) fn obeyed() {
    *OBEYED.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    SEEN.store(0, Ordering::SeqCst);
}

/// While this is there, the first signal ends the program: there are no servers yet, and the runtime's thread may wait
/// for a file.
pub(crate) struct NoServersYet(());

impl NoServersYet {
    pub(crate) fn begin() -> Self {
        FOR_THE_RUNTIME.store(0, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for NoServersYet {
    fn drop(&mut self) {
        FOR_THE_RUNTIME.store(1, Ordering::SeqCst);
    }
}
