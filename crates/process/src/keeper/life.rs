//! The life of a keeper: start the server, wait for its end or for the end of the host, kill all
//! remaining processes, and exit with the server's status.

use std::ffi::c_int;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::cgroup::ServerCgroup;
use super::orders::{LIVENESS, LastReport, Orders, Report};
use super::signals::{Signals, end_by};
use super::{memory, start, tree};

/// The wait after each round of kills.
const ROUND: Duration = Duration::from_millis(5);

/// The exit code of a keeper that could not start the server.
const NOT_STARTED: c_int = 127;

#[allow(unsafe_code)]
pub(super) fn run() -> ! {
    protect_from_server();
    // Protect the keeper before it has a server: from then on the server can act against it.
    start::hide_own_files();
    let server = Orders::read()
        .ok_or(libc::EINVAL)
        .and_then(|orders| Server::start(&orders));
    match server {
        Ok(mut server) => {
            // SAFETY: nothing that is used from here on is on the heap: the server is on the stack, and
            // neither signals nor the tree allocate.
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

/// Protects this process from its server.
#[allow(unsafe_code)]
fn protect_from_server() {
    // SAFETY: these change attributes of this process only, and the name is a C string.
    unsafe {
        // It may have been started through /proc/self/exe, which says nothing about it.
        libc::prctl(libc::PR_SET_NAME, c"switchboard-keeper".as_ptr());
        // Server and keeper have the same user. This prevents the server from tracing the keeper and
        // from opening its files through /proc, and thus from forging its reports.
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        // A stopped keeper does not see the pipe from the host close. This signal makes it continue,
        // and then it finds the closed pipe. It is also sent if only the thread that started the
        // keeper ends; SIGCONT has no effect then, while another signal would do harm.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGCONT);
    }
}

/// The progress of ending the server.
#[derive(Clone, Copy)]
enum Stage {
    Running,
    /// Its stdin was closed; it is asked to terminate at this time.
    Closed(Instant),
    /// It was asked to terminate; it is killed at this time.
    Terminated(Instant),
}

/// The presence of children of this process.
#[derive(PartialEq, Eq)]
enum Remaining {
    Left,
    Gone,
}

/// The server, as its keeper sees it.
struct Server {
    pid: libc::pid_t,
    /// Its wait status, once it has ended.
    status: Option<c_int>,
    signals: Signals,
    cgroup: Option<ServerCgroup>,
    after_close: Duration,
    after_term: Duration,
    after_kill: Duration,
}

impl Server {
    #[allow(unsafe_code)]
    fn start(orders: &Orders) -> Result<Self, c_int> {
        let errno = |error: std::io::Error| error.raw_os_error().unwrap_or(libc::EINVAL);
        // Signals and adoption before the server starts: otherwise a process of it could end unseen, or be
        // adopted by init.
        let signals = Signals::open().map_err(errno)?;
        // SAFETY: only makes this process the one that adopts orphans among its descendants.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
        let cgroup = ServerCgroup::open(&orders.cgroup);
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
            // The pipe has closed: the host is gone. Poll it no more, it would be ready forever.
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

    /// Kills all remaining processes in rounds, because new ones may be born meanwhile. Reports those that
    /// still run when the time is up.
    fn sweep(&mut self) -> LastReport {
        let begun = Instant::now();
        let mut round = 0_u32;
        let mut last = LastReport::default();
        while self.fetch() == Remaining::Left {
            if begun.elapsed() >= self.after_kill {
                tree::each_left(|pid| last.add(pid));
                break;
            }
            if let Some(cgroup) = &self.cgroup {
                cgroup.kill();
            }
            // The first round is enough for all servers but those that fork as fast as they can.
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

    /// Reaps all children that have ended.
    #[allow(unsafe_code)]
    fn fetch(&mut self) -> Remaining {
        loop {
            let mut status = 0;
            // SAFETY: the status is a valid place to write to.
            match unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } {
                0 => return Remaining::Left,
                -1 => return Remaining::Gone,
                pid if pid == self.pid => self.status = Some(status),
                _ => {}
            }
        }
    }
}

/// Ends this process with the exit status of the server, so that the host sees that.
#[allow(unsafe_code)]
fn end_like(status: Option<c_int>) -> ! {
    // A server that could not be killed counts as killed for the host.
    let status = status.unwrap_or(libc::SIGKILL);
    let code = if libc::WIFEXITED(status) {
        libc::WEXITSTATUS(status)
    } else {
        let signal = libc::WTERMSIG(status);
        end_by(signal);
        128 + signal
    };
    // SAFETY: ends this process at once; it has nothing to clean up.
    unsafe { libc::_exit(code) }
}
