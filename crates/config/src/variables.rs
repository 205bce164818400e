//! The parts of an entry that an approval shows: its program, its file of variables, the files that its
//! arguments name. Reading them starts nothing and asks nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use switchboard_core::secret::Secret;

use super::entry::Entry;
use super::expand::{self, Expansion, NoInputs};
use super::problem::{Problem, ProblemKind};
use super::read::Text;
use super::report::{Note, quote_name};
use super::template::{self, Piece};
use super::{dotenv, open, paths};

/// A file of variables, read once.
#[derive(Clone)]
pub struct VariablesFile {
    path: PathBuf,
    read: Result<Content, Unread>,
}

#[derive(Clone)]
struct Content {
    text: Secret<String>,
    variables: Vec<(String, Secret<String>)>,
}

/// The reason why a file of variables could not be read.
#[derive(Clone)]
struct Unread {
    why: String,
    message: String,
    expected: Option<&'static str>,
}

impl VariablesFile {
    /// Reads a file that an entry names, by the rules of its project if it came with one.
    pub(super) fn read(path: PathBuf, project: Option<&Path>) -> Self {
        let read = Self::content(&path, project);
        Self { path, read }
    }

    fn content(path: &Path, project: Option<&Path>) -> Result<Content, Unread> {
        let name = || quote_name(&path.to_string_lossy());
        let text = open::reference(path, project).map_err(|why| Unread {
            message: format!("the file {} of variables cannot be read: {why}", name()),
            why,
            expected: None,
        })?;
        let variables = dotenv::parse(&text).map_err(|line| Unread {
            why: format!("line {line} sets no variable"),
            message: format!("line {line} of the file {} sets no variable", name()),
            expected: Some("`NAME=value`"),
        })?;
        let variables = variables.into_iter();
        Ok(Content {
            variables: variables
                .map(|(name, value)| (name, Secret::new(value)))
                .collect(),
            text: Secret::new(text),
        })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names of its variables, in order.
    ///
    /// # Errors
    /// Fails if it cannot be read, with the reason as one phrase.
    pub fn names(&self) -> Result<Vec<&str>, &str> {
        match &self.read {
            Ok(content) => Ok(content
                .variables
                .iter()
                .map(|(name, _)| name.as_str())
                .collect()),
            Err(unread) => Err(&unread.why),
        }
    }

    /// The value of a variable; the last one if it is set several times.
    pub fn get(&self, name: &str) -> Option<&Secret<String>> {
        let mut variables = self.read.as_ref().ok()?.variables.iter();
        let found = variables.rfind(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }

    /// The whole text.
    pub fn text(&self) -> Option<&Secret<String>> {
        self.read.as_ref().ok().map(|content| &content.text)
    }

    pub(super) fn variables(&self, field: &Text) -> Result<BTreeMap<String, Secret<String>>, Note> {
        match &self.read {
            Ok(content) => Ok(content.variables.iter().cloned().collect()),
            Err(unread) => {
                let kind = ProblemKind::UnreadableReference;
                let note = Note::error(kind, field.span.clone(), unread.message.clone());
                Err(match unread.expected {
                    Some(expected) => note.expecting(expected),
                    None => note,
                })
            }
        }
    }
}

impl fmt::Debug for VariablesFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VariablesFile")
            .field("path", &self.path)
            .field("names", &self.names())
            .finish_non_exhaustive()
    }
}

impl Entry {
    /// Reads the file of variables that the entry names, if any.
    pub fn variables_file(&self, with: &Expansion<'_>) -> Option<VariablesFile> {
        let field = self.draft().env_file.as_ref()?;
        let path = match expand::text(self, field, with) {
            Ok(path) => paths::join(self.folder(), &path),
            // Expanding the entry will report the unexpanded placeholder.
            Err(_) => {
                let path = paths::join(self.folder(), &field.text);
                let why = "a placeholder of its path cannot be filled".to_owned();
                let unread = Unread {
                    message: format!("the path of the file of variables: {why}"),
                    why,
                    expected: None,
                };
                return Some(VariablesFile {
                    path,
                    read: Err(unread),
                });
            }
        };
        Some(VariablesFile::read(path, self.project_folder()))
    }

    /// The command with its placeholders expanded, as it would be started; `None` for a server at a URL.
    ///
    /// # Errors
    /// Fails if a placeholder cannot be expanded, or needs an answer of the user: the command must be known
    /// before it is approved.
    pub fn filled_command(&self, with: &Expansion<'_>) -> Option<Result<String, Problem>> {
        let command = self.draft().command.as_ref()?;
        Some(
            self.fill_command(command, with)
                .map_err(|note| self.locate(note)),
        )
    }

    fn fill_command(&self, command: &Text, with: &Expansion<'_>) -> Result<String, Note> {
        // An answer could name any program after the approval, so a command must not depend on one.
        let pieces = template::pieces(&command.text).unwrap_or_default();
        if pieces.iter().any(|piece| matches!(piece, Piece::Input(_))) {
            let message = "the command of a project's server depends on an answer of yours, and \
                           must be known before it is approved";
            let note = Note::error(ProblemKind::Refused, command.span.clone(), message);
            return Err(note.hint("name the program, or a variable: `${VAR}`"));
        }
        let mut filled = command.clone();
        filled.text = expand::text(self, command, &with.inputs(&NoInputs))?;
        self.program(&filled)
    }

    /// The existing files that arguments name, as absolute paths if the folder is absolute.
    ///
    /// An argument that needs an answer of the user names no file yet.
    pub fn files_of_arguments(&self, with: &Expansion<'_>) -> Vec<PathBuf> {
        // No questions here: this runs before the entry is approved.
        let with = with.inputs(&NoInputs);
        let cwd = self.draft().cwd.as_ref();
        let cwd = cwd.and_then(|cwd| expand::text(self, cwd, &with).ok());
        let cwd = cwd.map_or_else(
            || self.folder().to_owned(),
            |cwd| paths::join(self.folder(), &cwd),
        );
        let mut files: Vec<PathBuf> = Vec::new();
        let filled = self.draft().args.iter();
        let filled = filled.filter_map(|arg| expand::text(self, arg, &with).ok());
        for arg in filled {
            for name in named_in(&arg) {
                let path = paths::join(&cwd, name);
                if path.is_file() && !files.contains(&path) {
                    files.push(path);
                }
            }
        }
        files
    }
}

/// The parts of an argument that may name a file: all of it, the part after `=`, and the part after a
/// short option.
fn named_in(arg: &str) -> impl Iterator<Item = &str> {
    let value = arg.split_once('=').map(|(_, value)| value);
    let short = arg.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let short = short.and_then(|rest| {
        let mut chars = rest.chars();
        chars.next()?;
        Some(chars.as_str())
    });
    let names = [Some(arg), value, short].into_iter().flatten();
    let names = names.map(|name| name.strip_prefix("file://").unwrap_or(name));
    names.filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::named_in;

    #[test]
    fn what_may_name_a_file_is_taken_from_an_argument() {
        for (arg, expected) in [
            ("./x.js", &["./x.js"][..]),
            ("--require=./x.js", &["--require=./x.js", "./x.js"]),
            ("-r./x.js", &["-r./x.js", "./x.js"]),
            ("file:///p/x.mjs", &["/p/x.mjs"]),
            ("", &[]),
        ] {
            assert_eq!(named_in(arg).collect::<Vec<_>>(), expected, "{arg}");
        }
    }
}
