//! One conversation with the person at the terminal: text to show and questions to answer, without
//! interruption.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use switchboard_core::spec::ServerName;
use switchboard_core::text::sanitise_line;
use tokio::sync::{Mutex as Turn, Notify};

use super::{prompt, read_line, typed_line, typing};
use crate::board::{self, Paused};
use crate::editor::Wanted;
use crate::talk;

/// Held by the conversation that has the terminal. There is one terminal, so conversations take turns.
static TURN: Turn<()> = Turn::const_new(());

/// A conversation with the person. While it lasts nothing else asks them anything, and a command that is
/// being typed waits.
///
/// Text passed to [`say`](Self::say) is buffered and shown together with the next question, by the line
/// editor if one is running, so that it never breaks into a line that is being typed.
pub struct Dialogue {
    said: String,
    /// True once the line that is being typed was interrupted for a question.
    has_asked: bool,
    /// True while a question is unanswered.
    is_asking: bool,
    // Dropped in this order: the next conversation must not draw lines before it has the turn.
    _paused: Paused,
    _turn: tokio::sync::MutexGuard<'static, ()>,
}

impl Dialogue {
    /// Waits for the terminal, then begins a conversation.
    pub async fn begin() -> Self {
        let turn = TURN.lock().await;
        Self {
            said: String::new(),
            has_asked: false,
            is_asking: false,
            _paused: board::pause(),
            _turn: turn,
        }
    }

    /// Begins a conversation on behalf of a server. Returns `None` if the person has left a question of this
    /// server since the last command: a server that asks again and again must not hold them.
    pub async fn with(server: &ServerName) -> Option<Self> {
        let dialogue = Self::begin().await;
        (!left_servers().contains(server.as_str())).then_some(dialogue)
    }

    /// Adds text to show. The caller has made it safe for the terminal.
    pub fn say(&mut self, text: &str) {
        self.said.push_str(text);
    }

    /// Adds the lines to read before an answer, sanitised and never shortened.
    pub fn show(&mut self, lines: &[String]) {
        for line in lines {
            self.say(&format!("  {}\n", sanitise_line(line)));
        }
    }

    /// Asks a question and returns the line that the person types, or `None` if they leave it, as with
    /// Ctrl-C.
    ///
    /// The line is read on another thread, so nothing else waits while they think.
    pub async fn ask(&mut self, question: &str) -> Option<String> {
        // The buffered text goes out together with the question, in one piece.
        let before = std::mem::take(&mut self.said);
        (self.has_asked, self.is_asking) = (true, true);
        let question = question.to_owned();
        let line = match prompt() {
            Some(editor) => {
                let wanted = Wanted::Answer {
                    before,
                    question,
                    goes_on: true,
                };
                // Armed before the question is shown, so that an early Ctrl-C is not missed.
                let mut left = pin!(LEAVING.notified());
                left.as_mut().enable();
                // Without a raw terminal Ctrl-C is a signal, which `interrupt` turns into leaving the
                // question.
                let _open = (!editor.takes_keys()).then(Open::begin);
                tokio::select! {
                    line = editor.read(wanted) => typed_line(line),
                    () = left => {
                        // The terminal has echoed `^C`: end that line.
                        talk("\n");
                        None
                    }
                }
            }
            None => {
                talk(&format!("{before}{question}"));
                // Until something is typed nothing reads, so that a question that is dropped takes no later answer.
                typing().await;
                let reading = tokio::task::spawn_blocking(read_line);
                reading.await.ok().flatten()
            }
        };
        self.is_asking = false;
        line
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        let mut said = std::mem::take(&mut self.said);
        let Some(editor) = prompt() else {
            if !said.is_empty() {
                talk(&said);
            }
            return;
        };
        // Nothing was asked, so the typed line is intact: print above it.
        if !self.has_asked {
            said.lines()
                .for_each(|line| editor.printer().print(line.to_owned()));
            return;
        }
        if self.is_asking && editor.takes_keys() {
            said.push_str("\n(the question was withdrawn)\n");
        }
        editor.go_on(said);
    }
}

/// Runs work for a server unless the person gives up their command meanwhile: a server of the legacy era does
/// not say for which call it asks.
pub async fn unless_given_up<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut given_up = pin!(GIVEN_UP.notified());
    given_up.as_mut().enable();
    tokio::select! {
        done = work => Some(done),
        () = given_up => None,
    }
}

static GIVEN_UP: Notify = Notify::const_new();

/// Gives up all work for servers that is wrapped in [`unless_given_up`].
pub fn give_up() {
    GIVEN_UP.notify_waiters();
}

/// Leaves an open question where Ctrl-C arrives as a signal and not as a key. Returns true if there was one.
pub fn interrupt() -> bool {
    let is_open = OPEN.load(Ordering::SeqCst);
    if is_open {
        LEAVING.notify_waiters();
    }
    is_open
}

/// True while there is a question that a signal can leave.
static OPEN: AtomicBool = AtomicBool::new(false);
static LEAVING: Notify = Notify::const_new();

/// Marks a question as leavable by a signal until it is dropped.
struct Open(());

impl Open {
    fn begin() -> Self {
        OPEN.store(true, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        OPEN.store(false, Ordering::SeqCst);
    }
}

/// Shows the person a line that is not a response to their command, above the line that is being typed. The
/// caller has made it safe for the terminal.
pub fn tell(line: &str) {
    let line = match TOLD.fetch_add(1, Ordering::SeqCst) {
        told if told < MOST_TOLD => line,
        MOST_TOLD => "(further messages are hidden until the next command)",
        // A server that never stops asking must not fill the screen.
        _ => return,
    };
    match prompt() {
        Some(editor) => editor.printer().print(line.to_owned()),
        None => talk(&format!("{line}\n")),
    }
}

/// Maximum number of such lines during one command.
const MOST_TOLD: usize = 50;
static TOLD: AtomicUsize = AtomicUsize::new(0);

/// The servers whose question the person has left since the last command.
static LEFT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fn left_servers() -> MutexGuard<'static, BTreeSet<String>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records that the person has left a question of this server.
pub fn leave(server: &ServerName) {
    left_servers().insert(server.to_string());
}

/// Begins a command: every server may ask again, and lines are counted from zero.
pub fn begin() {
    left_servers().clear();
    TOLD.store(0, Ordering::SeqCst);
}

/// Number of other programs, such as editors, that currently have the terminal.
static AWAY: AtomicUsize = AtomicUsize::new(0);

/// Marks that another program has the terminal, and with it Ctrl-C, until it is dropped.
pub struct Away(());

impl Away {
    /// Hands the terminal to another program.
    pub fn begin() -> Self {
        AWAY.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        AWAY.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Returns true while another program has the terminal.
pub fn is_away() -> bool {
    AWAY.load(Ordering::SeqCst) > 0
}
