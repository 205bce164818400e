//! The owner of the terminal while a prompt runs: one thread that reads lines, commands as well as answers to
//! questions, and prints events above the line that is being typed.

mod history;
mod plain;
mod printer;
mod reading;
mod rich;
mod type_ahead;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

pub use history::{IsKnown, Remembered};
pub use printer::Printer;
pub use rich::EditorSettings;
pub use type_ahead::TypeAhead;
#[cfg(unix)]
pub use type_ahead::restore as restore_terminal;

use plain::Plain;
use reading::Reading;
use rich::Rich;

use crate::talk;

/// Longest wait for the thread to release the terminal.
const GIVING_BACK: Duration = Duration::from_secs(1);

/// The kind of line to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// A command, after this prompt.
    Command(String),
    /// An answer, after this question.
    Answer {
        /// Text shown before the question.
        before: String,
        /// The question.
        question: String,
        /// True if more questions follow: a typed command waits until [`Wanted::Nothing`] is requested.
        goes_on: bool,
    },
    /// No line; only shows this text and ends a series of questions.
    Nothing(String),
}

/// The outcome of reading a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A line.
    Typed(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the end of the input.
    End,
}

/// A request for a line, and the channel for its outcome.
struct Request {
    id: u64,
    wanted: Wanted,
    reply: oneshot::Sender<Line>,
}

impl Request {
    /// Returns true if the requester is gone.
    fn is_given_up(&self) -> bool {
        self.reply.is_closed()
    }
}

/// A source of lines.
trait ReadLine: Send {
    /// Reads one line. Questions that arrive while a command is being typed are answered first.
    fn read(&mut self, request: &Request, requests: &Receiver<Request>) -> Line;
}

/// Handle of the thread that owns the terminal. Clones share the thread.
#[derive(Clone)]
pub struct Editor {
    requests: Sender<Request>,
    printer: Printer,
    reading: Arc<Reading>,
    thread: Arc<Mutex<Option<JoinHandle<()>>>>,
    is_rich: bool,
    /// True while a line is being read that cannot be broken off.
    is_stuck: Arc<AtomicBool>,
}

impl Editor {
    /// Starts the thread, which takes the terminal.
    ///
    /// # Errors
    /// Returns the error of the system if no thread can be started.
    pub fn start(kind: EditorKind) -> std::io::Result<Self> {
        let (requests, wanted) = mpsc::channel::<Request>();
        let reading = Arc::new(Reading::default());
        let is_rich = matches!(kind, EditorKind::Rich(_));
        let (reader, printer): (Box<dyn ReadLine>, Printer) = match kind {
            EditorKind::Rich(known) => {
                let (printer, lines) = Printer::above_a_line();
                let rich = Rich::new(known, &printer, lines, &reading);
                (Box::new(rich), printer)
            }
            EditorKind::Plain { shows_prompt } => {
                (Box::new(Plain { shows_prompt }), Printer::plain())
            }
        };
        let is_stuck = Arc::new(AtomicBool::new(false));
        let stuck = (!is_rich).then(|| Arc::clone(&is_stuck));
        let thread = std::thread::Builder::new().name("prompt".to_owned());
        let thread = thread.spawn(move || serve(reader, &wanted, stuck.as_deref()))?;
        Ok(Self {
            requests,
            printer,
            reading,
            thread: Arc::new(Mutex::new(Some(thread))),
            is_rich,
            is_stuck,
        })
    }

    /// Returns the printer for lines above the one that is being typed.
    pub fn printer(&self) -> &Printer {
        &self.printer
    }

    /// Returns true if Ctrl-C arrives as a [`Line`] and not as a signal.
    pub fn takes_keys(&self) -> bool {
        self.is_rich
    }

    /// Reads a line. Dropping the future releases the terminal.
    pub async fn read(&self, wanted: Wanted) -> Line {
        if let (Wanted::Command(prompt), true) = (&wanted, self.is_stuck.load(Ordering::Acquire)) {
            // A read that was given up is still blocked in stdin; its line becomes the next command.
            talk(prompt);
        }
        let (id, line) = self.ask(wanted);
        let mut given_up = BreakOffOnDrop(Some((&self.reading, id)));
        // If this future is dropped, the guard marks the request before the line is broken off.
        let line = line.await;
        given_up.0 = None;
        line.unwrap_or(Line::End)
    }

    /// Reads a line, from a thread that may block.
    pub fn read_blocking(&self, wanted: Wanted) -> Line {
        self.ask(wanted).1.blocking_recv().unwrap_or(Line::End)
    }

    /// Shows a text, and resumes a typed command that had to wait for questions.
    pub fn go_on(&self, said: String) {
        self.ask(Wanted::Nothing(said));
    }

    fn ask(&self, wanted: Wanted) -> (u64, oneshot::Receiver<Line>) {
        let (reply, line) = oneshot::channel();
        let is_urgent = !matches!(&wanted, Wanted::Nothing(said) if said.is_empty());
        let id = self.reading.send(is_urgent, |id| {
            let request = Request { id, wanted, reply };
            // If the thread is gone, `line` ends with an error, which counts as the end of the input.
            self.requests.send(request).ok();
        });
        (id, line)
    }

    /// Waits until the thread has restored the terminal.
    pub async fn close(self) {
        let thread = self.thread.lock();
        let thread = thread.unwrap_or_else(PoisonError::into_inner).take();
        let Self { requests, .. } = self;
        drop(requests);
        // Only a raw terminal must be restored before the process ends.
        let (Some(thread), true) = (thread, self.is_rich) else {
            // A thread that blocks on a pipe ends with the process.
            return;
        };
        let ended = tokio::task::spawn_blocking(move || drop(thread.join()));
        tokio::time::timeout(GIVING_BACK, ended).await.ok();
    }
}

/// Serves requests until all handles are dropped. `stuck` is set while a line is being read, for readers that
/// cannot be broken off.
fn serve(mut reader: Box<dyn ReadLine>, requests: &Receiver<Request>, stuck: Option<&AtomicBool>) {
    let mut kept = None;
    while let Ok(request) = requests.recv() {
        if request.is_given_up() && !matches!(request.wanted, Wanted::Nothing(_)) {
            continue;
        }
        let is_command = matches!(request.wanted, Wanted::Command(_));
        // A line that was typed after its requester was gone becomes the next command.
        let line = match kept.take_if(|_| is_command) {
            Some(line) => line,
            None => {
                let set = |is: bool| stuck.inspect(|stuck| stuck.store(is, Ordering::Release));
                set(true);
                let line = reader.read(&request, requests);
                set(false);
                line
            }
        };
        if let (Err(line @ Line::Typed(_)), true) = (request.reply.send(line), stuck.is_some()) {
            // The requester is gone: keep the line as the next command.
            kept = Some(line);
        }
    }
}

/// The kind of line editor.
pub enum EditorKind {
    /// With key bindings, completion and history.
    Rich(EditorSettings),
    /// Plain lines from stdin.
    Plain {
        /// True if the prompt is visible to a person.
        shows_prompt: bool,
    },
}

/// Breaks off a line whose requester was dropped.
struct BreakOffOnDrop<'a>(Option<(&'a Reading, u64)>);

impl Drop for BreakOffOnDrop<'_> {
    fn drop(&mut self) {
        if let Some((reading, id)) = self.0 {
            reading.give_up(id);
        }
    }
}
