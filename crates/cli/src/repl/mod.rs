//! A prompt: servers stay connected between commands, names complete, and what happens meanwhile is told.
//!
//! One thread owns the terminal (`editor`, with `rich` and `plain` behind it) and reads commands and answers
//! to questions alike. `input` says what a line means; the verbs are those of the command line, done on
//! servers that are open already.

mod complete;
mod editor;
mod greeting;
mod history;
mod input;
mod news;
mod plain;
mod printer;
mod reading;
mod rich;
mod serve;
mod slash;
mod suggest;
mod terminal;
mod words;

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use switchboard::transport::Environment;

pub(crate) use editor::{Editor, Line, Wanted};
#[cfg(unix)]
pub(crate) use terminal::restore as restore_terminal;

use complete::Names;
use editor::Kind;
use history::Remembered;
use input::Input;
use rich::Known;
use serve::Prompt;
use terminal::Waiting;

use crate::args::Repl;
use crate::ask::{self, is_attended};
use crate::attend::runtime;
use crate::exit::Exit;
use crate::hosting::HostSource;
use crate::live;
use crate::output;
use crate::report::{Failure, Report};
use crate::role;
use crate::screen::{Screen, talk};
use crate::signals::{NoServersYet, Signal, Signals, obeyed};
use crate::state;
use crate::style::Style;

/// A line that was typed is there within this time.
const JUST_TYPED: Duration = Duration::from_millis(250);

/// Opens a prompt.
pub(crate) fn run(args: &Repl) -> Exit {
    // Before anything asks a question: an agent answers none that is meant for the person.
    if let Some(agent) = &args.connection.acting.agent {
        role::keep(agent);
    }
    let environment = Environment::of_process();
    let screen = Screen::new(&args.connection, &environment);
    let done = runtime().and_then(|runtime| {
        let exit = runtime.block_on(converse(args, &environment, &screen));
        // What is still there is dropped here, and a process that is dropped is killed.
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
    let _attending = output::attend();
    // Files that were named may be pipes that nobody writes to.
    let opening = NoServersYet::begin();
    let mut signals = Signals::listen().map_err(|error| broken(&error))?;
    let names = Names::here();
    let kind = kind(environment, screen, &names);
    // The terminal is as it was when everything else has ended.
    let _waiting = matches!(kind, Kind::Rich(_)).then(Waiting::begin);
    let editor = Editor::start(kind).map_err(|error| broken(&error))?;
    ask::through(&editor);
    let source = HostSource {
        connection: &args.connection,
        environment,
        screen,
    };
    let mut prompt = Prompt::open(source, &editor, &names)?;
    drop(opening);
    if is_attended() {
        prompt.greet();
    }
    let exit = listen(&mut prompt, &editor, &mut signals).await;
    if matches!(exit, Exit::Signal(_)) {
        output::stop();
    }
    let ending = async {
        prompt.close().await;
        output::written().await;
    };
    let exit = tokio::select! {
        () = ending => exit,
        signal = signals.next() => {
            output::stop();
            Exit::Signal(signal.number)
        }
    };
    // Whoever still has the editor keeps the terminal.
    drop(prompt);
    ask::release();
    editor.close().await;
    Ok(exit)
}

fn broken(error: &io::Error) -> Failure {
    Report::new(Exit::Internal, "internal", "the prompt could not be opened")
        .fact("the system says", error.to_string())
}

fn kind(environment: &Environment, screen: &Screen, names: &Names) -> Kind {
    if !is_attended() || !live::is_possible() {
        return Kind::Plain {
            shows_prompt: is_attended(),
        };
    }
    let secrets = screen.secrets();
    Kind::Rich(Known {
        names: names.clone(),
        // What was typed before is the person's, and an agent writes nothing into it.
        history: state::history(environment)
            .filter(|_| role::kept().is_none())
            .map(|file| Remembered {
                file,
                is_known: Arc::new(move |word| secrets.redact(word) != word),
            }),
        has_colour: Style::of_stderr().is_colourful(),
    })
}

/// Reads commands and does them, until there are no more.
async fn listen(prompt: &mut Prompt<'_>, editor: &Editor, signals: &mut Signals) -> Exit {
    let mut failed = prompt.files_exit();
    let mut was_interrupted = false;
    loop {
        let next = next_line(prompt, editor, signals, &mut was_interrupted).await;
        let line = match next {
            Ok(Some(line)) => line,
            Ok(None) => {
                obeyed();
                talk("cancelled\n");
                continue;
            }
            Err(signal) => return Exit::Signal(signal.number),
        };
        let input = match line {
            Line::Typed(line) => input::read(&line),
            Line::Interrupted if was_interrupted => return Exit::Signal(Signal::INTERRUPT.number),
            Line::Interrupted => {
                was_interrupted = true;
                talk("(Ctrl-C again, or Ctrl-D, leaves)\n");
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
        if failed == Exit::Ok {
            failed = done;
        }
    }
}

/// What is returned by who leaves: a script is told of the first thing that failed.
fn leave(prompt: &Prompt<'_>, failed: Exit) -> Exit {
    match is_attended() {
        true => prompt.files_exit(),
        false => failed,
    }
}

/// Waits for a line: nothing where it was given up before it could be obeyed. A signal that is no key of
/// a terminal ends it.
async fn next_line(
    prompt: &Prompt<'_>,
    editor: &Editor,
    signals: &mut Signals,
    was_interrupted: &mut bool,
) -> Result<Option<Line>, Signal> {
    let mut line = pin!(editor.read(Wanted::Command(prompt.text())));
    loop {
        let signal = tokio::select! {
            line = &mut line => return Ok(Some(line)),
            signal = signals.stopping() => signal,
        };
        if signal == Signal::INTERRUPT && editor.takes_keys() {
            // While a line is typed, Ctrl-C is no signal: it was pressed just after Enter, or somebody
            // else has sent it.
            let typed = tokio::time::timeout(JUST_TYPED, &mut line).await;
            return typed.map(|_| None).map_err(|_| signal);
        }
        let is_key = signal == Signal::INTERRUPT && is_attended();
        if !is_key || *was_interrupted {
            return Err(signal);
        }
        *was_interrupted = true;
        obeyed();
        talk(&format!(
            "\n(Ctrl-C again, or Ctrl-D, leaves)\n{}",
            prompt.text()
        ));
    }
}

/// Does what a line says. Ctrl-C gives it up, on the wire too; any other signal ends everything.
async fn obey(
    prompt: &mut Prompt<'_>,
    input: Input,
    signals: &mut Signals,
) -> Result<Exit, Signal> {
    let reason = prompt.reason();
    let is_by_itself = prompt.is_by_itself(&input);
    let mut work = pin!(async {
        let done = prompt.obey(input).await;
        // The next line is typed below what is shown by now.
        output::written().await;
        done
    });
    let mut is_left_to_it = false;
    loop {
        let signal = tokio::select! {
            // A result that is there is shown, whatever else has come.
            biased;
            done = &mut work => {
                if is_left_to_it {
                    obeyed();
                }
                return Ok(done);
            }
            signal = signals.stopping() => signal,
        };
        if signal != Signal::INTERRUPT {
            reason.set(format!("the user's client was stopped by {}", signal.name));
            return Err(signal);
        }
        // A question is left before what it is about; a verb that has servers of its own listens itself.
        if ask::interrupt() {
            obeyed();
        } else if is_by_itself {
            is_left_to_it = true;
        } else {
            reason.set("the user has cancelled it");
            ask::give_up();
            obeyed();
            output::discard();
            talk("\ncancelled\n");
            return Ok(Exit::Signal(signal.number));
        }
    }
}
