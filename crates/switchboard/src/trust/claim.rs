//! Claims: entries of a project's file that ask to be run.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use serde_json::{Value, json};
use switchboard_core::mask::{self, MaskPolicy};

use super::bound::{Content, EnvFile};
use super::fingerprint::Fingerprint;
use super::{careful, path};
use crate::spec::{Layer, Origin, ServerName};
use crate::text::canonical_json;

/// The version of a fingerprint over the entry, its program and its references.
const PLAIN: u32 = 1;

/// The version that also covers a program that the entry names by reference, the file of variables, the
/// content of files, and the use of a login.
const BINDING: u32 = 2;

/// One server as a project's file describes it, with nothing expanded.
///
/// `Debug` shows no value of `env` or `headers`.
#[derive(Clone, PartialEq)]
#[doc(hidden)]
pub struct Claim {
    /// The name of the server.
    pub server: ServerName,
    /// The real path of the file, with no link left in it.
    pub file: PathBuf,
    /// The layer that the file belongs to.
    pub layer: Layer,
    /// The line at which the entry begins, from 1.
    pub line: Option<usize>,
    /// The whole entry as it is in the file, before anything in it is expanded.
    pub entry: Value,
    /// The absolute path that the command resolved to; `None` if it was not found, or if no program is
    /// started.
    pub program: Option<PathBuf>,
    /// The references in the entry, such as `${TOKEN}` or `${file:key.txt}`.
    pub references: Vec<String>,
    /// The file of variables that the entry names, as it was read.
    pub env_file: Option<EnvFile>,
    /// The program and the files of its arguments with the hashes of their content, where those are bound.
    pub contents: Vec<Content>,
    /// Set if the server would receive the token of the user's login at its URL.
    pub uses_login: bool,
    /// The entries of the same name that this one hides.
    pub shadows: Vec<Origin>,
    /// The user's own servers, whose names this one may be mistaken for.
    pub own_servers: Vec<ServerName>,
}

impl Claim {
    /// Creates a claim that starts no program, has no references and hides nothing; set the public fields
    /// for more.
    pub fn new(server: ServerName, file: impl Into<PathBuf>, layer: Layer, entry: Value) -> Self {
        Self {
            server,
            file: file.into(),
            layer,
            line: None,
            entry,
            program: None,
            references: Vec::new(),
            env_file: None,
            contents: Vec::new(),
            uses_login: false,
            shadows: Vec::new(),
            own_servers: Vec::new(),
        }
    }

    /// Returns the fingerprint of everything that decides what would be run: the real path of the file,
    /// the name of the server, every value of the entry, the program, the set of references, the file of
    /// variables, the content of files that are bound, and the use of a login.
    ///
    /// The order of keys, white space, the spelling of strings and the place in the file do not change
    /// it. Numbers count by their value: `1.50` is `15e-1`, but `1` is not `1.0`.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint_with(&self.contents)
    }

    /// Returns the fingerprints of the same entry with less bound: without the content of files, and as
    /// computed by releases that bound neither a program named by a reference, the file of variables nor
    /// a login.
    ///
    /// None of them equals [`Claim::fingerprint`].
    pub(super) fn weaker_fingerprints(&self) -> Vec<Fingerprint> {
        let mut weaker = Vec::new();
        // From the strictest down: what an earlier release, or a weaker setting, would have
        // approved.
        if !self.contents.is_empty() {
            weaker.push(self.fingerprint_with(&[]));
        }
        if self.names_program_by_reference() || self.env_file.is_some() || self.uses_login {
            weaker.push(self.description());
        }
        weaker
    }

    /// Returns the fingerprint of the entry alone: the entry, a program that is named without references,
    /// and the references.
    pub(crate) fn description(&self) -> Fingerprint {
        let program = self.program.as_deref();
        // A program that a variable names may be another one tomorrow, with the same description.
        let program = program.filter(|_| !self.names_program_by_reference());
        self.form(PLAIN, program.map(path::to_text).as_deref(), None)
    }

    fn fingerprint_with(&self, contents: &[Content]) -> Fingerprint {
        let program = self.program.as_deref().map(path::to_text);
        let env_file = self.env_file.as_ref();
        // If nothing more is bound, the form stays the same, so that approvals of earlier releases and
        // hashes in scripts remain valid.
        let binds_more = env_file.is_some() || !contents.is_empty() || self.uses_login;
        if !binds_more && !self.names_program_by_reference() {
            return self.form(PLAIN, program.as_deref(), None);
        }
        let mut bound = json!({
            "env_file": env_file.map(EnvFile::canonical),
            "contents": contents.iter().map(Content::canonical).collect::<Vec<_>>(),
        });
        if let (true, Some(members)) = (self.uses_login, bound.as_object_mut()) {
            members.insert("login".to_owned(), true.into());
        }
        self.form(BINDING, program.as_deref(), Some(bound))
    }

    fn form(&self, version: u32, program: Option<&str>, bound: Option<Value>) -> Fingerprint {
        // A set: the order in which an entry refers to things does not matter.
        let references: BTreeSet<&String> = self.references.iter().collect();
        let mut document = json!({
            "version": version,
            "file": path::to_text(&self.file),
            "server": self.server.as_str(),
            "entry": self.entry,
            "program": program,
            "references": references,
        });
        if let (Some(bound), Some(members)) = (bound, document.as_object_mut()) {
            members.insert("bound".to_owned(), bound);
        }
        Fingerprint::of(&canonical_json(&document))
    }

    /// Returns `true` if the command contains a reference, so that the program is known only after
    /// expansion.
    pub(super) fn names_program_by_reference(&self) -> bool {
        careful::command(&self.entry).is_some_and(|command| command.contains("${"))
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim")
            .field("server", &self.server)
            .field("file", &self.file)
            .field("layer", &self.layer)
            .field("line", &self.line)
            .field(
                "entry",
                &mask::mask_entry(&self.entry, MaskPolicy::Log).to_string(),
            )
            .field("program", &self.program)
            .field("references", &mask::references(&self.references))
            .field("env_file", &self.env_file)
            .field("contents", &self.contents)
            .field("uses_login", &self.uses_login)
            .field("shadows", &self.shadows)
            .field("own_servers", &self.own_servers)
            .finish()
    }
}
