//! Server names that other clients allow and we do not.
//!
//! The config reader rejects an entry whose name has a space or a slash. Its name is replaced in a copy of
//! the text, at the position of the reader's problem, and the copy is read instead.

use std::path::Path;

use switchboard_core::spec::{Layer, ServerName};

use crate::{Client, Config, Problem, ProblemKind, read_client};

/// Maximum length of a generated name.
const LONGEST: usize = 64;

/// The content of another client's file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientFile {
    /// The servers, with valid names. Its problems are those of the last reading: see
    /// [`problems`](Self::problems).
    pub config: Config,
    /// The servers that have another name in the file, in its order.
    pub renamed: Vec<RenamedServer>,
    /// All problems that renaming did not solve.
    pub problems: Vec<Problem>,
}

/// A server whose name in its file is not valid here.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenamedServer {
    /// The name in the file.
    pub from: String,
    /// The name here.
    pub to: String,
}

/// Parses the text of another client's file, with valid names for all servers.
pub fn read(text: &str, file: &Path, layer: &Layer, client: Client) -> ClientFile {
    let read = |text: &str| read_client(text, file, layer.clone(), client);
    let first = read(text);
    let mut problems = first.problems().to_vec();
    let mut text = text.to_owned();
    let mut config = first;
    let mut renamed: Vec<RenamedServer> = Vec::new();
    // From the end of the text, so that earlier positions stay valid.
    let bad: Vec<Problem> = problems.iter().rev().filter(is_bad_name).cloned().collect();
    for problem in bad {
        let Some(old) = problem.server().map(str::to_owned) else {
            continue;
        };
        let new = free_name(&old, &config);
        let Some(other) = rename_at(&text, &problem, &new) else {
            continue;
        };
        let other_config = read(&other);
        // The entry may have other problems too; these are reported.
        let is_solved = !other_config
            .problems()
            .iter()
            .any(|other| is_bad_name(&other) && other.server() == Some(&old));
        if is_solved {
            (text, config) = (other, other_config);
            problems.retain(|other| *other != problem);
            renamed.push(RenamedServer { from: old, to: new });
        }
    }
    let new = config.problems().iter().filter(|problem| {
        let mut renamed = renamed.iter();
        renamed.any(|renamed| problem.server() == Some(renamed.to.as_str()))
    });
    problems.extend(new.cloned());
    // Collected from the end of the file, reported in its order.
    renamed.reverse();
    ClientFile {
        config,
        renamed,
        problems,
    }
}

fn is_bad_name(problem: &&Problem) -> bool {
    problem.kind() == ProblemKind::BadName
}

/// Returns a valid name that resembles this one and is not taken.
fn free_name(old: &str, config: &Config) -> String {
    let parts = old.split(|c: char| c.is_whitespace() || c.is_control() || c == '/');
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let joined: String = parts.join("-").chars().take(LONGEST).collect();
    let name = match ServerName::parse(&joined) {
        Ok(name) => name.as_str().to_owned(),
        Err(_) => "server".to_owned(),
    };
    let is_taken = |name: &str| {
        let mut problems = config.problems().iter();
        config.get(name).is_some() || problems.any(|problem| problem.server() == Some(name))
    };
    let mut all = std::iter::once(name.clone()).chain((2_u32..).map(|at| format!("{name}-{at}")));
    all.find(|name| !is_taken(name)).unwrap_or(name)
}

/// Replaces the name at the position of a problem.
fn rename_at(text: &str, problem: &Problem, new: &str) -> Option<String> {
    let start = offset(text, problem.line()?, problem.column()?)?;
    let token = string_token(text.get(start..)?)?;
    let new = serde_json::Value::from(new).to_string();
    let at_place = || {
        let end = start + token.len();
        Some(format!("{}{new}{}", text.get(..start)?, text.get(end..)?))
    };
    let is_toml = problem.file().extension().is_some_and(|end| end == "toml");
    if !is_toml {
        return at_place();
    }
    // In TOML the header of each inner table repeats the server's name.
    let lines = text.split_inclusive('\n').map(|line| {
        if line.trim_start().starts_with('[') {
            line.replace(&format!(".{token}"), &format!(".{new}"))
        } else {
            line.to_owned()
        }
    });
    let other: String = lines.collect();
    if other == text {
        at_place()
    } else {
        Some(other)
    }
}

/// Returns the byte offset of a line and column, both from 1, the column in characters.
fn offset(text: &str, line: usize, column: usize) -> Option<usize> {
    // A byte order mark is not part of the first line.
    let mark = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let text_start = mark;
    let text = text.get(mark..)?;
    let before = text.split_inclusive('\n').take(line.checked_sub(1)?);
    let start: usize = before.map(str::len).sum();
    let rest = text.get(start..)?;
    let mut characters = rest.char_indices().map(|(at, _)| at);
    let at = characters.nth(column.checked_sub(1)?)?;
    Some(text_start + start + at)
}

/// Returns the string that a text begins with, in its quotes.
fn string_token(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if quote == '"' => is_escaped = true,
            c if c == quote => return text.get(..=at),
            '\n' => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, file: &str, client: Client) -> (Vec<String>, Vec<RenamedServer>, usize) {
        let read = read(text, Path::new(file), &Layer::User, client);
        let entries = read.config.entries().iter();
        let names = entries.map(|entry| entry.name().to_string()).collect();
        (names, read.renamed, read.problems.len())
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<RenamedServer> {
        let pairs = pairs.iter();
        pairs
            .map(|(from, to)| RenamedServer {
                from: (*from).to_owned(),
                to: (*to).to_owned(),
            })
            .collect()
    }

    #[test]
    fn names_with_spaces_and_slashes_become_valid() {
        let text = r#"{"mcpServers": {
            "my server": {"command": "a"}, "a/b": {"command": "b"}, "my-server": {"command": "c"},
            "\u0020": {"command": "d"}
        }}"#;
        let (names, renamed, problems) = names(text, "/x/cline_mcp_settings.json", Client::Cline);
        assert_eq!(names, ["my-server-2", "a-b", "my-server", "server"]);
        let expected = [
            ("my server", "my-server-2"),
            ("a/b", "a-b"),
            (" ", "server"),
        ];
        assert_eq!(renamed, pairs(&expected));
        assert_eq!(problems, 0);
    }

    #[test]
    fn a_table_and_those_below_it_get_the_same_name() {
        let text = "[mcp_servers.\"my server\"]\ncommand = \"a\"\n\
                    [mcp_servers.\"my server\".env]\nA = \"b\"\n";
        let (names, renamed, problems) = names(text, "/x/config.toml", Client::Codex);
        assert_eq!(names, ["my-server"]);
        assert_eq!(renamed, pairs(&[("my server", "my-server")]));
        assert_eq!(problems, 0);
    }

    #[test]
    fn what_is_bad_besides_is_told() {
        let text = r#"{"mcpServers": {"my server": {"comand": "a"}}}"#;
        let (names, _, problems) = names(text, "/x/mcp.json", Client::Cursor);
        assert_eq!(names, [""; 0]);
        assert!(problems > 0);
    }
}
