//! Edits of a request to a model: in an editor, or by typing the texts again.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use switchboard::files::{self, Source};
use switchboard::talk::sampling::{Part, Prompt};
use switchboard::transport::Environment;

use crate::ask::{Away, Dialogue};

/// Maximum size of the edited file in bytes.
const MOST_BYTES: usize = 16 << 20;

/// The outcome of an edit.
pub(super) enum Editing {
    Changed(Prompt),
    Failed(String),
}

/// Lets the person change the texts of a prompt.
pub(super) async fn edit(
    prompt: &Prompt,
    environment: &Environment,
    dialogue: &mut Dialogue,
) -> Editing {
    let Some(editor) = editor(environment) else {
        return Editing::Changed(retype(prompt, dialogue).await);
    };
    let (mark, text) = draft_text(prompt);
    // While the editor runs, Ctrl-C belongs to it.
    let _away = Away::begin();
    let edited = tokio::task::spawn_blocking(move || run(&editor, &text)).await;
    let edited = edited.unwrap_or_else(|error| Err(error.to_string()));
    match edited.and_then(|text| read(prompt, &mark, &text)) {
        Ok(prompt) => Editing::Changed(prompt),
        Err(why) => Editing::Failed(why),
    }
}

/// Returns the editor and its arguments from `$VISUAL` or `$EDITOR`.
fn editor(environment: &Environment) -> Option<Vec<String>> {
    let variables = ["VISUAL", "EDITOR"].into_iter();
    let mut named = variables.filter_map(|name| shlex::split(environment.get(name)?.expose()));
    named.find(|words| !words.is_empty())
}

/// Runs an editor, without a shell, on a file that only the owner can read.
fn run(editor: &[String], text: &str) -> Result<String, String> {
    let told = |error: io::Error| format!("the file to edit cannot be used: {error}");
    let draft = Draft::new(text).map_err(told)?;
    let (program, args) = editor.split_first().ok_or("there is no editor")?;
    let mut command = Command::new(program);
    command.args(args).arg(&draft.0);
    // stdout is for the result of the command, so the editor gets stderr.
    command.stdout(Stdio::from(io::stderr()));
    let status = command.status();
    // The windows of an editor may outlive it, and must not be ended as orphans of a server.
    switchboard::keeper::spare_orphans();
    let status = status.map_err(|error| format!("the editor cannot be started: {error}"))?;
    if !status.success() {
        return Err(format!("the editor ended with {status}"));
    }
    let edited = files::read(&draft.0, Source::Plain, MOST_BYTES)
        .map_err(|error| format!("the file to edit cannot be used: {error}"))?;
    let edited =
        String::from_utf8(edited.bytes).map_err(|_| "the file to edit is not UTF-8".to_owned())?;
    Ok(edited)
}

/// A temporary file that is removed on drop.
struct Draft(PathBuf);

impl Draft {
    fn new(text: &str) -> io::Result<Self> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let (pid, now) = (std::process::id(), now.unwrap_or_default().as_nanos());
        let path = std::env::temp_dir().join(format!("switchboard-{pid}-{now}.txt"));
        let mut options = OpenOptions::new();
        // An existing file or link at this path belongs to another process.
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path)?;
        let draft = Self(path);
        file.write_all(text.as_bytes())?;
        Ok(draft)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Ignored: if it cannot be removed, only its owner can read it.
        fs::remove_file(&self.0).ok();
    }
}

/// Returns the texts of a prompt that can be changed, each with a name.
fn texts(prompt: &Prompt) -> Vec<(String, &str)> {
    let system = prompt
        .system
        .iter()
        .map(|text| ("system".to_owned(), text.as_str()));
    let turns = prompt.turns.iter().flat_map(|turn| {
        let texts = turn.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.map(|text| (turn.role.word().to_owned(), text))
    });
    system.chain(turns).collect()
}

/// Replaces the texts of a prompt, in the same order.
fn with(prompt: &Prompt, texts: Vec<String>) -> Prompt {
    let mut texts = texts.into_iter();
    let mut prompt = prompt.clone();
    if prompt.system.is_some() {
        prompt.system = texts.next().filter(|text| !text.is_empty());
    }
    for part in prompt.turns.iter_mut().flat_map(|turn| &mut turn.parts) {
        if let (Part::Text(text), true) = (part, texts.len() > 0) {
            *text = texts.next().unwrap_or_default();
        }
    }
    prompt
}

/// Formats the file to edit, and returns the mark before each text: one that occurs in none of them.
fn draft_text(prompt: &Prompt) -> (String, String) {
    let texts = texts(prompt);
    let mut mark = "=====".to_owned();
    while texts.iter().any(|(_, text)| text.contains(&mark)) {
        mark.push('=');
    }
    let parts = texts
        .iter()
        .map(|(name, text)| format!("{mark} {name}\n{text}\n"));
    let text = parts.collect();
    (mark, text)
}

/// Parses the edited file.
fn read(prompt: &Prompt, mark: &str, text: &str) -> Result<Prompt, String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.split_inclusive('\n') {
        match found.last_mut() {
            _ if line.starts_with(mark) => found.push(String::new()),
            Some(last) => last.push_str(line),
            None => return Err(format!("there is text before the first line with {mark}")),
        }
    }
    for text in &mut found {
        if text.ends_with('\n') {
            text.pop();
        }
    }
    if found.len() == texts(prompt).len() {
        Ok(with(prompt, found))
    } else {
        Err(format!("the lines with {mark} must stay"))
    }
}

/// Asks for each text again, one line each; an empty line keeps the text.
async fn retype(prompt: &Prompt, dialogue: &mut Dialogue) -> Prompt {
    let mut typed = Vec::new();
    for (name, text) in texts(prompt) {
        let question = format!("{name} (Enter keeps it): ");
        let line = dialogue.ask(&question).await.unwrap_or_default();
        let line = line.trim_end_matches(['\r', '\n']);
        typed.push(if line.is_empty() {
            text.to_owned()
        } else {
            line.to_owned()
        });
    }
    with(prompt, typed)
}

#[cfg(test)]
mod tests {
    use switchboard::talk::sampling::{Media, Role, Turn};

    use super::*;

    fn prompt() -> Prompt {
        let media = Media {
            mime_type: "image/png".to_owned(),
            data: String::new(),
        };
        let text = |text: &str| Part::Text(text.to_owned());
        let turn = |role, parts| Turn { role, parts };
        Prompt {
            system: Some("be\nbrief".to_owned()),
            turns: vec![
                turn(
                    Role::User,
                    vec![text("===== user\n"), Part::Image(media), text("two")],
                ),
                turn(Role::Assistant, vec![text("")]),
            ],
        }
    }

    #[test]
    fn what_is_not_changed_comes_back_as_it_was() {
        let (mark, text) = draft_text(&prompt());
        assert_eq!(mark, "======");
        assert_eq!(
            text,
            "====== system\nbe\nbrief\n====== user\n===== user\n\n====== user\ntwo\n====== assistant\n\n"
        );
        assert_eq!(read(&prompt(), &mark, &text), Ok(prompt()));
    }

    #[test]
    fn texts_are_changed_and_marks_must_stay() {
        let (mark, text) = draft_text(&prompt());
        let edited = text
            .replace("be\nbrief\n", "")
            .replace("two", "three\nfour");
        let edited = read(&prompt(), &mark, &edited).unwrap();
        assert_eq!(edited.system, None);
        assert_eq!(
            edited.turns[0].parts[2],
            Part::Text("three\nfour".to_owned())
        );
        assert_eq!(edited.turns[0].parts[1], prompt().turns[0].parts[1]);
        for bad in [
            text.replace("====== assistant\n", ""),
            format!("x\n{text}"),
            format!("{text}====== user\n"),
            String::new(),
        ] {
            assert!(read(&prompt(), &mark, &bad).is_err(), "{bad}");
        }
    }
}
