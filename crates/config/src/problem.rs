//! Problems of config files, described so that the user can see and fix them.

use std::fmt;
use std::path::{Path, PathBuf};

use switchboard_core::spec::Layer;

/// The severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// A part of the file is not used: an entry, a section or all of it.
    Error,
    /// Everything is used, but probably not as intended.
    Warning,
}

/// The kind of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The text is not valid JSON or TOML.
    Syntax,
    /// It is nested too deeply.
    TooDeep,
    /// The file is too long.
    TooLarge,
    /// The file cannot be read.
    Unreadable,
    /// The file is not safe: its type, its owner or its permissions.
    Refused,
    /// Members of the file's group may write it.
    GroupWritable,
    /// A value has the wrong type, or is out of range.
    WrongType,
    /// An entry has neither a command nor a URL.
    NoTransport,
    /// An entry has both a command and a URL.
    BothTransports,
    /// The type of an entry contradicts its other fields.
    TransportMismatch,
    /// The text is not the URL of a server.
    BadUrl,
    /// A header that cannot be sent.
    BadHeader,
    /// A variable that cannot be set.
    BadVariable,
    /// A name that is not valid for a server.
    BadName,
    /// An entry in a list without a name.
    NoName,
    /// An unknown key.
    UnknownKey,
    /// A key that occurs twice, or beside an equivalent one.
    DuplicateKey,
    /// A key that has no effect in its place.
    Unused,
    /// A value that was probably meant differently.
    Suspicious,
    /// Both `mcpServers` and `servers` in one file.
    BothShapes,
    /// A section that only the user's own file may contain.
    UserOnly,
    /// A placeholder of an unknown kind.
    BadPlaceholder,
    /// A variable that is not set and has no default.
    UnsetVariable,
    /// A file that a placeholder names and that cannot be read.
    UnreadableReference,
    /// An input without an answer.
    Unanswered,
    /// An entry of a farther layer is used, because the nearer one is invalid.
    FellBack,
    /// There are further problems, which are not listed.
    More,
}

/// A problem of a file, or of an entry in it.
///
/// `Display` writes one line, `file:line:column: message`. Neither `Display` nor `Debug` contains a value
/// of the file: see [`Problem::excerpt`].
#[derive(Clone, PartialEq, Eq)]
pub struct Problem(pub(super) Box<ProblemDetails>);

#[derive(Clone, PartialEq, Eq)]
pub(super) struct ProblemDetails {
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

/// A config file and its layer.
#[derive(Clone, Copy)]
pub(super) struct FilePlace<'a> {
    pub(super) file: &'a Path,
    pub(super) layer: &'a Layer,
}

impl Problem {
    /// Creates a problem of a file as a whole.
    pub(super) fn of_file(
        severity: Severity,
        kind: ProblemKind,
        place: FilePlace<'_>,
        message: impl Into<String>,
    ) -> Self {
        Self(Box::new(ProblemDetails {
            severity,
            kind,
            file: place.file.to_owned(),
            layer: place.layer.clone(),
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

    /// The severity.
    pub fn severity(&self) -> Severity {
        self.0.severity
    }

    /// Returns true if a part of the file is not used because of it.
    pub fn is_error(&self) -> bool {
        self.0.severity == Severity::Error
    }

    /// The kind of problem.
    pub fn kind(&self) -> ProblemKind {
        self.0.kind
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.0.file
    }

    /// The layer of the file.
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

    /// The name of the server whose entry it is in, as written in the file.
    pub fn server(&self) -> Option<&str> {
        self.0.server.as_deref()
    }

    /// The description, in one line.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// A description of a valid value.
    pub fn expected(&self) -> Option<&str> {
        self.0.expected.as_deref()
    }

    /// Advice for fixing it.
    pub fn hints(&self) -> &[String] {
        &self.0.hints
    }

    /// The line of the file with its neighbours, and carets below the place. Keys are shown; values are
    /// masked, except for known words, and for numbers in fields that take one.
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
