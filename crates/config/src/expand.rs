//! Expands the placeholders of an entry.

use std::collections::HashSet;
use std::path::Path;

use switchboard_core::environment::Environment;
use switchboard_core::secret::Secret;

use super::entry::Entry;
use super::open;
use super::problem::ProblemKind;
use super::read::Text;
use super::report::{Note, quote_name};
use super::template::{self, BadPlaceholder, Piece, Reference};
use super::tree::{Member, Node, NodeKind};
use super::{fields, paths};

/// The sources of values for placeholders.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Expansion<'a> {
    /// The variables of the host.
    pub environment: &'a Environment,
    /// The user's home folder.
    pub home: Option<&'a Path>,
    /// The current workspace. An entry of a project's own file uses that project's folder instead.
    pub workspace: &'a Path,
    /// The source of answers to `${input:ID}`.
    pub inputs: &'a dyn Inputs,
}

impl<'a> Expansion<'a> {
    /// Expands from an environment, in a folder, without answering inputs.
    pub fn new(environment: &'a Environment, workspace: &'a Path) -> Self {
        Self {
            environment,
            home: None,
            workspace,
            inputs: &NoInputs,
        }
    }

    /// Sets the user's home folder.
    #[must_use]
    pub fn home(mut self, home: Option<&'a Path>) -> Self {
        self.home = home;
        self
    }

    /// Sets the source of answers.
    #[must_use]
    pub fn inputs(mut self, inputs: &'a dyn Inputs) -> Self {
        self.inputs = inputs;
        self
    }
}

/// Answers the inputs that a file requests with `${input:ID}`.
pub trait Inputs {
    /// Returns the answer, or `None` without one.
    fn answer(&self, input: &Input) -> Option<Secret<String>>;
}

/// Answers no input.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoInputs;

impl Inputs for NoInputs {
    fn answer(&self, _: &Input) -> Option<Secret<String>> {
        None
    }
}

/// A question to the user, as described in `inputs` of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Input {
    /// The id in `${input:ID}`.
    pub id: String,
    /// The question.
    pub description: Option<String>,
    /// True if the answer must not be shown while it is typed.
    pub password: bool,
    /// The choices.
    pub options: Vec<String>,
    /// A suggestion. It is never used without asking.
    pub default: Option<String>,
}

/// Collects every reference in the fields of an entry, each once, in the order of the file.
pub(super) fn references(entry: &Node, folder: &Path) -> Result<Vec<Reference>, Note> {
    let mut found = Vec::new();
    for member in entry.object().unwrap_or_default() {
        // Keys that are not read are not expanded either, so what they refer to is not shown.
        if fields::find(&member.key).is_none() {
            continue;
        }
        collect(&member.value, folder, &mut found)?;
        // Even if a part of its path is not expanded yet: an approval must show that a file is read.
        if let (Some(path), "env_file") = (member.value.text(), member.key.as_str()) {
            found.push(Reference::File(paths::join(folder, path)));
        }
    }
    // Each once, in the order of the file.
    let mut seen = HashSet::new();
    found.retain(|reference| seen.insert(reference.clone()));
    Ok(found)
}

fn collect(node: &Node, folder: &Path, found: &mut Vec<Reference>) -> Result<(), Note> {
    match &node.kind {
        NodeKind::Text(text) => {
            let pieces = template::pieces(text).map_err(|bad| bad_placeholder(node, bad))?;
            found.extend(pieces.iter().filter_map(|piece| reference(piece, folder)));
        }
        NodeKind::List(items) => {
            for item in items {
                collect(item, folder, found)?;
            }
        }
        NodeKind::Object(members) => {
            for member in members {
                collect(&member.value, folder, found)?;
            }
        }
        NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) => {}
    }
    Ok(())
}

fn reference(piece: &Piece<'_>, folder: &Path) -> Option<Reference> {
    match *piece {
        Piece::Text(_) | Piece::Separator => None,
        Piece::Variable { name, default } => Some(Reference::Variable {
            name: name.to_owned(),
            has_default: default.is_some(),
        }),
        Piece::File(path) => Some(Reference::File(paths::join(folder, path))),
        Piece::Input(id) => Some(Reference::Input(id.to_owned())),
        Piece::WorkspaceFolder | Piece::WorkspaceName => Some(Reference::WorkspaceFolder),
        Piece::UserHome => Some(Reference::UserHome),
    }
}

fn bad_placeholder(node: &Node, bad: BadPlaceholder) -> Note {
    let note = Note::error(BadPlaceholder::KIND, node.span.clone(), bad.message)
        .expecting(BadPlaceholder::EXPECTED);
    match bad.hint {
        "" => note,
        hint => note.hint(hint),
    }
}

/// Returns the entry with every placeholder in its fields expanded. Values are not expanded again.
pub(super) fn expand(entry: &Entry, with: &Expansion<'_>) -> Result<Node, Note> {
    let filler = Filler { entry, with };
    let members = entry.node().object().unwrap_or_default().iter();
    let members = members.map(|member| {
        let value = match fields::find(&member.key) {
            // Only known fields are expanded: an unknown key must not read anything.
            Some(_) => filler.node(&member.value)?,
            None => member.value.clone(),
        };
        Ok(Member {
            value,
            ..member.clone()
        })
    });
    let members = members.collect::<Result<_, Note>>()?;
    Ok(Node::new(
        entry.node().span.clone(),
        NodeKind::Object(members),
    ))
}

/// Returns one text of an entry with its placeholders expanded.
pub(super) fn text(entry: &Entry, text: &Text, with: &Expansion<'_>) -> Result<String, Note> {
    let node = Node::new(text.span.clone(), NodeKind::Text(text.text.clone()));
    Filler { entry, with }.text(&text.text, &node)
}

struct Filler<'a> {
    entry: &'a Entry,
    with: &'a Expansion<'a>,
}

impl Filler<'_> {
    fn node(&self, node: &Node) -> Result<Node, Note> {
        let kind = match &node.kind {
            NodeKind::Text(text) => NodeKind::Text(self.text(text, node)?),
            NodeKind::List(items) => {
                let items = items.iter().map(|item| self.node(item));
                NodeKind::List(items.collect::<Result<_, Note>>()?)
            }
            NodeKind::Object(members) => {
                let members = members.iter().map(|member| {
                    Ok(Member {
                        value: self.node(&member.value)?,
                        ..member.clone()
                    })
                });
                NodeKind::Object(members.collect::<Result<_, Note>>()?)
            }
            other => other.clone(),
        };
        Ok(Node::new(node.span.clone(), kind))
    }

    fn text(&self, text: &str, node: &Node) -> Result<String, Note> {
        let pieces = template::pieces(text).map_err(|bad| bad_placeholder(node, bad))?;
        let mut filled = String::with_capacity(text.len());
        for piece in pieces {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Separator => filled.push(std::path::MAIN_SEPARATOR),
                Piece::Variable { name, default } => {
                    let value = self.with.environment.get(name);
                    match (value.map(|value| value.expose().as_str()), default) {
                        // An empty variable counts as unset if there is a default, like `:-` in a shell.
                        (Some("") | None, Some(default)) => filled.push_str(default),
                        (Some(value), _) => filled.push_str(value),
                        (None, None) => return Err(unset(name, node)),
                    }
                }
                Piece::File(path) => filled.push_str(&self.file(path, node)?),
                Piece::Input(id) => {
                    let input = self.entry.input(id);
                    let answer = self.with.inputs.answer(&input);
                    let answer = answer.ok_or_else(|| unanswered(id, node))?;
                    filled.push_str(answer.expose());
                }
                Piece::WorkspaceFolder => filled.push_str(folder(self.workspace(), node)?),
                Piece::WorkspaceName => {
                    let name = self.workspace().file_name();
                    filled.push_str(folder(name.unwrap_or_default().as_ref(), node)?);
                }
                Piece::UserHome => {
                    let home = self.with.home.ok_or_else(|| {
                        let message = "`${userHome}` is used and no home folder is known";
                        Note::error(ProblemKind::UnsetVariable, node.span.clone(), message)
                            .hint("set `HOME`")
                    })?;
                    filled.push_str(folder(home, node)?);
                }
            }
        }
        Ok(filled)
    }

    /// The workspace: an entry that came with a folder means that folder, even if the user is below it.
    fn workspace(&self) -> &Path {
        // A project's placeholders mean its own folder, wherever the person stands.
        if self.entry.origin().layer.needs_approval() {
            self.entry.folder()
        } else {
            self.with.workspace
        }
    }

    /// The content of a file without a final line end.
    fn file(&self, path: &str, node: &Node) -> Result<String, Note> {
        let path = paths::join(self.entry.folder(), path);
        // Links within the folder of a project are not followed; elsewhere any regular file is
        // read.
        let text = open::reference(&path, self.entry.project_folder()).map_err(|why| {
            let path = quote_name(&path.to_string_lossy());
            let message = format!("the file {path} of a placeholder cannot be read: {why}");
            Note::error(ProblemKind::UnreadableReference, node.span.clone(), message)
        })?;
        // One line end, as editors add it to a file with a token; not all white space.
        let text = text.strip_suffix('\n').unwrap_or(&text);
        Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
    }
}

fn folder<'p>(path: &'p Path, node: &Node) -> Result<&'p str, Note> {
    path.to_str().ok_or_else(|| {
        let message = "a placeholder stands for a folder whose name is not Unicode";
        Note::error(ProblemKind::BadPlaceholder, node.span.clone(), message)
    })
}

fn unset(name: &str, node: &Node) -> Note {
    let message = format!("the variable `{name}` is not set");
    Note::error(ProblemKind::UnsetVariable, node.span.clone(), message).hint(format!(
        "set `{name}`, or write a default: `${{{name}:-...}}`"
    ))
}

fn unanswered(id: &str, node: &Node) -> Note {
    let message = format!("the input {} has no answer", quote_name(id));
    Note::error(ProblemKind::Unanswered, node.span.clone(), message)
        .hint("run it where it can ask, or use `${VAR}` instead")
}
