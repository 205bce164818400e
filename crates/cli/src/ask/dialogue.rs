//! A talk with the person: what they are told, and what they are asked, until it is over.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use switchboard::spec::ServerName;
use switchboard::text::sanitise_line;
use tokio::sync::{Mutex as Turn, Notify};

use super::{prompt, read, typed};
use crate::live::{self, Paused};
use crate::repl::Wanted;
use crate::screen::talk;

/// There is one terminal: who talks to the person has it until they are done, whatever it is about.
static TURN: Turn<()> = Turn::const_new(());

/// A talk with the person. Nobody else asks them anything meanwhile, and a command that is being typed waits.
///
/// What is said is shown together with the next question, by whoever owns the terminal: a line that is being typed
/// is not torn.
pub(crate) struct Dialogue {
    said: String,
    /// Whether the line that is being typed was broken off for it.
    has_asked: bool,
    /// Whether there is a question that nobody has answered.
    is_asking: bool,
    // In this order: who comes next draws no lines before its turn.
    _paused: Paused,
    _turn: tokio::sync::MutexGuard<'static, ()>,
}

impl Dialogue {
    /// Waits until nobody else talks to the person.
    pub(crate) async fn begin() -> Self {
        let turn = TURN.lock().await;
        Self {
            said: String::new(),
            has_asked: false,
            is_asking: false,
            _paused: live::pause(),
            _turn: turn,
        }
    }

    /// The same for what a server wants to know; nothing where the person has left a question of this server since
    /// the last command. One that asks for ever would not let them go.
    pub(crate) async fn with(server: &ServerName) -> Option<Self> {
        let dialogue = Self::begin().await;
        (!left().contains(server.as_str())).then_some(dialogue)
    }

    /// Says something, which is safe to show already.
    pub(crate) fn say(&mut self, text: &str) {
        self.said.push_str(text);
    }

    /// Shows what there is to see before an answer, nothing of it cut.
    pub(crate) fn show(&mut self, lines: &[String]) {
        for line in lines {
            self.say(&format!("  {}\n", sanitise_line(line)));
        }
    }

    /// Asks, and gives the line that the person types. Nothing where they leave the question, as with Ctrl-C.
    ///
    /// It is read by a thread of its own: nothing else waits while they think.
    pub(crate) async fn ask(&mut self, question: &str) -> Option<String> {
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
                let mut left = pin!(LEAVING.notified());
                left.as_mut().enable();
                let _open = (!editor.takes_keys()).then(Open::begin);
                tokio::select! {
                    line = editor.read(wanted) => typed(line),
                    () = left => {
                        // After what the terminal shows of the key.
                        talk("\n");
                        None
                    }
                }
            }
            None => {
                let reading = tokio::task::spawn_blocking(move || read(&before, &question));
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
        if !self.has_asked {
            said.lines()
                .for_each(|line| editor.printer().print(line.to_owned()));
            return;
        }
        if self.is_asking && editor.takes_keys() {
            said.push_str("\n(the question was taken back)\n");
        }
        editor.go_on(said);
    }
}

/// Does something for a server, unless the person gives up what they wanted of it meanwhile: a server of the legacy
/// era does not say for which call it asks.
pub(crate) async fn unless_given_up<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut given_up = pin!(GIVEN_UP.notified());
    given_up.as_mut().enable();
    tokio::select! {
        done = work => Some(done),
        () = given_up => None,
    }
}

static GIVEN_UP: Notify = Notify::const_new();

/// Gives up what is being done for servers.
pub(crate) fn give_up() {
    GIVEN_UP.notify_waiters();
}

/// Leaves a question that is open, where Ctrl-C is a signal and no key. Says whether there was one.
pub(crate) fn interrupt() -> bool {
    let is_open = OPEN.load(Ordering::SeqCst);
    if is_open {
        LEAVING.notify_waiters();
    }
    is_open
}

/// Whether there is a question that a signal can leave.
static OPEN: AtomicBool = AtomicBool::new(false);
static LEAVING: Notify = Notify::const_new();

/// A question that a signal can leave, until this is dropped.
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

/// Tells the person something that is no answer to what they do, above the line that is being typed. It is safe to
/// show already.
pub(crate) fn tell(line: &str) {
    let line = match TOLD.fetch_add(1, Ordering::SeqCst) {
        told if told < MOST_TOLD => line,
        MOST_TOLD => "(more of this is not told before the next command)",
        // A server that asks for ever does not fill the screen.
        _ => return,
    };
    match prompt() {
        Some(editor) => editor.printer().print(line.to_owned()),
        None => talk(&format!("{line}\n")),
    }
}

/// So many lines are told during one command.
const MOST_TOLD: usize = 50;
static TOLD: AtomicUsize = AtomicUsize::new(0);

/// The servers whose question somebody has left since the last command.
static LEFT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fn left() -> MutexGuard<'static, BTreeSet<String>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers that the person has left a question of this server.
pub(crate) fn leave(server: &ServerName) {
    left().insert(server.to_string());
}

/// Begins a command: every server may ask again, and is told of again.
pub(crate) fn begin() {
    left().clear();
    TOLD.store(0, Ordering::SeqCst);
}

/// How many programs have the terminal that the person wanted to use for an answer.
static AWAY: AtomicUsize = AtomicUsize::new(0);

/// The person is in another program, to which Ctrl-C belongs, until this is dropped.
pub(crate) struct Away(());

impl Away {
    /// Leaves the terminal to another program.
    pub(crate) fn begin() -> Self {
        AWAY.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        AWAY.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether the person is in another program.
pub(crate) fn is_away() -> bool {
    AWAY.load(Ordering::SeqCst) > 0
}
