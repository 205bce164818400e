//! The prompt: servers stay connected between commands, names complete, and events are shown meanwhile.
//!
//! One thread owns the terminal (`switchboard_console::editor`) and reads commands as well as answers to
//! questions. `input` parses a line; the commands are those of the command line, run on
//! servers that are open already.

mod complete;
mod greeting;
mod input;
mod news;
mod serve;
mod slash;
mod suggest;
mod words;

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use switchboard::transport::Environment;
use switchboard_console::board;
use switchboard_console::editor::{
    Editor, EditorKind, EditorSettings, Line, Remembered, TypeAhead, Wanted,
};

use complete::Names;
use input::Input;
use serve::OpenPrompt;

use crate::args::Repl;
use crate::ask::{self, is_attended};
use crate::daemon::Starter;
use crate::exit::Exit;
use crate::hosting::HostSource;
use crate::lifecycle::runtime;
use crate::output;
use crate::report::{Failure, Report};
use crate::role;
use crate::screen::{Screen, talk};
use crate::signals::{NoServersYet, Signal, Signals, mark_handled};
use crate::state;
use crate::style::Style;

/// A line that was submitted arrives within this time.
const JUST_TYPED: Duration = Duration::from_millis(250);

/// Opens the prompt, and runs it to its end.
pub(crate) fn run(args: &Repl) -> Exit {
    // Before anything asks a question: an agent must not answer one that is meant for the person.
    if let Some(agent) = &args.connection.acting.agent {
        role::set_agent(agent);
    }
    let environment = Environment::of_process();
    let screen = Screen::new(&args.connection, &environment);
    let done = runtime().and_then(|runtime| {
        let exit = runtime.block_on(converse(args, &environment, &screen));
        // Drops what is left of the tasks; a process whose handle is dropped is killed.
        runtime.shutdown_timeout(Duration::ZERO);
        exit
    });
    done.unwrap_or_else(|report| screen.fail(&report))
}

async fn converse(
    args: &Repl,
    environment: &Environment,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let _queueing = output::begin_queueing();
    // Named files may be pipes without a writer: until the host is open, the first signal ends the program.
    let opening = NoServersYet::begin();
    let mut signals = Signals::listen().map_err(|error| prompt_failure(&error))?;
    let names = Names::here();
    let kind = kind(environment, screen, &names);
    // Declared first, dropped last: restores the terminal when everything else has ended.
    let _type_ahead = matches!(kind, EditorKind::Rich(_)).then(TypeAhead::begin);
    let editor = Editor::start(kind).map_err(|error| prompt_failure(&error))?;
    // From here on all questions go through the editor.
    ask::use_editor(&editor);
    let source = HostSource {
        connection: &args.connection,
        environment,
        screen,
        adjust: None,
        starter: Starter::Daemon,
    };
    let mut prompt = OpenPrompt::open(source, &editor, &names)?;
    drop(opening);
    if is_attended() {
        prompt.greet();
    }
    let exit = listen(&mut prompt, &editor, &mut signals).await;
    // After a signal, output without a reader must not delay the end.
    if matches!(exit, Exit::Signal(_)) {
        output::stop();
    }
    let ending = async {
        prompt.close().await;
        output::drain().await;
    };
    let exit = tokio::select! {
        () = ending => exit,
        signal = signals.next() => {
            output::stop();
            Exit::Signal(signal.number)
        }
    };
    // Clones of the editor keep the terminal, so they are dropped before it is closed.
    drop(prompt);
    ask::release();
    editor.close().await;
    Ok(exit)
}

fn prompt_failure(error: &io::Error) -> Failure {
    Report::new(Exit::Internal, "internal", "the prompt could not be opened")
        .fact("the system says", error.to_string())
}

fn kind(environment: &Environment, screen: &Screen, names: &Names) -> EditorKind {
    if !is_attended() || !board::is_possible() {
        return EditorKind::Plain {
            shows_prompt: is_attended(),
        };
    }
    let secrets = screen.secrets();
    EditorKind::Rich(EditorSettings {
        completer: Box::new(names.clone()),
        // The history is the person's: an agent neither reads nor writes it.
        history: state::history(environment)
            .filter(|_| role::agent().is_none())
            .map(|file| Remembered {
                file,
                is_known: Arc::new(move |word| secrets.redact(word) != word),
            }),
        has_colour: Style::of_stderr().is_colourful(),
    })
}

/// Reads and runs commands until the end of the input.
async fn listen(prompt: &mut OpenPrompt<'_>, editor: &Editor, signals: &mut Signals) -> Exit {
    let mut failed = prompt.files_exit();
    let mut was_interrupted = false;
    loop {
        let next = next_line(prompt, editor, signals, &mut was_interrupted).await;
        let line = match next {
            Ok(Some(line)) => line,
            Ok(None) => {
                mark_handled();
                talk("cancelled\n");
                continue;
            }
            Err(signal) => return Exit::Signal(signal.number),
        };
        let input = match line {
            Line::Typed(line) => input::read(&line),
            // A second Ctrl-C in a row leaves.
            Line::Interrupted if was_interrupted => return Exit::Signal(Signal::INTERRUPT.number),
            Line::Interrupted => {
                was_interrupted = true;
                talk("(press Ctrl-C again, or Ctrl-D, to exit)\n");
                continue;
            }
            Line::End => return leave(prompt, failed),
        };
        was_interrupted = false;
        let done = match input {
            Ok(Input::Leave) => return leave(prompt, failed),
            Ok(input) => match obey(prompt, input, signals).await {
                Ok(done) => done,
                Err(signal) => return Exit::Signal(signal.number),
            },
            Err(report) => prompt.fail(report),
        };
        // A script gets the exit code of the first failure.
        if failed == Exit::Ok {
            failed = done;
        }
    }
}

/// Returns the exit code at the end: a script gets that of the first command that failed.
fn leave(prompt: &OpenPrompt<'_>, failed: Exit) -> Exit {
    if is_attended() {
        prompt.files_exit()
    } else {
        failed
    }
}

/// Waits for a line. Returns `None` if it was cancelled right after it was submitted, and the signal if one
/// ends the prompt.
async fn next_line(
    prompt: &mut OpenPrompt<'_>,
    editor: &Editor,
    signals: &mut Signals,
    was_interrupted: &mut bool,
) -> Result<Option<Line>, Signal> {
    let mut line = pin!(editor.read(Wanted::Command(prompt.text())));
    loop {
        let signal = tokio::select! {
            line = &mut line => return Ok(Some(line)),
            signal = signals.stopping() => signal,
            // Between commands alone: a command that runs keeps the servers that it began with.
            news = prompt.file_news() => {
                prompt.take_files(news);
                continue;
            }
        };
        if signal == Signal::INTERRUPT && editor.takes_keys() {
            // While a line is typed, Ctrl-C is a key and not a signal: it was pressed right after Enter, or
            // another process has sent it.
            let typed = tokio::time::timeout(JUST_TYPED, &mut line).await;
            return typed.map(|_| None).map_err(|_| signal);
        }
        let is_key = signal == Signal::INTERRUPT && is_attended();
        if !is_key || *was_interrupted {
            return Err(signal);
        }
        *was_interrupted = true;
        mark_handled();
        talk(&format!(
            "\n(press Ctrl-C again, or Ctrl-D, to exit)\n{}",
            prompt.text()
        ));
    }
}

/// Runs a parsed line. Ctrl-C cancels it, on the wire too; any other signal ends the prompt.
async fn obey(
    prompt: &mut OpenPrompt<'_>,
    input: Input,
    signals: &mut Signals,
) -> Result<Exit, Signal> {
    let reason = prompt.reason();
    let has_own_servers = prompt.has_own_servers(&input);
    let mut work = pin!(async {
        let done = prompt.obey(input).await;
        // Wait for the output, so that the next prompt is below it.
        output::drain().await;
        done
    });
    let mut is_delegated = false;
    loop {
        let signal = tokio::select! {
            // A result that is ready is shown even if a signal arrived in the same moment.
            biased;
            done = &mut work => {
                if is_delegated {
                    mark_handled();
                }
                return Ok(done);
            }
            signal = signals.stopping() => signal,
        };
        if signal != Signal::INTERRUPT {
            reason.set(format!("the user's client was stopped by {}", signal.name));
            return Err(signal);
        }
        // A question is left before the command that it belongs to; a command with servers of its own handles
        // signals.
        if ask::interrupt() {
            mark_handled();
        } else if has_own_servers {
            is_delegated = true;
        } else {
            reason.set("cancelled by the user");
            ask::give_up();
            mark_handled();
            output::discard();
            talk("\ncancelled\n");
            return Ok(Exit::Signal(signal.number));
        }
    }
}
