//! The claim that an approval is bound to, and the data that an approval hands on.
//!
//! Everything that an approval is bound to is looked up and read once, before the question: the
//! program, even if the command refers to a variable; the file of variables; the content of files,
//! if approvals are bound to it. What was approved is then handed on, and none of it is looked up
//! or read again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchboard_client::ServerErrorCause;

use super::Options;
use crate::config::{Entry, Expansion, NoInputs, Reference, VariablesFile};
use crate::error::{Error, HostError};
use crate::session::OpenError;
use crate::spec::ServerName;
use crate::talk::Operator as _;
use crate::transport::{Connect, ConnectError, Connecting, Environment, Search, resolve};
use crate::trust::{self, Admission, Bind, Claim, Content, EnvFile, Fingerprint};

/// The most files whose content is bound for one server.
const MOST_FILES: usize = 256;

/// The parts of an entry that were approved; empty for an entry that needs no approval.
#[derive(Default)]
pub(in crate::host) struct Approved {
    /// The program that was approved.
    pub(super) program: Option<PathBuf>,
    /// The file of variables as it was read for the approval.
    pub(super) variables: Option<VariablesFile>,
    /// Files that must still have the content that was approved when the server is started.
    pub(super) contents: Vec<Content>,
    /// The approval in the store, without which the server must not go on.
    pub(super) approval: Option<Fingerprint>,
}

/// The facts about an entry that are gathered before it is approved.
struct Grounds {
    claim: Claim,
    variables: Option<VariablesFile>,
    /// The reason for which no program was found; `None` if it was found, or none is needed.
    missing: Option<Error>,
}

/// Makes sure that an entry is approved, and returns the parts that were approved with it.
///
/// # Errors
/// Fails if it is not approved, approvals cannot be looked up, or its program is missing.
pub(super) async fn admit(
    entry: &Entry,
    options: &Arc<Options>,
    own_servers: Vec<ServerName>,
) -> Result<Approved, Error> {
    // 1. Gather the facts on a blocking thread: this reads files.
    let (read, options_there) = (entry.clone(), Arc::clone(options));
    let grounds =
        tokio::task::spawn_blocking(move || Grounds::of(&read, &options_there, own_servers));
    let grounds = grounds.await.map_err(|_| ServerErrorCause::Stopped)?;
    // 2. Look the approval up, and ask the person if there is no approval yet.
    let ask = |question| options.operator.approve_server(question);
    let approval = match trust::admit(&options.store, &grounds.claim, ask).await {
        Ok(Admission::Admitted) => Some(grounds.claim.fingerprint()),
        Ok(Admission::AdmittedOnce) => None,
        Ok(Admission::Refused(question)) => return Err(HostError::Untrusted(question).into()),
        Err(error) => return Err(HostError::Store(error).into()),
    };
    // 3. Report a missing program: once it appears the claim differs, and is asked about again.
    match grounds.missing {
        Some(error) => Err(error),
        None => Ok(Approved {
            program: grounds.claim.program,
            variables: grounds.variables,
            contents: grounds.claim.contents,
            approval,
        }),
    }
}

/// Returns the claim that an approval of an entry is bound to. Reads files, and starts nothing.
pub(super) fn claim(entry: &Entry, options: &Options, own_servers: Vec<ServerName>) -> Claim {
    Grounds::of(entry, options, own_servers).claim
}

/// The description of an entry and its program, as far as that is known without filling or reading anything.
pub(in crate::host) fn describe(entry: &Entry, environment: &Environment) -> Claim {
    let origin = entry.origin();
    let file = origin.file.clone().unwrap_or_default();
    // The real path, so that a link to an approved file is not taken for it.
    let file = real(file, entry.folder());
    let (name, layer) = (entry.name().clone(), origin.layer.clone());
    let mut claim = Claim::new(name, file, layer, entry.value().clone());
    claim.line = origin.line;
    claim.references = entry.references().iter().map(reference_text).collect();
    claim.shadows = entry.shadows().to_vec();
    claim.uses_login = uses_login(entry);
    // A command with a placeholder is not looked up here: filling it in reads variables.
    let command = entry.command().filter(|command| is_plain(command));
    claim.program = command.and_then(|command| search(command, entry, environment, None).ok());
    claim
}

/// Returns true if a server is sent the token of a login: it is at a URL, and its entry sets no
/// header for that.
fn uses_login(entry: &Entry) -> bool {
    let mut headers = entry.header_names();
    cfg!(feature = "auth")
        && entry.url().is_some()
        && !headers.any(|name| name.eq_ignore_ascii_case("authorization"))
}

/// Returns the values for the placeholders of an entry, apart from the person's answers.
pub(super) fn expansion<'a>(entry: &'a Entry, options: &'a Options) -> Expansion<'a> {
    // The project that the entry came with, then the program's, then the folder of the file.
    let workspace = entry.project().or(options.workspace.as_deref());
    let workspace = workspace.unwrap_or_else(|| entry.folder());
    Expansion::new(&options.environment, workspace).home(options.home.as_deref())
}

impl Grounds {
    fn of(entry: &Entry, options: &Options, own_servers: Vec<ServerName>) -> Self {
        // Without the person's answers: nothing is asked before the server is approved.
        let expansion = expansion(entry, options).inputs(&NoInputs);
        let variables = entry.variables_file(&expansion);
        // The file of variables may set PATH, so it is read before the program is looked for.
        let found = look_up(entry, &expansion, &options.environment, variables.as_ref());
        let mut claim = describe(entry, &options.environment);
        let (program, missing) = match found {
            Some(Ok(program)) => (Some(program), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        claim.program = program;
        claim.env_file = variables.as_ref().map(env_file);
        if options.bind == Bind::Content {
            claim.contents = contents(entry, &expansion, claim.program.as_deref());
        }
        claim.own_servers = own_servers;
        Self {
            claim,
            variables,
            missing,
        }
    }
}

/// Finds the program of an entry's command, or the reason for which there is no program; `None` for
/// an entry without a command.
fn look_up(
    entry: &Entry,
    expansion: &Expansion<'_>,
    environment: &Environment,
    variables: Option<&VariablesFile>,
) -> Option<Result<PathBuf, Error>> {
    let command = entry.command()?;
    let filled = if is_plain(command) {
        Ok(command.to_owned())
    } else {
        entry.filled_command(expansion)?
    };
    let command = match filled {
        Ok(command) => command,
        Err(problem) => return Some(Err(HostError::Problem(Box::new(problem)).into())),
    };
    let found = search(&command, entry, environment, variables);
    Some(found.map_err(|error| OpenError::Connect(error).into()))
}

fn search(
    command: &str,
    entry: &Entry,
    environment: &Environment,
    variables: Option<&VariablesFile>,
) -> Result<PathBuf, ConnectError> {
    let variable = |name: &str| {
        let value = environment.get(name);
        value.map(|value| value.expose().as_str())
    };
    let own = entry.value().pointer("/env/PATH");
    // In the order in which the process gets it: its own `env`, the file of variables, then ours.
    let path = match own.and_then(|path| path.as_str()) {
        Some(path) if is_plain(path) => Some(path),
        Some(_) => variable("PATH"),
        None => {
            let of_file = variables.and_then(|file| file.get("PATH"));
            let of_file = of_file.map(|path| path.expose().as_str());
            of_file.or_else(|| variable("PATH"))
        }
    };
    let found = resolve(&Search {
        command,
        path,
        pathext: variable("PATHEXT"),
        cwd: Some(entry.folder()),
    })?;
    // Absolute, so that the same program is meant after a change of the folder.
    Ok(std::path::absolute(&found).unwrap_or(found))
}

fn is_plain(text: &str) -> bool {
    !text.contains("${")
}

fn env_file(file: &VariablesFile) -> EnvFile {
    match (file.names(), file.text()) {
        (Ok(names), Some(text)) => {
            let names = names.into_iter().map(str::to_owned).collect();
            EnvFile::read(file.path(), names, text.expose())
        }
        (Err(why), _) => EnvFile::unreadable(file.path(), why),
        (Ok(_), None) => EnvFile::unreadable(file.path(), "reading fails"),
    }
}

/// The content of the program and of the files that its arguments name.
fn contents(entry: &Entry, expansion: &Expansion<'_>, program: Option<&Path>) -> Vec<Content> {
    // Nothing can be started without a program, so there is nothing to bind.
    let Some(program) = program else {
        return Vec::new();
    };
    let mut files = vec![program.to_owned()];
    for file in entry.files_of_arguments(expansion) {
        let file = std::path::absolute(&file).unwrap_or(file);
        if !files.contains(&file) {
            files.push(file);
        }
    }
    // Files over the bound are counted in the claim, so that the person knows that some are not
    // covered.
    let more = files.len().saturating_sub(MOST_FILES);
    files.truncate(MOST_FILES);
    let mut contents: Vec<Content> = files.into_iter().map(Content::of).collect();
    if more > 0 {
        contents.push(Content::unknown(
            "",
            format!("{more} more files are not bound"),
        ));
    }
    contents
}

/// A transport that refuses to start a server if a file has other content than was approved.
///
/// A file can still be replaced in the short time between the check and the start. The check covers
/// the time between the question and the start, and every later start of the same server.
pub(super) struct Unchanged {
    inner: Box<dyn Connect>,
    contents: Arc<[Content]>,
}

impl Unchanged {
    pub(super) fn guard(inner: Box<dyn Connect>, contents: Vec<Content>) -> Box<dyn Connect> {
        if contents.is_empty() {
            return inner;
        }
        Box::new(Self {
            inner,
            contents: contents.into(),
        })
    }
}

impl Connect for Unchanged {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async move {
            let contents = Arc::clone(&self.contents);
            // Hashing whole files takes long enough to hold up other tasks.
            let changed = tokio::task::spawn_blocking(move || {
                let mut contents = contents.iter();
                let changed = contents.find(|content| content.has_changed());
                changed.map(|content| content.path.clone())
            });
            match changed.await.map_err(ConnectError::other)? {
                None => self.inner.connect().await,
                Some(path) => Err(ConnectError::other(format!(
                    "the content of {} has changed since it was approved, so that it is not started",
                    path.display()
                ))),
            }
        })
    }

    fn identity(&self) -> String {
        self.inner.identity()
    }
}

/// The real path of a file, by that of the folder that it came with: a link between the two would let
/// a folder pass for another, which was approved.
fn real(file: PathBuf, folder: &Path) -> PathBuf {
    match (file.strip_prefix(folder), folder.canonicalize()) {
        (Ok(below), Ok(folder)) => folder.join(below),
        // A file that is not there any more keeps its name.
        _ => file.canonicalize().unwrap_or(file),
    }
}

/// A reference as it is written.
fn reference_text(reference: &Reference) -> String {
    match reference {
        Reference::Variable { name, .. } => format!("${{{name}}}"),
        Reference::File(path) => format!("${{file:{}}}", path.display()),
        Reference::Input(id) => format!("${{input:{id}}}"),
        Reference::WorkspaceFolder => "${workspaceFolder}".to_owned(),
        Reference::UserHome => "${userHome}".to_owned(),
    }
}
