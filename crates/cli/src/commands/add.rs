//! `switchboard add`: writes an entry to a config file, and approves it at once if the file is a project's:
//! the person has just typed it.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use switchboard::config::edit::Change;
use switchboard::config::{Config, Entry, secrets_in_clear};
use switchboard::spec::ServerName;

use crate::approvals::{Approval, Approvals};
use crate::args::Add;
use crate::editing::{Done, change, is_of};
use crate::exit::Exit;
use crate::problems;
use crate::report::{Failure, Report};
use crate::scope::{Files, Goal, place, server_name};
use crate::screen::Screen;

/// Writes a server to a config file.
pub(crate) fn run(args: &Add) -> Exit {
    let screen = Screen::plain(args.json);
    screen.finish(add(args, &screen))
}

fn add(args: &Add, screen: &Screen) -> Result<(), Failure> {
    let name = server_name(&args.name)?;
    let mut files = Files::read(args.target.config.as_deref())?;
    // The file first: how paths and secrets are written depends on its layer.
    let goal = files.goal(&args.target)?;
    let entry = describe(args, &goal)?;
    // Check before writing: the file must not get an entry that cannot be read back.
    let (typed, mut warnings) = check_entry(&name, &entry, &goal)?;
    warnings.extend(
        secrets_in_clear(&entry)
            .iter()
            .map(|what| exposure_warning(what, &goal)),
    );
    // Looked up before the edit, to say "added" or "replaced".
    let had = files.config.get(name.as_str());
    let had = had.is_some_and(|entry| is_of(entry, &goal));
    // The file is written before the approval: approving what a failed write left out would be wrong.
    change(
        &goal,
        &Change::Add {
            name: name.clone(),
            entry: entry.into(),
            replace: args.replace,
        },
    )?;
    // Reload: the approval is given to what the file says now, not to what was typed.
    files.again();
    let word = if had { "replaced" } else { "added" };
    let mut done = Done::new(name, word, &goal);
    done.warnings = warnings;
    let approved = settle(&files, &goal, &typed, &mut done);
    let file = goal.file.display();
    let mut line = match word {
        "added" => format!("added {} to {file}", done.server),
        _ => format!("replaced {} in {file}", done.server),
    };
    if done.approval == Approval::Given {
        line.push_str(" and approved it as it was typed");
    }
    problems::mention(&files.config, screen);
    done.print(&line, screen)?;
    approved
}

/// Approves an entry that was typed into a project's file, if the file now says exactly what was typed.
fn settle(files: &Files, goal: &Goal, typed: &Entry, done: &mut Done) -> Result<(), Failure> {
    if goal.layer.needs_approval() {
        done.approval = Approval::New;
    }
    // If the whole file is refused, the caller reports that.
    let Some(entry) = files.config.get(done.server.as_str()) else {
        return Ok(());
    };
    // Written, but another file wins here.
    if !is_of(entry, goal) {
        let place = place(entry.origin());
        let note = format!("it is not used here: {place} defines a server of the same name");
        done.warnings.push(note);
        return Ok(());
    }
    done.origin = entry.origin().clone();
    let hidden = entry.shadows().iter();
    done.notes.extend(hidden.map(|origin| {
        let place = place(origin);
        format!("here it replaces the server of the same name in {place}")
    }));
    if !goal.layer.needs_approval() {
        return Ok(());
    }
    // The file's `defaults` may have come with a clone, and were not typed by the person.
    // Compared without the name, which a file with a list of servers keeps inside the entry.
    if without_name(entry.value()) != without_name(typed.value()) {
        let name = &done.server;
        done.warnings.push(format!(
            "it is not approved, because `defaults` of the file add to it: \
             see `switchboard trust show {name}`"
        ));
        return Ok(());
    }
    let approvals = Approvals::of(&files.config, &files.environment)?;
    if let Some(claim) = approvals.claim(entry)? {
        approvals.approve(&claim)?;
        done.approval = Approval::Given;
        done.fingerprint = Some(claim.fingerprint());
    }
    Ok(())
}

/// Returns an entry without its `name` member, which it has in files that keep servers in a list.
fn without_name(entry: &Value) -> Value {
    let mut entry = entry.clone();
    if let Some(members) = entry.as_object_mut() {
        members.remove("name");
    }
    entry
}

/// Builds the entry to write, as it was typed.
fn describe(args: &Add, goal: &Goal) -> Result<Map<String, Value>, Failure> {
    let mut entry = Map::new();
    let kind = args.transport.map(|transport| transport.to_string());
    let mut put = |key: &str, value: Value| entry.insert(key.to_owned(), value);
    match (&args.url, args.command.split_first()) {
        // clap refuses a URL together with a command.
        (Some(url), _) => {
            put("type", kind.unwrap_or_else(|| "http".to_owned()).into());
            put("url", url.as_str().into());
            let headers = headers(&args.header)?;
            if !headers.is_empty() {
                put("headers", headers.into());
            }
        }
        (None, Some((command, rest))) => {
            put("type", kind.unwrap_or_else(|| "stdio".to_owned()).into());
            // Only a path is made absolute; a bare name is looked up in PATH when the server starts.
            let command = if command.contains('/') || command.contains('\\') {
                path_for_file(command, goal)?
            } else {
                command.clone()
            };
            put("command", command.into());
            if !rest.is_empty() {
                put("args", rest.into());
            }
            let variables = variables(&args.env)?;
            if !variables.is_empty() {
                put("env", variables.into());
            }
            if !args.env_passthrough.is_empty() {
                put("env_passthrough", args.env_passthrough.clone().into());
            }
            if let Some(folder) = &args.cwd {
                put("cwd", path_for_file(folder, goal)?.into());
            }
        }
        (None, None) => {
            return Err(Report::usage("no command and no URL given")
                .hint("write its command after --, such as: add time -- uvx mcp-server-time")
                .hint("or its URL with --url URL"));
        }
    }
    if args.disabled {
        put("disabled", true.into());
    }
    Ok(entry)
}

/// Returns a path in the form that the file needs. A typed path is relative to the current folder; paths in a
/// project's file are too, all others are made absolute.
fn path_for_file(path: &str, goal: &Goal) -> Result<String, Failure> {
    // A project's paths stay relative: the folder moves with its clone.
    if goal.layer.needs_approval() || path.starts_with("${") {
        return Ok(path.to_owned());
    }
    let whole = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
    // `components` also drops `.` parts.
    let whole: PathBuf = whole.components().collect();
    let whole = whole.into_os_string().into_string();
    whole.map_err(|_| Report::usage("the path of the current folder is not valid Unicode"))
}

fn variables(words: &[String]) -> Result<Map<String, Value>, Failure> {
    let mut variables = Map::new();
    for word in words {
        let Some((name, value)) = word.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(Report::usage("--env must be NAME=VALUE")
                .hint("to pass on a variable of this shell, use --env-passthrough NAME"));
        };
        if variables.insert(name.to_owned(), value.into()).is_some() {
            return Err(Report::usage(format!("--env sets {name} twice")));
        }
    }
    Ok(variables)
}

fn headers(words: &[String]) -> Result<Map<String, Value>, Failure> {
    let mut headers: Map<String, Value> = Map::new();
    for word in words {
        let Some((name, value)) = word.split_once(':') else {
            return Err(Report::usage("--header must be \"NAME: VALUE\"")
                .hint("write it like -H 'Authorization: Bearer ${TOKEN}'"));
        };
        let (name, value) = (name.trim(), value.trim());
        if value.is_empty() {
            // The value is probably the next word: the shell split an unquoted header.
            let report = Report::usage("a header is one word: put quotes around it");
            return Err(report.hint("write it like -H 'Authorization: Bearer ${TOKEN}'"));
        }
        // Names of headers do not differ in case.
        if headers.keys().any(|known| known.eq_ignore_ascii_case(name)) {
            return Err(Report::usage(format!("--header has {name:?} twice")));
        }
        headers.insert(name.to_owned(), value.into());
    }
    Ok(headers)
}

/// Parses the typed entry as a config file of its own, and returns it with its warnings.
///
/// # Errors
/// Returns a usage error if it is not a valid entry.
fn check_entry(
    name: &ServerName,
    entry: &Map<String, Value>,
    goal: &Goal,
) -> Result<(Entry, Vec<String>), Failure> {
    // The config reader is the only validator, so the entry is read as if it were in a file.
    let text = json!({"mcpServers": {name.as_str(): entry}}).to_string();
    let config = Config::read(&text, Path::new("typed.json"), goal.layer.clone());
    let prefix = format!("server {:?}: ", name.as_str());
    let bare = |message: &str| message.strip_prefix(&prefix).unwrap_or(message).to_owned();
    if let Some(entry) = config.get(name.as_str()) {
        let problems = config.problems().iter();
        let warnings = problems.map(|problem| {
            let hints = problem.hints().iter().map(|hint| format!(": {hint}"));
            format!("{}{}", bare(problem.message()), hints.collect::<String>())
        });
        return Ok((entry.clone(), warnings.collect()));
    }
    let Some(problem) = config.bad(name.as_str()) else {
        return Err(Report::usage("the server's description is not valid"));
    };
    let mut report = Report::usage(bare(problem.message()));
    if let Some(expected) = problem.expected() {
        report = report.fact("expected", expected);
    }
    for hint in problem.hints() {
        report = report.hint(hint);
    }
    Err(report)
}

/// Words the warning that a secret is written in clear, without showing its value.
pub(crate) fn exposure_warning(what: &str, goal: &Goal) -> String {
    let name = what.strip_prefix("the variable ").unwrap_or("NAME");
    format!(
        "{what} looks like a secret and is in {} in clear text: write '${{{name}}}' instead, \
         and set the variable where switchboard runs",
        goal.file.display()
    )
}
