//! What is wrong with a file, so that the person can see it and mend it.

use std::fmt;
use std::path::{Path, PathBuf};

use switchboard_core::spec::Layer;

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Something of the file is not used: an entry, a section or all of it.
    Error,
    /// Everything is used, and probably not as it was meant.
    Warning,
}

/// What kind of problem it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The text is no JSON, or no TOML.
    Syntax,
    /// It is nested too deeply.
    TooDeep,
    /// The file is too long.
    TooLarge,
    /// The file cannot be read.
    Unreadable,
    /// The file is not to be trusted: what it is, who owns it or who may write it.
    Refused,
    /// Others of the file's group may write it.
    GroupWritable,
    /// A value is of another type than the field takes, or out of its range.
    WrongType,
    /// An entry says neither how to start its server nor where it is.
    NoTransport,
    /// An entry says both.
    BothTransports,
    /// The type of an entry does not fit what else it says.
    TransportMismatch,
    /// What is there is no URL of a server.
    BadUrl,
    /// A header that cannot be sent.
    BadHeader,
    /// A variable that cannot be set.
    BadVariable,
    /// A name that no server can have.
    BadName,
    /// An entry in a list without a name.
    NoName,
    /// A key that nobody reads.
    UnknownKey,
    /// A key that is there twice, or beside another that means the same.
    DuplicateKey,
    /// A key that has no effect where it is.
    Unused,
    /// Something that is probably meant otherwise.
    Suspicious,
    /// `mcpServers` and `servers` in one file.
    BothShapes,
    /// A section that only the person's own file may have.
    UserOnly,
    /// A placeholder that nobody knows how to fill.
    BadPlaceholder,
    /// A variable that is not set and has no default.
    UnsetVariable,
    /// A file that a placeholder names and that cannot be read.
    UnreadableReference,
    /// A question that nobody answered.
    Unanswered,
    /// An entry of a farther file is used, because the nearer one is bad.
    FellBack,
    /// There are more problems than are told.
    More,
}

/// Something that is wrong with a file, or with an entry of it.
///
/// Prints as one line, `file:line:column: message`. No value of the file is in it, whatever it is
/// printed with: see [`Problem::excerpt`].
#[derive(Clone, PartialEq, Eq)]
pub struct Problem(pub(super) Box<Told>);

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) severity: Severity,
    pub(super) kind: ProblemKind,
    pub(super) file: PathBuf,
    pub(super) layer: Layer,
    pub(super) place: Option<(usize, usize)>,
    pub(super) server: Option<String>,
    pub(super) message: String,
    pub(super) expected: Option<String>,
    pub(super) hints: Vec<String>,
    pub(super) excerpt: Vec<String>,
}

impl Problem {
    /// A problem with a file as a whole.
    pub(super) fn of_file(
        severity: Severity,
        kind: ProblemKind,
        (file, layer): (&Path, &Layer),
        message: impl Into<String>,
    ) -> Self {
        Self(Box::new(Told {
            severity,
            kind,
            file: file.to_owned(),
            layer: layer.clone(),
            place: None,
            server: None,
            message: message.into(),
            expected: None,
            hints: Vec::new(),
            excerpt: Vec::new(),
        }))
    }

    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hints.push(hint.into());
        self
    }

    /// How bad it is.
    pub fn severity(&self) -> Severity {
        self.0.severity
    }

    /// Whether something is not used because of it.
    pub fn is_error(&self) -> bool {
        self.0.severity == Severity::Error
    }

    /// What kind of problem it is.
    pub fn kind(&self) -> ProblemKind {
        self.0.kind
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.0.file
    }

    /// Who wrote the file.
    pub fn layer(&self) -> &Layer {
        &self.0.layer
    }

    /// The line, from 1.
    pub fn line(&self) -> Option<usize> {
        self.0.place.map(|(line, _)| line)
    }

    /// The column, in characters from 1.
    pub fn column(&self) -> Option<usize> {
        self.0.place.map(|(_, column)| column)
    }

    /// The name of the server whose entry it is in, as the file has it.
    pub fn server(&self) -> Option<&str> {
        self.0.server.as_deref()
    }

    /// What is wrong, in one line.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What should be there instead.
    pub fn expected(&self) -> Option<&str> {
        self.0.expected.as_deref()
    }

    /// What can be done about it.
    pub fn hints(&self) -> &[String] {
        &self.0.hints
    }

    /// The line of the file with its neighbours, line by line, and a caret below the place. Keys are
    /// shown; values are masked, but for words that we know and numbers of fields that take one.
    pub fn excerpt(&self) -> &[String] {
        &self.0.excerpt
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.0.file.display())?;
        if let Some((line, column)) = self.0.place {
            write!(f, "{line}:{column}:")?;
        }
        write!(f, " {}", self.0.message)
    }
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Problem")
            .field("severity", &self.0.severity)
            .field("kind", &self.0.kind)
            .field("layer", &self.0.layer)
            .field("server", &self.0.server)
            .field("told", &self.to_string())
            .field("expected", &self.0.expected)
            .field("hints", &self.0.hints)
            .finish()
    }
}

impl std::error::Error for Problem {}
