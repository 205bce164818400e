//! One server as described in a config file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use switchboard_core::secret::{SafeUrl, Secret, is_secret};
use switchboard_core::spec::{
    Endpoint, OAuth, OAuthResource, Origin, Process, Remote, ServerName, ServerSpec, Settings,
    TransportKind,
};

use super::expand::{self, Expansion, Input};
use super::paths;
use super::problem::{FilePlace, Problem, ProblemKind, Severity};
use super::read::oauth::OAuthDraft;
use super::read::{self, Draft, Stage, Text};
use super::report::{Note, Report};
use super::source::Source;
use super::template::{self, Piece, Reference};
use super::tree::Node;
use super::variables::VariablesFile;

/// One server as described in a config file, before placeholders are expanded or anything is looked up.
#[derive(Clone)]
pub struct Entry(Arc<Inner>, Vec<Origin>);

struct Inner {
    name: ServerName,
    origin: Origin,
    folder: PathBuf,
    project: Option<PathBuf>,
    value: Value,
    node: Node,
    draft: Draft,
    references: Vec<Reference>,
    inputs: Arc<Vec<Input>>,
    source: Arc<Source>,
}

/// The parts of an entry.
pub(super) struct Parts {
    pub(super) name: ServerName,
    pub(super) origin: Origin,
    pub(super) folder: PathBuf,
    pub(super) project: Option<PathBuf>,
    pub(super) node: Node,
    pub(super) draft: Draft,
    pub(super) references: Vec<Reference>,
    pub(super) inputs: Arc<Vec<Input>>,
    pub(super) source: Arc<Source>,
}

impl Entry {
    pub(super) fn new(parts: Parts) -> Self {
        let inner = Inner {
            name: parts.name,
            origin: parts.origin,
            folder: parts.folder,
            project: parts.project,
            // Made once: fingerprints and questions of approvals are about this value.
            value: parts.node.to_value(),
            node: parts.node,
            draft: parts.draft,
            references: parts.references,
            inputs: parts.inputs,
            source: parts.source,
        };
        Self(Arc::new(inner), Vec::new())
    }

    pub(super) fn node(&self) -> &Node {
        &self.0.node
    }

    pub(super) fn draft(&self) -> &Draft {
        &self.0.draft
    }

    /// Creates a problem of this entry from a note.
    pub(super) fn locate(&self, note: Note) -> Problem {
        note.at(&self.0.source, Some(self.0.name.as_str()))
    }

    /// Records that this entry is used instead of another, and of those that the other one replaced.
    pub(super) fn shadow(&mut self, other: &Self) {
        // The hidden entry's own list first: the nearest file comes last.
        self.1.extend_from_slice(&other.1);
        self.1.push(other.0.origin.clone());
    }

    /// The input of an id; one with defaults if the file does not describe it.
    pub(super) fn input(&self, id: &str) -> Input {
        let mut inputs = self.0.inputs.iter();
        let known = inputs.find(|input| input.id == id).cloned();
        known.unwrap_or_else(|| Input {
            id: id.to_owned(),
            ..Input::default()
        })
    }

    /// The name of the server.
    pub fn name(&self) -> &ServerName {
        &self.0.name
    }

    /// The origin of the entry.
    pub fn origin(&self) -> &Origin {
        &self.0.origin
    }

    /// Returns true unless it is disabled.
    pub fn is_enabled(&self) -> bool {
        self.0.draft.is_enabled
    }

    /// The transport of the server.
    pub fn transport(&self) -> TransportKind {
        self.0.draft.transport
    }

    /// The whole entry as written, with the defaults of its file and under our names of the fields.
    /// Placeholders are not expanded.
    pub fn value(&self) -> &Value {
        &self.0.value
    }

    /// The variables, files and inputs that it refers to, each once.
    pub fn references(&self) -> &[Reference] {
        &self.0.references
    }

    /// The command as written.
    pub fn command(&self) -> Option<&str> {
        self.0.draft.command.as_ref().map(|text| text.text.as_str())
    }

    /// The arguments as written.
    pub fn args(&self) -> impl Iterator<Item = &str> {
        self.0.draft.args.iter().map(|text| text.text.as_str())
    }

    /// The URL as written. It may contain a secret.
    pub fn url(&self) -> Option<&str> {
        self.0.draft.url.as_ref().map(|text| text.text.as_str())
    }

    /// The names of the variables that it sets.
    pub fn env_names(&self) -> impl Iterator<Item = &str> {
        self.0.draft.env.iter().map(|(name, _)| name.as_str())
    }

    /// The names of the headers that it sends.
    pub fn header_names(&self) -> impl Iterator<Item = &str> {
        self.0.draft.headers.iter().map(|(name, _)| name.as_str())
    }

    /// The variables of the host that it passes through, as written.
    pub fn env_passthrough(&self) -> impl Iterator<Item = &str> {
        let names = self.0.draft.env_passthrough.iter();
        names.map(|text| text.text.as_str())
    }

    /// The origins of entries of the same name in farther layers, which this one replaces, the farthest
    /// first.
    pub fn shadows(&self) -> &[Origin] {
        &self.1
    }

    /// The folder that relative paths start from: the folder of the file, or its parent if the file is in a
    /// folder such as `.switchboard` or `.vscode`.
    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// The folder of the project that the entry came with; `None` for a user's own entry.
    pub(super) fn project_folder(&self) -> Option<&Path> {
        let needs_approval = self.origin().layer.needs_approval();
        needs_approval.then(|| self.folder())
    }

    /// The project that the entry is for, in files with entries for several projects.
    pub fn project(&self) -> Option<&Path> {
        self.0.project.as_deref()
    }

    /// The inputs that its file describes.
    pub fn inputs(&self) -> &[Input] {
        &self.0.inputs
    }

    /// The settings, as far as they are known before placeholders are expanded; roots are not.
    pub fn settings(&self) -> &Settings {
        &self.0.draft.settings
    }

    /// Returns true if a field is present, by our name of it.
    pub fn has(&self, field: &str) -> bool {
        self.0.node.get(field).is_some()
    }

    /// Creates a problem of this entry that was found outside of its file, at the beginning of the entry.
    pub fn problem(&self, kind: ProblemKind, message: &str) -> Problem {
        let at = self.0.node.span.start;
        let note = Note::error(kind, at..at + 1, message);
        note.at(&self.0.source, Some(self.0.name.as_str()))
    }

    /// Expands the placeholders: looks up variables, reads files, asks for inputs. Nothing before this does,
    /// so an entry that needs approval must have it by now.
    ///
    /// # Errors
    /// Fails if something that the entry refers to does not exist, or if the result is not a valid server.
    pub fn expand(&self, with: &Expansion<'_>) -> Result<ServerSpec, Problem> {
        self.expand_entry(with, None)
    }

    /// Expands the placeholders like [`Entry::expand`], with a file of variables that was read before. So the
    /// content that was approved is the content that is used, even if the file has changed since.
    ///
    /// # Errors
    /// Fails like [`Entry::expand`].
    pub fn expand_with(
        &self,
        with: &Expansion<'_>,
        variables: &VariablesFile,
    ) -> Result<ServerSpec, Problem> {
        self.expand_entry(with, Some(variables))
    }

    fn expand_entry(
        &self,
        with: &Expansion<'_>,
        variables: Option<&VariablesFile>,
    ) -> Result<ServerSpec, Problem> {
        let told = |note: Note| note.at(&self.0.source, Some(self.0.name.as_str()));
        // 1. Fill the placeholders, 2. read the filled entry, 3. make the description.
        let node = expand::expand(self, with).map_err(told)?;
        let mut report = Report::new(Arc::clone(&self.0.source));
        report.set_server(Some(self.0.name.as_str()));
        let at = node.span.start..node.span.start + 1;
        // Validate again: a value with a placeholder was not checked when the file was loaded.
        let Some(draft) = read::read(&node, &at, Stage::Filled, &mut report) else {
            let place = FilePlace {
                file: &self.0.source.file,
                layer: &self.0.origin.layer,
            };
            let unclear = || {
                let kind = ProblemKind::WrongType;
                Problem::of_file(Severity::Error, kind, place, "an entry cannot be read")
            };
            return Err(report.first_error().unwrap_or_else(unclear));
        };
        self.spec(&draft, variables).map_err(told)
    }

    fn spec(&self, draft: &Draft, variables: Option<&VariablesFile>) -> Result<ServerSpec, Note> {
        let folder = self.folder();
        let mut settings = draft.settings.clone();
        let roots = draft.roots.iter();
        settings.roots = roots.map(|root| paths::join(folder, &root.text)).collect();
        let endpoint = match (&draft.command, &draft.url) {
            // An entry with both was refused when it was read.
            (Some(command), _) => Endpoint::Process(self.process(command, draft, variables)?),
            (None, Some(url)) => {
                let mut remote = remote(url, draft)?;
                remote.oauth = draft
                    .oauth
                    .as_ref()
                    .map(|oauth| Box::new(self.oauth(oauth)));
                // A token that was filled into the URL is a secret, though the URL as a whole is
                // shown.
                let written = self.url().unwrap_or_default();
                remote.secrets.extend(secret_part(written, &url.text));
                Endpoint::Remote(remote)
            }
            (None, None) => {
                let span = self.0.node.span.clone();
                return Err(Note::error(ProblemKind::NoTransport, span, "no command"));
            }
        };
        let mut spec = ServerSpec::new(self.0.name.clone(), endpoint, self.0.origin.clone());
        spec.is_enabled = draft.is_enabled;
        spec.settings = settings;
        Ok(spec)
    }

    fn process(
        &self,
        command: &Text,
        draft: &Draft,
        variables: Option<&VariablesFile>,
    ) -> Result<Process, Note> {
        let mut process = Process::new(self.program(command)?);
        process.args = texts(&draft.args);
        let filled = draft.args.iter().map(|text| text.text.as_str());
        // Written and filled arguments side by side: the difference is what a placeholder put in.
        let filled = self.args().zip(filled);
        process.secrets = filled
            .filter_map(|(was, is)| secret_part(was, is))
            .collect();
        // The file of variables first: explicit variables of the entry override it.
        if let Some(field) = &draft.env_file {
            let read = || {
                VariablesFile::read(
                    paths::join(self.folder(), &field.text),
                    self.project_folder(),
                )
            };
            process.env = match variables {
                Some(file) => file.variables(field)?,
                None => read().variables(field)?,
            };
        }
        let own = draft.env.iter();
        let own = own.map(|(name, text)| (name.clone(), Secret::new(text.text.clone())));
        process.env.extend(own);
        process.env_passthrough = texts(&draft.env_passthrough);
        let cwd = draft.cwd.as_ref();
        process.cwd = cwd.map(|cwd| paths::join(self.folder(), &cwd.text));
        Ok(process)
    }

    fn oauth(&self, draft: &OAuthDraft) -> OAuth {
        let text = |text: &Option<Text>| text.as_ref().map(|text| text.text.clone());
        let secret = |it: &Option<Text>| text(it).map(Secret::new);
        let mut oauth = OAuth::default();
        oauth.client_id = text(&draft.client_id);
        oauth.client_secret = secret(&draft.client_secret);
        oauth.client_key = secret(&draft.client_key);
        oauth.client_metadata_url = text(&draft.client_metadata_url);
        oauth.scopes = draft.scopes.as_ref().map(|scopes| texts(scopes));
        oauth.callback_port = draft.callback_port;
        oauth.redirect_uri = text(&draft.redirect_uri);
        oauth.resource = match text(&draft.resource).as_deref() {
            None => OAuthResource::Discovered,
            Some("omit") => OAuthResource::Omit,
            Some(value) => OAuthResource::Value(value.to_owned()),
        };
        oauth.issuer = text(&draft.issuer);
        oauth.authorization_endpoint = text(&draft.authorization_endpoint);
        oauth.token_endpoint = text(&draft.token_endpoint);
        oauth.device_authorization_endpoint = text(&draft.device_authorization_endpoint);
        oauth.grant = draft.grant;
        let file = draft.assertion_file.as_ref();
        oauth.assertion_file = file.map(|file| paths::join(self.folder(), &file.text));
        oauth
    }

    /// Resolves a path relative to the folder of the file; a plain name is looked up later.
    pub(super) fn program(&self, command: &Text) -> Result<String, Note> {
        // A bare name is looked up in PATH when the server starts.
        if !paths::is_path(&command.text) {
            return Ok(command.text.clone());
        }
        let path = paths::join(self.folder(), &command.text);
        path.into_os_string().into_string().map_err(|_| {
            let message = "the path of the command is not Unicode";
            Note::error(ProblemKind::WrongType, command.span.clone(), message)
        })
    }
}

fn remote(url: &Text, draft: &Draft) -> Result<Remote, Note> {
    let parsed = SafeUrl::parse(&url.text)
        .map_err(|_| Note::error(ProblemKind::BadUrl, url.span.clone(), "this is no URL"))?;
    let mut remote = Remote::new(parsed, draft.transport);
    let headers = draft.headers.iter();
    remote.headers = headers
        .map(|(name, text)| (name.clone(), Secret::new(text.text.clone())))
        .collect();
    remote.streamable = draft.streamable;
    remote.strict_session_id = draft.strict_session_id;
    remote.override_headers = draft.override_headers;
    remote.follow_redirects = draft.follow_redirects;
    Ok(remote)
}

/// Returns the text that replaced the placeholders of a written text, if one of them may be a secret: a
/// file, an input, or a variable with a secret name.
fn secret_part(written: &str, filled: &str) -> Option<Secret<String>> {
    let pieces = template::pieces(written).ok()?;
    let (before, rest) = written.split_once("${")?;
    let (_, behind) = rest.rsplit_once('}')?;
    // From the first placeholder to the last: text between two of them is taken along.
    let value = filled.strip_prefix(before)?.strip_suffix(behind)?;
    let fills_secret = |piece: &Piece<'_>| match piece {
        Piece::File(_) | Piece::Input(_) => true,
        Piece::Variable { name, .. } => is_secret(name, value),
        _ => false,
    };
    let is_filled = pieces.iter().any(fills_secret);
    is_filled.then(|| Secret::new(value.to_owned()))
}

fn texts(texts: &[Text]) -> Vec<String> {
    texts.iter().map(|text| text.text.clone()).collect()
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("name", &self.0.name)
            .field("origin", &self.0.origin)
            .field("transport", &self.0.draft.transport)
            .field("is_enabled", &self.0.draft.is_enabled)
            .field("references", &self.0.references)
            .finish_non_exhaustive()
    }
}
