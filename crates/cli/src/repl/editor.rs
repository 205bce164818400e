//! Who owns the terminal while there is a prompt: one thread that reads lines, be they commands or
//! answers to questions, and prints what happens meanwhile above the line that is being typed.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use super::plain::Plain;
use super::printer::Printer;
use super::reading::Reading;
use super::rich::{Known, Rich};

/// The longest wait for the terminal to be given back.
const GIVING_BACK: Duration = Duration::from_secs(1);

/// What is to be typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// A command, after this prompt.
    Command(String),
    /// An answer, after this question.
    Answer {
        /// What is shown before.
        before: String,
        question: String,
        /// Whether more is asked: a command that is being typed waits until [`Wanted::Nothing`] is wanted.
        goes_on: bool,
    },
    /// Nothing more, but this is shown.
    Nothing(String),
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
    pub(super) id: u64,
    pub(super) wanted: Wanted,
    pub(super) reply: oneshot::Sender<Line>,
}

impl Request {
    /// Whether nobody waits for it any more.
    pub(super) fn is_given_up(&self) -> bool {
        self.reply.is_closed()
    }
}

/// Reads lines from whatever there is.
pub(crate) trait Read: Send {
    /// Reads one line. Questions that come up while a command is being typed are answered first.
    fn read(&mut self, request: &Request, requests: &Receiver<Request>) -> Line;
}

/// The thread that owns the terminal. Clones share it.
#[derive(Clone)]
pub(crate) struct Editor {
    requests: Sender<Request>,
    printer: Printer,
    reading: Arc<Reading>,
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
        let reading = Arc::new(Reading::default());
        let is_rich = matches!(kind, Kind::Rich(_));
        let (reader, printer): (Box<dyn Read>, Printer) = match kind {
            Kind::Rich(known) => {
                let (printer, lines) = Printer::above_a_line();
                let rich = Rich::new(&known, (&printer, lines), &reading);
                (Box::new(rich), printer)
            }
            Kind::Plain { shows_prompt } => (Box::new(Plain { shows_prompt }), Printer::plain()),
        };
        let thread = std::thread::Builder::new().name("prompt".to_owned());
        let thread = thread.spawn(move || serve(reader, &wanted, is_rich))?;
        Ok(Self {
            requests,
            printer,
            reading,
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
        let (id, line) = self.ask(wanted);
        let mut given_up = GivenUp(Some((&self.reading, id)));
        // Where this is dropped, whoever reads the line sees it before the line is broken off.
        let line = line.await;
        given_up.0 = None;
        line.unwrap_or(Line::End)
    }

    /// Reads a line, on a thread that may wait.
    pub(crate) fn read_blocking(&self, wanted: Wanted) -> Line {
        self.ask(wanted).1.blocking_recv().unwrap_or(Line::End)
    }

    /// Shows something, and lets a command be typed on that had to wait for questions.
    pub(crate) fn go_on(&self, said: String) {
        self.ask(Wanted::Nothing(said));
    }

    fn ask(&self, wanted: Wanted) -> (u64, oneshot::Receiver<Line>) {
        let (reply, line) = oneshot::channel();
        let is_urgent = !matches!(&wanted, Wanted::Nothing(said) if said.is_empty());
        let id = self.reading.send(is_urgent, |id| {
            let request = Request { id, wanted, reply };
            // Without the thread there is nobody who types: `line` ends.
            self.requests.send(request).ok();
        });
        (id, line)
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

/// Has lines read as long as somebody may want one.
fn serve(mut reader: Box<dyn Read>, requests: &Receiver<Request>, is_rich: bool) {
    let mut kept = None;
    while let Ok(request) = requests.recv() {
        if request.is_given_up() && !matches!(request.wanted, Wanted::Nothing(_)) {
            continue;
        }
        let is_command = matches!(request.wanted, Wanted::Command(_));
        let line = match kept.take_if(|_| is_command) {
            Some(line) => line,
            None => reader.read(&request, requests),
        };
        if let (Err(line @ Line::Typed(_)), false) = (request.reply.send(line), is_rich) {
            // Who waited for it has gone, while reading a line could not be given up: it is a command.
            kept = Some(line);
        }
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
struct GivenUp<'a>(Option<(&'a Reading, u64)>);

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        if let Some((reading, id)) = self.0 {
            reading.give_up(id);
        }
    }
}
