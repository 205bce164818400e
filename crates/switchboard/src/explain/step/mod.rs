//! Steps that a diagnosis proposes, as data.
//!
//! A library cannot know how its program is operated, so a [`Step`] carries facts: which server, which
//! setting, which URL. A program that has commands, buttons or menus matches on the variants and
//! words them itself; one that has none shows [`Display`](std::fmt::Display), which is plain English
//! and names no command of any program but the server's own.

mod display;

use std::path::PathBuf;

use crate::spec::ServerName;
use crate::trust::Fingerprint;

/// One thing to do about an error.
///
/// ```
/// use switchboard::explain::{ServerEntry, Step};
///
/// let mut entry = ServerEntry::default();
/// entry.server = "demo".parse().ok();
/// let step = Step::EnableServer { entry };
/// let button = match &step {
///     Step::EnableServer { .. } => "Enable".to_owned(),
///     other => other.to_string(),
/// };
/// assert_eq!(button, "Enable");
/// assert_eq!(step.to_string(), "enable demo");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Advice in plain words. Text between backticks can be pasted: a command of another program, or
    /// a part of a config file.
    Do(String),

    /// Connects to the server again.
    TryAgain {
        /// The server to try.
        target: StepTarget,
        /// The occasion for another attempt.
        purpose: TryPurpose,
    },
    /// Tries the server at another URL.
    TryUrl {
        /// The URL to try.
        url: String,
    },
    /// Tries the URL at which a started server says that it listens.
    ReachAt {
        /// The address in the server's own output.
        url: String,
    },
    /// Follows a redirect, if the user trusts its target.
    FollowRedirect {
        /// The place that the server sent us to.
        url: String,
    },
    /// Tries the URL with the older HTTP+SSE transport.
    TrySse {
        /// The URL to try.
        url: String,
    },
    /// Lets the protocol era be detected instead of ordering one.
    DetectProtocol {
        /// The server to try.
        target: StepTarget,
    },
    /// Gives the server more time.
    RaiseTimeout {
        /// The server to try; `None` if it cannot be described without a secret, or if its call has to be
        /// repeated.
        target: Option<StepTarget>,
        /// The setting of an entry that has the limit, such as `connect_timeout`.
        setting: &'static str,
    },
    /// Connects to a server of the running host at once, without waiting for the next attempt.
    Retry {
        /// The server.
        server: Option<ServerName>,
    },
    /// Lists the tools of a server of the running host again.
    RefreshTools {
        /// The server.
        server: Option<ServerName>,
    },

    /// Enables a server that is disabled.
    EnableServer {
        /// The server.
        entry: ServerEntry,
    },
    /// Approves a server, until its description changes.
    ApproveServer {
        /// The server.
        entry: ServerEntry,
    },
    /// Approves a server for one run of the program.
    ApproveOnce {
        /// The fingerprint of the description that is approved.
        fingerprint: Fingerprint,
    },
    /// Lists what a server offers.
    ListTools {
        /// The server.
        entry: ServerEntry,
    },
    /// Shows the entry of a server.
    ShowEntry {
        /// The server.
        entry: ServerEntry,
    },
    /// Writes a member into the entry of a server.
    EditEntry {
        /// The member as JSON: `"connect_timeout": "2m"`.
        member: String,
        /// The server.
        entry: ServerEntry,
    },
    /// Corrects a config file and checks it again.
    CheckConfig {
        /// The file.
        file: PathBuf,
        /// The line of the problem, from 1.
        line: Option<usize>,
    },
    /// Changes the working folder of a server.
    ChangeFolder {
        /// The server.
        entry: ServerEntry,
    },
    /// Passes a variable on to a server although it contains a user name.
    PassVariable {
        /// The name of the variable.
        name: String,
        /// The server.
        entry: ServerEntry,
    },
    /// Names the variables that a server needs: it gets no others.
    NameVariables {
        /// The variable that the server misses, if it names one.
        name: Option<String>,
        /// The server.
        entry: ServerEntry,
    },
    /// Names the folders that a server may use.
    ShareFolders,
    /// Answers the questions of a server.
    AnswerQuestions,

    /// Runs the server's own command by hand, to see what it prints.
    RunByHand {
        /// The command, if it can be pasted: no part is masked or would be read differently by a shell.
        command: Option<String>,
        /// The server.
        entry: ServerEntry,
    },
    /// Lists the processes that earlier runs have left.
    ListLeftovers,
    /// Ends the processes that earlier runs have left.
    EndLeftovers,

    /// Uses the proxy that the environment names.
    UseProxy,
    /// Trusts the certificate authority of a server.
    TrustAuthority {
        /// The URL of the server.
        url: String,
    },
    /// Sends credentials to a server.
    SendCredentials {
        /// The URL of the server.
        url: String,
        /// The scheme that the server asks for.
        scheme: CredentialScheme,
    },
    /// Logs in to a server that offers it (OAuth).
    LogIn {
        /// The server, if it has a name.
        server: Option<ServerName>,
        /// The scopes that the server demands.
        scopes: Vec<String>,
    },
    /// Lets servers answer with streams.
    AllowStreams,
}

/// The server that a step is about, and the place of its entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerEntry {
    /// The name of the server, if the error is about a named one.
    pub server: Option<ServerName>,
    /// The config file that describes the server, if one does.
    pub file: Option<PathBuf>,
    /// The line of the entry, from 1.
    pub line: Option<usize>,
    /// The file was named by the user, so a program does not find it without its path.
    pub is_file_named: bool,
}

impl ServerEntry {
    /// Returns the file and the line as editors read them.
    pub fn place(&self) -> Option<String> {
        let file = self.file.as_ref()?.display();
        Some(match self.line {
            Some(line) => format!("{file}:{line}"),
            None => file.to_string(),
        })
    }
}

/// A server that can be tried: by its entry, or by what starts or reaches it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepTarget {
    /// A server of a config file.
    Entry(ServerEntry),
    /// The command line that starts the server. A shell reads it as it stands.
    Command(String),
    /// The URL of the server.
    Url(String),
}

/// The occasion for another attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TryPurpose {
    /// At once: the failure may pass.
    Now,
    /// After the step before it.
    Next,
    /// After the cause is repaired.
    Repaired,
    /// To see whether a server that ended still starts.
    StillStarts,
}

/// A scheme of credentials in an `Authorization` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CredentialScheme {
    /// A token.
    Bearer,
    /// A user name and a password.
    Basic,
}

impl Step {
    /// Returns whether the step names something exact to type, and does not only describe it.
    pub(super) fn is_exact(&self) -> bool {
        match self {
            Self::Do(text) => text.contains('`'),
            Self::AnswerQuestions => false,
            _ => true,
        }
    }

    /// Replaces every text that may contain a secret. Names and files are also in
    /// [`Context`](crate::Context), and are none.
    pub(super) fn redact(&mut self, redact: impl Fn(&str) -> String) {
        let text = match self {
            Self::Do(text) => text,
            Self::TryAgain { target, .. } | Self::DetectProtocol { target } => {
                return target.redact(redact);
            }
            Self::RaiseTimeout {
                target: Some(target),
                ..
            } => return target.redact(redact),
            Self::TryUrl { url }
            | Self::ReachAt { url }
            | Self::FollowRedirect { url }
            | Self::TrySse { url }
            | Self::TrustAuthority { url }
            | Self::SendCredentials { url, .. } => url,
            Self::EditEntry { member, .. } => member,
            Self::PassVariable { name, .. }
            | Self::NameVariables {
                name: Some(name), ..
            } => name,
            Self::RunByHand {
                command: Some(command),
                ..
            } => command,
            Self::LogIn { scopes, .. } => {
                for scope in scopes {
                    *scope = redact(scope);
                }
                return;
            }
            _ => return,
        };
        *text = redact(text);
    }
}

impl StepTarget {
    fn redact(&mut self, redact: impl Fn(&str) -> String) {
        match self {
            Self::Entry(_) => {}
            Self::Command(text) | Self::Url(text) => *text = redact(text),
        }
    }
}

impl From<String> for Step {
    fn from(text: String) -> Self {
        Self::Do(text)
    }
}

impl From<&str> for Step {
    fn from(text: &str) -> Self {
        Self::Do(text.to_owned())
    }
}
