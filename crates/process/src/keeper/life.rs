//! The life of a keeper: start the server, wait for it or for the end of the host, sweep, and end
//! as the server did.

use std::ffi::c_int;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::cgroup::Cgroup;
use super::orders::{LIVENESS, LastReport, Orders, Report};
use super::signals::{Signals, end_by};
use super::{memory, start, tree};

/// How long a round of killing is given to show.
const ROUND: Duration = Duration::from_millis(5);

/// What a keeper ends with that could not do its work.
const NOT_STARTED: c_int = 127;

#[allow(unsafe_code)]
pub(super) fn run() -> ! {
    become_hard_to_hold();
    start::hide_own_files();
    let server = Orders::read()
        .ok_or(libc::EINVAL)
        .and_then(|orders| Server::start(&orders));
    match server {
        Ok(mut server) => {
            // SAFETY: of what is used until the end of the process, nothing is on the heap: the
            // server is on the stack, and neither signals nor the tree allocate.
            unsafe { memory::give_back() };
            server.keep();
            start::report_last(server.sweep());
            end_like(server.status)
        }
        Err(errno) => {
            start::report(Report::Failed(errno));
            // SAFETY: ends this process at once, which has nothing to clean up.
            unsafe { libc::_exit(NOT_STARTED) }
        }
    }
}

/// Makes this process one that its server can do less about.
#[allow(unsafe_code)]
fn become_hard_to_hold() {
    // SAFETY: these change attributes of this process only, and the name is a C string.
    unsafe {
        // It may have been loaded by a path that says nothing.
        libc::prctl(libc::PR_SET_NAME, c"switchboard-keeper".as_ptr());
        // A server is the same user as its keeper. Now it can neither trace the keeper nor open its
        // files through /proc, and so cannot report in its place.
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        // A keeper that was stopped does not see the pipe of the host end, but this signal it gets:
        // it goes on, and finds the pipe at its end. It comes too when only the thread has ended
        // that started the keeper, and does nothing then, whereas another signal would do harm.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGCONT);
    }
}

/// How far the end of the server has come.
#[derive(Clone, Copy)]
enum Stage {
    Running,
    /// Its stdin was closed; it is told to terminate then.
    Closed(Instant),
    /// It was told to terminate; it is killed then.
    Terminated(Instant),
}

/// Whether this process has children.
#[derive(PartialEq, Eq)]
enum Children {
    Left,
    Gone,
}

struct Server {
    pid: libc::pid_t,
    /// How it ended, once it has.
    status: Option<c_int>,
    signals: Signals,
    cgroup: Option<Cgroup>,
    after_close: Duration,
    after_term: Duration,
    after_kill: Duration,
}

impl Server {
    #[allow(unsafe_code)]
    fn start(orders: &Orders) -> Result<Self, c_int> {
        let errno = |error: std::io::Error| error.raw_os_error().unwrap_or(libc::EINVAL);
        // Before the server: none of its processes shall end unseen, or have another to turn to.
        let signals = Signals::open().map_err(errno)?;
        // SAFETY: changes only who adopts the orphans among our descendants.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
        let cgroup = Cgroup::open(&orders.cgroup);
        let pid = start::start(orders, cgroup.as_ref()).map_err(errno)?;
        start::report(Report::Forked(pid));
        start::let_go();
        Ok(Self {
            pid,
            status: None,
            signals,
            cgroup,
            after_close: orders.after_close,
            after_term: orders.after_term,
            after_kill: orders.after_kill,
        })
    }

    /// Waits until the server has ended, or must be killed.
    fn keep(&mut self) {
        let mut stage = Stage::Running;
        let mut host = Some(LIVENESS);
        loop {
            self.fetch();
            if self.status.is_some() {
                return;
            }
            let deadline = match stage {
                Stage::Running => None,
                Stage::Closed(deadline) | Stage::Terminated(deadline) => Some(deadline),
            };
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            let news = self.signals.wait(host, left);
            let now = Instant::now();
            let overdue = deadline.is_some_and(|at| at <= now);
            if news.ended {
                host = None;
            }
            stage = match stage {
                _ if news.kill => return,
                Stage::Terminated(_) if overdue => return,
                Stage::Terminated(_) => stage,
                Stage::Running | Stage::Closed(_) if news.terminate => self.terminate(now),
                Stage::Closed(_) if overdue => self.terminate(now),
                Stage::Running if news.ended => Stage::Closed(now + self.after_close),
                Stage::Running | Stage::Closed(_) => stage,
            };
        }
    }

    fn terminate(&self, now: Instant) -> Stage {
        tree::signal(Signal::TERM);
        Stage::Terminated(now + self.after_term)
    }

    /// Kills all that is left, again and again: somebody may have been born meanwhile. Says who
    /// still runs when the time is over.
    fn sweep(&mut self) -> LastReport {
        let begun = Instant::now();
        let mut round = 0_u32;
        let mut last = LastReport::default();
        while self.fetch() == Children::Left {
            if begun.elapsed() >= self.after_kill {
                tree::each_left(|pid| last.add(pid));
                break;
            }
            if let Some(cgroup) = &self.cgroup {
                cgroup.kill();
            }
            // The first round is enough for all but those who fork as fast as they can.
            if round == 0 {
                tree::signal(Signal::KILL);
            } else {
                tree::kill_groups();
            }
            round = round.saturating_add(1);
            self.signals.wait(None, Some(ROUND));
        }
        if let Some(cgroup) = &self.cgroup {
            cgroup.remove();
        }
        last
    }

    /// Fetches all children that have ended.
    #[allow(unsafe_code)]
    fn fetch(&mut self) -> Children {
        loop {
            let mut status = 0;
            // SAFETY: there is room for the status.
            match unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } {
                0 => return Children::Left,
                -1 => return Children::Gone,
                pid if pid == self.pid => self.status = Some(status),
                _ => {}
            }
        }
    }
}

/// Ends this process such that its parent sees what it would have seen of the server.
#[allow(unsafe_code)]
fn end_like(status: Option<c_int>) -> ! {
    // One that could not be killed is as good as killed to the host.
    let status = status.unwrap_or(libc::SIGKILL);
    let code = if libc::WIFEXITED(status) {
        libc::WEXITSTATUS(status)
    } else {
        let signal = libc::WTERMSIG(status);
        end_by(signal);
        128 + signal
    };
    // SAFETY: ends this process at once, which has nothing to clean up.
    unsafe { libc::_exit(code) }
}
