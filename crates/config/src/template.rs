//! Parses placeholders in the texts of a file.

use std::path::PathBuf;

use super::problem::ProblemKind;
use super::report::is_secret;

/// Something that a text of an entry refers to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reference {
    /// `${NAME}`, `${NAME:-default}` or `${env:NAME}`: a variable of the host.
    Variable {
        /// Its name.
        name: String,
        /// True if it has a default.
        has_default: bool,
    },
    /// `${file:PATH}`, or a file of variables: the content of a file. A relative path is already joined to
    /// its base folder.
    File(PathBuf),
    /// `${input:ID}`: an answer of the user.
    Input(String),
    /// `${workspaceFolder}`.
    WorkspaceFolder,
    /// `${userHome}`.
    UserHome,
}

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    Text(&'t str),
    Variable {
        name: &'t str,
        default: Option<&'t str>,
    },
    File(&'t str),
    Input(&'t str),
    WorkspaceFolder,
    WorkspaceName,
    UserHome,
    Separator,
}

/// A placeholder that is not valid.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadPlaceholder {
    pub(super) message: String,
    pub(super) hint: &'static str,
}

impl BadPlaceholder {
    pub(super) const KIND: ProblemKind = ProblemKind::BadPlaceholder;
    pub(super) const EXPECTED: &'static str = "`${VAR}`, `${VAR:-default}`, `${env:VAR}`, \
        `${workspaceFolder}`, `${userHome}`, `${input:ID}` or `${file:PATH}`";

    fn new(message: impl Into<String>, hint: &'static str) -> Self {
        Self {
            message: message.into(),
            hint,
        }
    }
}

/// Returns true if a text contains a placeholder.
pub(super) fn has_placeholder(text: &str) -> bool {
    text.contains("${")
}

/// Splits a text into its parts. A `$` without a brace is an ordinary character.
pub(super) fn pieces(text: &str) -> Result<Vec<Piece<'_>>, BadPlaceholder> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        let Some((inside, behind)) = after.split_once('}') else {
            let message = "a placeholder is not closed";
            return Err(BadPlaceholder::new(message, "add the `}`"));
        };
        pieces.push(piece(inside)?);
        rest = behind;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

fn piece(inside: &str) -> Result<Piece<'_>, BadPlaceholder> {
    // Nested placeholders would let one value decide which other one is read.
    if inside.contains("${") {
        return Err(BadPlaceholder::new(
            "a placeholder inside of another",
            "placeholders are filled once, and not into each other",
        ));
    }
    match inside {
        "workspaceFolder" => return Ok(Piece::WorkspaceFolder),
        "workspaceFolderBasename" => return Ok(Piece::WorkspaceName),
        "userHome" => return Ok(Piece::UserHome),
        "pathSeparator" | "/" => return Ok(Piece::Separator),
        _ => {}
    }
    if let Some(path) = inside.strip_prefix("file:") {
        return match path {
            "" => Err(BadPlaceholder::new("`${file:}` names no file", "")),
            path => Ok(Piece::File(path)),
        };
    }
    if let Some(id) = inside.strip_prefix("input:") {
        return match id {
            "" => Err(BadPlaceholder::new("`${input:}` names no input", "")),
            id => Ok(Piece::Input(id)),
        };
    }
    // Anything else must be a variable.
    let variable = inside.strip_prefix("env:").unwrap_or(inside);
    let (name, default) = match variable.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (variable, None),
    };
    if is_name(name) {
        return Ok(Piece::Variable { name, default });
    }
    Err(unknown(inside))
}

/// Returns true if a text can be the name of a variable.
pub(super) fn is_name(name: &str) -> bool {
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(is_start)
        && name
            .chars()
            // Windows has `ProgramFiles(x86)`.
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '(' || c == ')')
}

/// Describes an unknown placeholder. Only a word before a colon is quoted: the rest may be a secret.
fn unknown(inside: &str) -> BadPlaceholder {
    let word = inside.split([':', '-', ' ']).next().unwrap_or_default();
    let is_word = !word.is_empty() && word.len() <= 24 && is_name(word) && !is_secret(word);
    match inside.split_once(':') {
        Some(_) if is_word => BadPlaceholder::new(
            format!("`${{{word}:...}}` is no placeholder that we know"),
            "a default is written `${VAR:-default}`",
        ),
        _ => BadPlaceholder::new(
            "a placeholder that we do not know",
            "names of variables are letters, digits and underscores",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_is_read() {
        let variable = |name, default| Piece::Variable { name, default };
        for (text, expected) in [
            ("plain", vec![Piece::Text("plain")]),
            ("", vec![]),
            ("$HOME $ {x} }", vec![Piece::Text("$HOME $ {x} }")]),
            ("${A}", vec![variable("A", None)]),
            (
                "a${A:-b c}d",
                vec![
                    Piece::Text("a"),
                    variable("A", Some("b c")),
                    Piece::Text("d"),
                ],
            ),
            ("${A:-}", vec![variable("A", Some(""))]),
            (
                "${env:A}${env:B:-c}",
                vec![variable("A", None), variable("B", Some("c"))],
            ),
            ("$${A}", vec![Piece::Text("$"), variable("A", None)]),
            ("${file:./a b}", vec![Piece::File("./a b")]),
            ("${input:key}", vec![Piece::Input("key")]),
            (
                "${workspaceFolder}/x",
                vec![Piece::WorkspaceFolder, Piece::Text("/x")],
            ),
            ("${userHome}${/}", vec![Piece::UserHome, Piece::Separator]),
        ] {
            assert_eq!(pieces(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_placeholder_is_an_error_that_quotes_no_value() {
        for text in [
            "${",
            "${}",
            "${A",
            "${A:-${B}}",
            "${a b}",
            "${1A}",
            "${file:}",
            "${input:}",
            "${canary:x}y",
            "${A:?canary}",
            "${command:canary}",
            "${A-canary}",
            "${:canary}",
        ] {
            let error = pieces(text).unwrap_err();
            let is_prefix = text.starts_with("${canary");
            assert_eq!(error.message.contains("canary"), is_prefix, "{error:?}");
        }
    }
}
