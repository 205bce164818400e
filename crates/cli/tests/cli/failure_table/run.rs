//! Runs a case, and says what is not as it must be.

use std::io::Read;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use super::stage::{SELF, Stage};
use super::{Case, snapshot};

/// What a machine that has much else to do may take beside the deadline. Whoever takes longer hangs.
const LOAD: Duration = Duration::from_secs(10);

/// What a run said.
struct Said {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// What is not as it must be.
pub(super) fn complaints(case: &Case, is_json: bool) -> Vec<String> {
    let mode = if is_json { "json" } else { "text" };
    let Some(said) = ran(case, is_json) else {
        return vec![format!(
            "{} ({mode}): it was not over within its deadline of {} s, with {LOAD:?} for the machine",
            case.name, case.deadline
        )];
    };
    let mut complaints = Vec::new();
    let mut hold = |holds: bool, what: String| {
        if !holds {
            complaints.push(what);
        }
    };
    let (exit, kind) = case.exit;
    hold(
        said.code == Some(exit),
        format!("exit {:?}, not {exit}", said.code),
    );
    hold(
        said.stdout.is_empty(),
        format!("on stdout: {}", said.stdout),
    );
    if is_json {
        hold_json(case, kind, &said.stderr, &mut hold);
    } else {
        hold_text(case, &said.stderr, &mut hold);
        let differs = snapshot::differs(case.name, &said.stderr);
        hold(differs.is_none(), differs.unwrap_or_default());
    }
    let told = said.stderr;
    let complaints = complaints.into_iter();
    complaints
        .map(|what| format!("{} ({mode}): {what}\n--- it said:\n{told}", case.name))
        .collect()
}

fn hold_text(case: &Case, stderr: &str, hold: &mut dyn FnMut(bool, String)) {
    let report = stderr.find("error: ").map_or("", |at| &stderr[at..]);
    let title = report.lines().next().unwrap_or_default();
    let title = title.trim_start_matches("error: ");
    hold(title == case.title, format!("the title is {title:?}"));
    for shown in case.shows {
        hold(stderr.contains(shown), format!("{shown:?} is not told"));
    }
    if let Some((file, line, layer)) = case.place {
        let file = report.lines().find(|text| {
            text.starts_with(&format!("  file: {file}:{line}"))
                && text.ends_with(&format!(" ({layer})"))
        });
        hold(file.is_some(), "the file and line are not told".to_owned());
    }
    let (_, steps) = report.split_once("  what to do:\n").unwrap_or_default();
    hold(
        steps.contains(case.step),
        format!("{:?} is not to be done", case.step),
    );
    hold(steps.contains('`'), "nothing is to be pasted".to_owned());
}

fn hold_json(case: &Case, kind: &str, stderr: &str, hold: &mut dyn FnMut(bool, String)) {
    let Ok(report) = serde_json::from_str::<Value>(stderr) else {
        return hold(false, "that is not one JSON object".to_owned());
    };
    hold(
        report["exit"] == case.exit.0,
        format!("exit is {}", report["exit"]),
    );
    hold(
        report["kind"] == kind,
        format!("the kind is {}", report["kind"]),
    );
    hold(
        report["message"] == case.title,
        format!("the message is {}", report["message"]),
    );
    let told = told(&report);
    for shown in case.shows {
        // A warning is for people, and stands before the report.
        let is_warning = shown.starts_with("warning: ");
        let is_told = is_warning || told.iter().any(|text| text.contains(shown));
        hold(is_told, format!("{shown:?} is not told"));
    }
    if let Some((file, line, layer)) = case.place {
        let source = &report["source"];
        hold(
            source["file"] == file && source["line"] == line && source["layer"] == layer,
            format!("the source is {source}"),
        );
        hold(source["column"].is_u64(), format!("the source is {source}"));
    }
    let steps = texts(&report["hints"]);
    let is_step = steps.iter().any(|step| step.contains(case.step));
    hold(
        is_step,
        format!("{:?} is not to be done: {steps:?}", case.step),
    );
}

/// Facts, evidence and causes, as the text has them.
fn told(report: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut told = vec![text(&report["message"])];
    for fact in list(&report["facts"]) {
        told.push(format!("{}: {}", text(&fact["name"]), text(&fact["value"])));
    }
    for evidence in list(&report["evidence"]) {
        told.push(text(&evidence["title"]));
        told.extend(texts(&evidence["lines"]));
    }
    told.extend(texts(&report["causes"]));
    told
}

fn texts(value: &Value) -> Vec<String> {
    let all = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts = all.iter().filter_map(|text| text.as_str());
    texts.map(str::to_owned).collect()
}

/// Makes the case and runs the binary; nothing where it had to be killed.
fn ran(case: &Case, is_json: bool) -> Option<Said> {
    let stage = Stage::new();
    let made = (case.make)(&stage);
    let mut args: Vec<&str> = made.args.iter().map(String::as_str).collect();
    let deadline = format!("{}s", case.deadline);
    args.extend(["--timeout", &deadline]);
    if is_json {
        args.push("--json");
    }
    let mut command = stage.home().command(&args);
    command.envs(made.variables.iter().map(|(name, value)| (name, value)));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (stdout, stderr) = (read(child.stdout.take()), read(child.stderr.take()));
    let limit = Duration::from_secs(case.deadline) + LOAD;
    let code = wait(child, limit)?;
    let filtered = |said: mpsc::Receiver<String>| {
        let said = said.recv().unwrap().replace(SELF, "[switchboard]");
        snapshot::filtered(&stage.home().hide(&said))
    };
    Some(Said {
        code,
        stdout: filtered(stdout),
        stderr: filtered(stderr),
    })
}

fn read(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (send, said) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        pipe.unwrap().read_to_string(&mut text).unwrap();
        // Whoever does not want it any more has complained already.
        send.send(text).ok();
    });
    said
}

/// Waits for the end, and kills whoever takes too long.
fn wait(child: Child, limit: Duration) -> Option<Option<i32>> {
    let pid = child.id().to_string();
    let (send, ended) = mpsc::channel();
    let mut child = child;
    std::thread::spawn(move || send.send(child.wait().unwrap().code()).ok());
    match ended.recv_timeout(limit) {
        Ok(code) => Some(code),
        Err(_) => {
            let mut kill = std::process::Command::new("kill");
            kill.args(["-9", &pid]).status().unwrap();
            None
        }
    }
}
