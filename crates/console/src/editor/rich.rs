//! The line editor: key bindings, completion, history.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use reedline::{
    ColumnarMenu, Completer, EditCommand, Emacs, ExternalPrinter, Highlighter, KeyCode,
    KeyModifiers, MenuBuilder as _, Prompt, PromptEditMode, PromptHistorySearch, Reedline,
    ReedlineEvent, ReedlineMenu, Signal, StyledText, default_emacs_keybindings,
};

use super::history::{self, Remembered};
use super::plain::Plain;
use super::printer::{Printer, Typing};
use super::reading::{Instead, Reading};
use super::type_ahead;
use super::{Line, ReadLine, Request, Wanted};
use crate::talk;

/// Interval at which the editor looks for lines to print.
const LOOK: Duration = Duration::from_millis(50);
const MENU: &str = "names";
/// A question that arrives within this time after one was withdrawn counts as its replacement.
const REPLACED: Duration = Duration::from_secs(2);
/// Time that a person needs to notice the replacement.
const NOTICED: Duration = Duration::from_millis(700);

/// Settings of the line editor.
pub struct EditorSettings {
    /// Completes words of commands.
    pub completer: Box<dyn Completer + Send>,
    /// The history of commands; without one, nothing is remembered.
    pub history: Option<Remembered>,
    /// True if the terminal shows colours.
    pub has_colour: bool,
}

/// The line editor, with separate instances for commands and for answers: answers have no history and no
/// completion.
pub(super) struct Rich {
    commands: Reedline,
    answers: Reedline,
    printer: Printer,
    reading: Arc<Reading>,
    /// True while the command that is being typed is not empty.
    typed: Arc<AtomicBool>,
    /// Time at which a question was last withdrawn.
    taken_back: Option<Instant>,
    /// Reader to use once the terminal has turned out to be unusable.
    fallback: Option<Plain>,
}

impl Rich {
    pub(super) fn new(
        settings: EditorSettings,
        printer: &Printer,
        lines: ExternalPrinter<String>,
        reading: &Arc<Reading>,
    ) -> Self {
        let base = || {
            Reedline::create()
                .with_ansi_colors(settings.has_colour)
                .with_poll_interval(LOOK)
                .with_break_signal(reading.flag())
        };
        let mut keys = default_emacs_keybindings();
        // Tab opens the menu, and then moves in it.
        let complete = ReedlineEvent::UntilFound(vec![
            ReedlineEvent::Menu(MENU.to_owned()),
            ReedlineEvent::MenuNext,
        ]);
        keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, complete);
        // Completion, menu and history are for commands only.
        let menu = ColumnarMenu::default().with_name(MENU);
        let typed = Arc::new(AtomicBool::new(false));
        let mut commands = base()
            .with_external_printer(lines)
            .with_highlighter(Box::new(TypedLine(Arc::clone(&typed))))
            .with_completer(settings.completer)
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
            .with_quick_completions(true)
            .with_partial_completions(true)
            .with_edit_mode(Box::new(Emacs::new(keys)))
            .with_history_exclusion_prefix(Some(" ".to_owned()));
        if let Some(history) = history::open(settings.history.as_ref()) {
            commands = commands.with_history(history);
        }
        Self {
            commands,
            answers: base(),
            printer: printer.clone(),
            reading: Arc::clone(reading),
            typed,
            taken_back: None,
            fallback: None,
        }
    }

    /// Reads a command. Questions that arrive meanwhile are answered first; then the typed line is resumed.
    fn command(&mut self, request: &Request, requests: &Receiver<Request>) -> io::Result<Line> {
        let Wanted::Command(prompt) = &request.wanted else {
            return Ok(Line::End);
        };
        loop {
            // Lines printed from now on go above the command.
            self.printer.set(Typing::Command);
            match self.reading.begin(request, requests) {
                Ok(()) => {}
                Err(Instead::GiveUp) => return Ok(Line::End),
                Err(Instead::Question(question)) => {
                    self.questions(question, requests)?;
                    continue;
                }
            }
            match self.commands.read_line(&Text(prompt))? {
                Signal::Success(line) => return Ok(Line::Typed(line)),
                // On a typed line Ctrl-C only clears it.
                Signal::CtrlC if self.typed.swap(false, Ordering::AcqRel) => self.reading.end(),
                Signal::CtrlC => return Ok(Line::Interrupted),
                Signal::CtrlD => return Ok(Line::End),
                _ => self.reading.end(),
            }
        }
    }

    /// Answers a series of questions, until the conversation that asks them is over.
    fn questions(&mut self, first: Request, requests: &Receiver<Request>) -> io::Result<()> {
        let mut next = Ok(first);
        let mut goes_on = false;
        while let Ok(request) = next {
            match &request.wanted {
                Wanted::Nothing(said) => {
                    talk(said);
                    return Ok(());
                }
                Wanted::Answer { goes_on: more, .. } => goes_on |= *more,
                // Cannot happen: the command is waiting already.
                Wanted::Command(_) => {}
            }
            let line = self.answer(&request, requests)?;
            request.reply.send(line).ok();
            if !goes_on {
                return Ok(());
            }
            next = requests.recv();
        }
        Ok(())
    }

    /// Reads an answer.
    fn answer(&mut self, request: &Request, requests: &Receiver<Request>) -> io::Result<Line> {
        let Wanted::Answer {
            before, question, ..
        } = &request.wanted
        else {
            return Ok(Line::End);
        };
        self.printer.set(Typing::Answer);
        if self.reading.begin(request, requests).is_err() {
            return Ok(Line::End);
        }
        if self
            .taken_back
            .take()
            .is_some_and(|at| at.elapsed() < REPLACED)
        {
            // The next keys were meant for the previous question: wait, and drop them.
            std::thread::sleep(NOTICED);
            type_ahead::forget();
        }
        // Shown after the delay, directly above the question.
        talk(before);
        let line = match self.answers.read_line(&Text(question))? {
            Signal::Success(line) => Line::Typed(line),
            Signal::CtrlC => Line::Interrupted,
            _ => {
                // Withdrawn: clear the input, which is not an answer to another question.
                self.answers.run_edit_commands(&[EditCommand::Clear]);
                self.taken_back = Some(Instant::now());
                Line::End
            }
        };
        self.reading.end();
        Ok(line)
    }
}

impl ReadLine for Rich {
    fn read(&mut self, request: &Request, requests: &Receiver<Request>) -> Line {
        if let Some(plain) = &mut self.fallback {
            return plain.read(request, requests);
        }
        let line = match &request.wanted {
            Wanted::Command(_) => self.command(request, requests),
            Wanted::Answer { .. } => self.answer(request, requests),
            Wanted::Nothing(said) => {
                talk(said);
                Ok(Line::End)
            }
        };
        self.reading.end();
        self.printer.set(Typing::Nothing);
        line.unwrap_or_else(|_| {
            let mut plain = Plain { shows_prompt: true };
            let line = plain.read(request, requests);
            // Reedline cannot use this terminal: stay with plain lines from now on.
            self.fallback = Some(plain);
            line
        })
    }
}

/// Shows the line as it is, and notes whether there is one: the editor clears it before it reports Ctrl-C.
struct TypedLine(Arc<AtomicBool>);

impl Highlighter for TypedLine {
    fn highlight(&self, line: &str, _: usize) -> StyledText {
        self.0.store(!line.is_empty(), Ordering::Release);
        let mut text = StyledText::new();
        text.push((Default::default(), line.to_owned()));
        text
    }
}

/// A prompt that consists of its text.
struct Text<'a>(&'a str);

impl Prompt for Text<'_> {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("> ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("(search: {}) ", search.term))
    }
}
