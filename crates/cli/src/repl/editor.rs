//! Who owns the terminal while there is a prompt: one thread that reads lines, be they commands or
//! answers to questions, and prints what happens meanwhile above the line that is being typed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use super::plain::Plain;
use super::printer::Printer;
use super::rich::{Known, Rich};

/// The longest wait for the terminal to be given back.
const GIVING_BACK: Duration = Duration::from_secs(1);

/// What is to be typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// A command, after this prompt.
    Command(String),
    /// An answer, after this question.
    Answer(String),
}

/// What was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line.
    Typed(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the end of the input.
    End,
}

/// Something that is to be typed, and who waits for it.
pub(crate) struct Request {
    pub(crate) wanted: Wanted,
    pub(crate) reply: oneshot::Sender<Line>,
}

/// Reads lines from whatever there is.
pub(crate) trait Read: Send {
    /// Reads one line. Questions that come up while a command is being typed are answered first.
    fn read(&mut self, wanted: &Wanted, line: &Waiting<'_>) -> Line;
}

/// Who waits for a line, and who else wants one.
pub(crate) struct Waiting<'a> {
    pub(crate) reply: &'a oneshot::Sender<Line>,
    pub(crate) requests: &'a Receiver<Request>,
}

/// The thread that owns the terminal. Clones share it.
#[derive(Clone)]
pub(crate) struct Editor {
    requests: Sender<Request>,
    printer: Printer,
    interrupt: Arc<AtomicBool>,
    thread: Arc<Mutex<Option<JoinHandle<()>>>>,
    is_rich: bool,
}

impl Editor {
    /// Takes the terminal.
    ///
    /// # Errors
    /// When there can be no thread for it.
    pub(crate) fn start(kind: Kind) -> std::io::Result<Self> {
        let (requests, wanted) = mpsc::channel::<Request>();
        let interrupt = Arc::new(AtomicBool::new(false));
        let is_rich = matches!(kind, Kind::Rich(_));
        let (mut reader, printer): (Box<dyn Read>, Printer) = match kind {
            Kind::Rich(known) => {
                let (printer, lines) = Printer::above_a_line();
                let rich = Rich::new(&known, (&printer, lines), &interrupt);
                (Box::new(rich), printer)
            }
            Kind::Plain { shows_prompt } => (Box::new(Plain { shows_prompt }), Printer::plain()),
        };
        let thread = std::thread::Builder::new().name("prompt".to_owned());
        let thread = thread.spawn(move || {
            while let Ok(Request {
                wanted: what,
                reply,
            }) = wanted.recv()
            {
                let waiting = Waiting {
                    reply: &reply,
                    requests: &wanted,
                };
                let line = reader.read(&what, &waiting);
                // Who has gone meanwhile does not want it any more.
                reply.send(line).ok();
            }
        })?;
        Ok(Self {
            requests,
            printer,
            interrupt,
            thread: Arc::new(Mutex::new(Some(thread))),
            is_rich,
        })
    }

    /// Prints what happens while lines are typed.
    pub(crate) fn printer(&self) -> &Printer {
        &self.printer
    }

    /// Whether Ctrl-C comes as a [`Line`] rather than as a signal.
    pub(crate) fn takes_keys(&self) -> bool {
        self.is_rich
    }

    /// Reads a line. Dropping the future gives the terminal free.
    pub(crate) async fn read(&self, wanted: Wanted) -> Line {
        let mut given_up = GivenUp(Some(&self.interrupt));
        let line = self.ask(wanted).await;
        given_up.0 = None;
        line.unwrap_or(Line::End)
    }

    /// Reads a line, on a thread that may wait.
    pub(crate) fn read_blocking(&self, wanted: Wanted) -> Line {
        self.ask(wanted).blocking_recv().unwrap_or(Line::End)
    }

    fn ask(&self, wanted: Wanted) -> oneshot::Receiver<Line> {
        let (reply, line) = oneshot::channel();
        let is_question = matches!(wanted, Wanted::Answer(_));
        // Without the thread there is nobody who types: `line` ends.
        self.requests.send(Request { wanted, reply }).ok();
        if is_question {
            self.interrupt.store(true, Ordering::Release);
        }
        line
    }

    /// Waits until the terminal is as it was.
    pub(crate) async fn close(self) {
        let thread = self.thread.lock();
        let thread = thread.unwrap_or_else(PoisonError::into_inner).take();
        let Self { requests, .. } = self;
        drop(requests);
        let (Some(thread), true) = (thread, self.is_rich) else {
            // One that waits for a pipe ends with the process.
            return;
        };
        let ended = tokio::task::spawn_blocking(move || drop(thread.join()));
        tokio::time::timeout(GIVING_BACK, ended).await.ok();
    }
}

/// How lines are typed.
pub(crate) enum Kind {
    /// With keys for everything, names that complete, and a history.
    Rich(Known),
    /// Line by line, as they come.
    Plain {
        /// Whether somebody sees the prompt.
        shows_prompt: bool,
    },
}

/// Has the line given up that nobody waits for any more.
struct GivenUp<'a>(Option<&'a AtomicBool>);

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        if let Some(interrupt) = self.0 {
            interrupt.store(true, Ordering::Release);
        }
    }
}
