//! The API key of a model provider.

use std::path::{Path, PathBuf};

use switchboard_core::environment::Environment;
use switchboard_core::secret::Secret;

use super::placed::Placed;
use super::{get, wrong};
use crate::problem::{Problem, ProblemKind};
use crate::report::{Note, Report};
use crate::template::{self, BadPlaceholder, Piece};
use crate::tree::Node;
use crate::{open, paths};

/// An API key as written: with the names of variables and files that it comes from.
#[derive(Debug, Clone)]
pub struct KeySection {
    template: Secret<String>,
    place: Placed,
    folder: PathBuf,
}

impl KeySection {
    /// Looks up the key.
    ///
    /// # Errors
    /// Fails if a variable is not set, or if a file cannot be read. The error contains no part of the key.
    pub fn read(&self, environment: &Environment) -> Result<Secret<String>, Problem> {
        let told =
            |kind, message: &str, expected: &str| self.place.problem(kind, message, expected);
        let bad = |_| {
            told(
                BadPlaceholder::KIND,
                "a placeholder cannot be read",
                EXPECTED_KEY,
            )
        };
        let mut key = String::new();
        for piece in template::pieces(self.template.expose()).map_err(bad)? {
            match piece {
                Piece::Text(text) => key.push_str(text),
                Piece::Variable { name, default } => {
                    let value = environment.get(name).map(|value| value.expose().as_str());
                    match (value, default) {
                        (Some("") | None, Some(default)) => key.push_str(default),
                        (Some(value), _) => key.push_str(value),
                        (None, None) => {
                            let message = format!("the variable `{name}` is not set");
                            let expected = "a variable with the key of the provider";
                            return Err(told(ProblemKind::UnsetVariable, &message, expected));
                        }
                    }
                }
                Piece::File(path) => {
                    let text =
                        open::reference(&paths::join(&self.folder, path), None).map_err(|why| {
                            let message = format!("the file of the key cannot be read: {why}");
                            let kind = ProblemKind::UnreadableReference;
                            told(kind, &message, "a file with the key in it")
                        })?;
                    key.push_str(text.trim_end());
                }
                _ => return Err(told(BadPlaceholder::KIND, NOT_HERE, EXPECTED_KEY)),
            }
        }
        if key.trim().is_empty() {
            let kind = ProblemKind::WrongType;
            return Err(told(kind, "the key is empty", EXPECTED_KEY));
        }
        Ok(Secret::new(key.trim().to_owned()))
    }
}

const NOT_HERE: &str = "`api_key` has a placeholder that is not filled here";
const EXPECTED_KEY: &str = "`\"${VARIABLE}\"` or `\"${file:PATH}\"`, or the key itself";

/// Reads the key of a provider; `None` without one, or after reporting an error.
pub(super) fn key(node: &Node, folder: &Path, report: &mut Report) -> Option<KeySection> {
    let (written, variable) = (get(node, "api_key"), get(node, "api_key_env"));
    if let (Some(_), Some(variable)) = (written, variable) {
        let message = "`api_key` and `api_key_env` are both there";
        let note = Note::error(ProblemKind::DuplicateKey, variable.span.clone(), message);
        report.add(note.expecting("one of the two"));
    }
    // `api_key` wins if both are present, which has been reported.
    let node = written.or(variable)?;
    let (name, expected) = match written {
        Some(_) => ("api_key", EXPECTED_KEY),
        None => ("api_key_env", "the name of a variable"),
    };
    let Some(text) = node.text() else {
        wrong(&format!("`{name}`"), node, expected, report);
        return None;
    };
    let template = match written {
        Some(_) => text.to_owned(),
        None => format!("${{{text}}}"),
    };
    let is_fine = match template::pieces(&template) {
        Ok(pieces) => {
            let is_known = |piece: &Piece<'_>| {
                matches!(
                    piece,
                    Piece::Text(_) | Piece::Variable { .. } | Piece::File(_)
                )
            };
            let is_name =
                |piece: &Piece<'_>| matches!(piece, Piece::Variable { default: None, .. });
            let is_one = pieces.len() == 1 && pieces.iter().all(is_name);
            pieces.iter().all(is_known) && (written.is_some() || is_one)
        }
        Err(_) => false,
    };
    if !is_fine {
        let message = match written {
            Some(_) => NOT_HERE,
            None => "`api_key_env` is no name of a variable",
        };
        let note = Note::error(BadPlaceholder::KIND, node.span.clone(), message);
        report.add(note.expecting(expected));
        return None;
    }
    Some(KeySection {
        template: Secret::new(template),
        place: Placed::place_of(node, report),
        folder: folder.to_owned(),
    })
}
