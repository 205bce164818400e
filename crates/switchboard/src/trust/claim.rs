//! What a project's file wants to be done.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::canonical::canonical;
use super::fingerprint::Fingerprint;
use super::{mask, path};
use crate::spec::{Layer, Origin, ServerName};

/// The first and so far only way of taking a fingerprint.
const VERSION: u32 = 1;

/// One server as a project's file describes it, with nothing expanded.
///
/// `Debug` shows no value of `env` or `headers`.
#[derive(Clone, PartialEq)]
pub struct Claim {
    /// The name of the server.
    pub server: ServerName,
    /// The real path of the file, with no link left in it.
    pub file: PathBuf,
    /// Who wrote the file.
    pub layer: Layer,
    /// The line at which the entry begins, from 1.
    pub line: Option<usize>,
    /// The whole entry as it is in the file, before anything in it is expanded.
    pub entry: Value,
    /// The program that the command was found to be, as an absolute path; nothing where none was
    /// found, or none is started.
    pub program: Option<PathBuf>,
    /// What the entry refers to: `${TOKEN}`, `${file:key.txt}`.
    pub references: Vec<String>,
    /// The descriptions of the same name that this one hides.
    pub shadows: Vec<Origin>,
}

impl Claim {
    /// A claim that starts no program, refers to nothing and hides nothing; the fields are public.
    pub fn new(server: ServerName, file: impl Into<PathBuf>, layer: Layer, entry: Value) -> Self {
        Self {
            server,
            file: file.into(),
            layer,
            line: None,
            entry,
            program: None,
            references: Vec::new(),
            shadows: Vec::new(),
        }
    }

    /// The fingerprint of all that decides what would be done: the real path of the file, the name of
    /// the server, every value of the entry, the program, and the set of references.
    ///
    /// The order of keys, white space, the spelling of strings and the place in the file do not change
    /// it. A number is what is read from it: `1.50` is `15e-1`, but `1` is not `1.0`.
    pub fn fingerprint(&self) -> Fingerprint {
        let references: BTreeSet<&String> = self.references.iter().collect();
        Fingerprint::of(&canonical(&json!({
            "version": VERSION,
            "file": path::to_text(&self.file),
            "server": self.server.as_str(),
            "entry": self.entry,
            "program": self.program.as_deref().map(path::to_text),
            "references": references,
        })))
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim")
            .field("server", &self.server)
            .field("file", &self.file)
            .field("layer", &self.layer)
            .field("line", &self.line)
            .field("entry", &mask::for_logs(&self.entry).to_string())
            .field("program", &self.program)
            .field("references", &mask::references(&self.references))
            .field("shadows", &self.shadows)
            .finish()
    }
}
