//! Ends the process on a second signal, from a thread of its own.
//!
//! The first signal is for the runtime: it cancels the work, ends the servers and reports it. A runtime that
//! is blocked in a read, a write or a lock cannot do that, so a separate thread counts the signals and ends
//! the process on the second. The servers are then ended by their keepers, as after a SIGKILL.

use std::ffi::c_int;
use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level;
use switchboard_console::editor::restore_terminal;

use crate::ask::is_away;

/// Time that the runtime has to end the program: it kills the servers faster than their keepers do.
const GRACE: Duration = Duration::from_millis(500);

/// A Ctrl-C that was handled this recently shows that the runtime is not blocked. The thread may see a signal
/// only after the runtime has handled it.
const RECENT: Duration = Duration::from_millis(1500);

/// Number of signals that are left to the runtime.
static FOR_THE_RUNTIME: AtomicUsize = AtomicUsize::new(1);

/// Number of signals since the start, or since one was handled without ending the program.
static SEEN: AtomicUsize = AtomicUsize::new(0);

/// Time at which the last Ctrl-C was handled without ending the program.
static OBEYED: Mutex<Option<Instant>> = Mutex::new(None);

/// True once the thread runs.
static STARTED: Mutex<bool> = Mutex::new(false);

/// How SIGHUP is taken: as an end, or as a request to read config files again.
static HANGUPS: AtomicU8 = AtomicU8::new(ENDS);
const ENDS: u8 = 0;
/// It is a request.
const RELOADS: u8 = 1;
/// It is a request while there is a terminal, whose end it reports too.
const RELOADS_BESIDE_A_TERMINAL: u8 = 2;

/// Has SIGHUP not end the program, unless it says that its terminal is gone.
pub(super) fn hangup_reloads() {
    let taken = if has_terminal() {
        RELOADS_BESIDE_A_TERMINAL
    } else {
        RELOADS
    };
    HANGUPS.store(taken, Ordering::SeqCst);
}

/// Returns true if a SIGHUP now asks for config files to be read again.
pub(super) fn is_hangup_a_reload() -> bool {
    match HANGUPS.load(Ordering::SeqCst) {
        RELOADS => true,
        // A terminal that was closed cannot be opened any more.
        RELOADS_BESIDE_A_TERMINAL => has_terminal(),
        _ => false,
    }
}

fn has_terminal() -> bool {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::open("/dev/tty", flags, Mode::empty()).is_ok()
}

/// Starts the thread, unless it runs already.
///
/// # Errors
/// Returns the error of the system if there can be no thread or no signal handler.
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

/// Returns a socket that receives a byte for each signal, so that two at once are both counted.
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
        // An error, such as an interruption by a signal, leads to another round.
        poll(&mut ready, None).ok();
        let ready = ready.map(|source| !source.revents().is_empty());
        for ((signal, reader), is_ready) in sources.iter_mut().zip(ready) {
            let mut bytes = [0; 16];
            let count = if is_ready {
                reader.read(&mut bytes).unwrap_or_default()
            } else {
                0
            };
            if count > 0 {
                count_signals(*signal, count);
            }
        }
    }
}

/// Counts signals, and ends the process if the runtime has had its share.
fn count_signals(signal: c_int, count: usize) {
    // While a program that we have started for the person has the terminal, Ctrl-C is a key of that program.
    if signal == SIGINT && is_away() {
        return;
    }
    if signal == SIGHUP && is_hangup_a_reload() {
        return;
    }
    let seen = SEEN.fetch_add(count, Ordering::SeqCst) + count;
    let for_the_runtime = FOR_THE_RUNTIME.load(Ordering::SeqCst);
    if seen <= for_the_runtime {
        return;
    }
    // Give the runtime a chance to end the program in order.
    if for_the_runtime > 0 {
        std::thread::sleep(GRACE);
    }
    if was_obeyed_lately() {
        SEEN.store(0, Ordering::SeqCst);
        return;
    }
    restore_terminal();
    // Exit immediately: handlers at exit could wait for a thread that is blocked.
    low_level::exit(128 + signal);
}

fn was_obeyed_lately() -> bool {
    let obeyed = *OBEYED.lock().unwrap_or_else(PoisonError::into_inner);
    obeyed.is_some_and(|obeyed| obeyed.elapsed() < RECENT)
}

/// Records that a signal was handled and the program goes on, as a prompt does after Ctrl-C.
pub(crate) fn mark_handled() {
    *OBEYED.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    SEEN.store(0, Ordering::SeqCst);
}

/// While it exists, the first signal ends the process: there are no servers yet, and the runtime's thread may
/// block on a file.
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
