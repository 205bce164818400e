//! A line editor: keys, names that complete, a history.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use reedline::{
    ColumnarMenu, Emacs, ExternalPrinter, KeyCode, KeyModifiers, MenuBuilder as _, Prompt,
    PromptEditMode, PromptHistorySearch, Reedline, ReedlineEvent, ReedlineMenu, Signal,
    default_emacs_keybindings,
};

use super::complete::Names;
use super::editor::{Line, Read, Request, Waiting, Wanted};
use super::history::{self, Remembered};
use super::plain::Plain;
use super::printer::{Printer, Typing};

/// How often it is looked whether there is something to print.
const LOOK: Duration = Duration::from_millis(50);
const MENU: &str = "names";

/// What the editor is told once.
pub(crate) struct Known {
    pub(crate) names: Names,
    pub(crate) history: Option<Remembered>,
    pub(crate) has_colour: bool,
}

/// The line editor.
pub(crate) struct Rich {
    commands: Reedline,
    answers: Reedline,
    printer: Printer,
    /// What is done where the terminal turns out to be none.
    fallback: Option<Plain>,
}

impl Rich {
    pub(super) fn new(
        known: &Known,
        (printer, lines): (&Printer, ExternalPrinter<String>),
        interrupt: &Arc<AtomicBool>,
    ) -> Self {
        let base = || {
            Reedline::create()
                .with_ansi_colors(known.has_colour)
                .with_poll_interval(LOOK)
                .with_break_signal(Arc::clone(interrupt))
        };
        let mut keys = default_emacs_keybindings();
        let complete = ReedlineEvent::UntilFound(vec![
            ReedlineEvent::Menu(MENU.to_owned()),
            ReedlineEvent::MenuNext,
        ]);
        keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, complete);
        let menu = ColumnarMenu::default().with_name(MENU);
        let mut commands = base()
            .with_external_printer(lines)
            .with_completer(Box::new(known.names.clone()))
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
            .with_quick_completions(true)
            .with_partial_completions(true)
            .with_edit_mode(Box::new(Emacs::new(keys)))
            .with_history_exclusion_prefix(Some(" ".to_owned()));
        if let Some(history) = history::open(known.history.as_ref()) {
            commands = commands.with_history(history);
        }
        Self {
            commands,
            answers: base(),
            printer: printer.clone(),
            fallback: None,
        }
    }

    fn answer(&mut self, request: Request) {
        self.printer.set(Typing::Answer);
        let line = loop {
            match self.answers.read_line(&Text(request.wanted.text())) {
                Ok(Signal::Success(line)) => break Line::Typed(line),
                Ok(Signal::CtrlC) => break Line::Interrupted,
                Ok(Signal::ExternalBreak(_)) if !request.reply.is_closed() => {}
                Ok(_) | Err(_) => break Line::End,
            }
        };
        request.reply.send(line).ok();
        self.printer.set(Typing::Command);
    }
}

impl Read for Rich {
    fn read(&mut self, wanted: &Wanted, waiting: &Waiting<'_>) -> Line {
        if let Some(plain) = &mut self.fallback {
            return plain.read(wanted, waiting);
        }
        self.printer.set(match wanted {
            Wanted::Command(_) => Typing::Command,
            Wanted::Answer(_) => Typing::Answer,
        });
        let line = loop {
            let line = match wanted {
                Wanted::Command(_) => &mut self.commands,
                Wanted::Answer(_) => &mut self.answers,
            };
            match line.read_line(&Text(wanted.text())) {
                Ok(Signal::Success(line)) => break Line::Typed(line),
                Ok(Signal::CtrlC) => break Line::Interrupted,
                Ok(Signal::CtrlD) => break Line::End,
                Ok(_) if waiting.reply.is_closed() => break Line::End,
                // A question has come up: it is answered, and the line goes on as it was.
                Ok(_) => {
                    while let Ok(request) = waiting.requests.try_recv() {
                        self.answer(request);
                    }
                }
                Err(_) => {
                    self.printer.set(Typing::Nothing);
                    let mut plain = Plain { shows_prompt: true };
                    let line = plain.read(wanted, waiting);
                    self.fallback = Some(plain);
                    break line;
                }
            }
        };
        self.printer.set(Typing::Nothing);
        line
    }
}

impl Wanted {
    fn text(&self) -> &str {
        match self {
            Self::Command(text) | Self::Answer(text) => text,
        }
    }
}

/// A prompt that is nothing but its text.
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
