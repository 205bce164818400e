//! What must be so before a server is connected to: it is enabled, approved, and its description
//! has nothing left to expand.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Inner;
use super::member::{Member, Ready, Source};
use super::{launch, reach, secrets, sections};
use crate::config::{Entry, Expansion, ProblemKind, Reference};
use crate::error::{Error, HostError};
use crate::events::Event;
use crate::secret::Redactor;
use crate::server::{Reconnect, Server};
use crate::session::{OpenError, SessionOptions, Verdict};
use crate::spec::{Endpoint, Process, Protocol, ServerName, ServerSpec, Settings};
use crate::talk::{Responder, Roots};
use crate::transport::{Connect, ConnectError, Link, Search, Through, resolve};
use crate::trust::{self, Admission, Claim};

use super::logs::Listener;
use super::observe::Observer;

impl Inner {
    /// Gives what may be connected to; the person is asked where they have to be.
    ///
    /// # Errors
    /// When it may not be connected to, or cannot be as it is described.
    pub(super) async fn admit<'m>(
        self: &Arc<Self>,
        member: &'m Member,
    ) -> Result<&'m Arc<Ready>, Error> {
        if let Some(ready) = member.ready() {
            return Ok(ready);
        }
        let _turn = member.opening.lock().await;
        if let Some(ready) = member.ready() {
            return Ok(ready);
        }
        let made = Box::pin(self.prepare(member)).await;
        match made.map_err(|error| member.about(error)) {
            Ok(ready) => {
                let ready = member.make_ready(ready);
                if member.gone.is_cancelled() {
                    // It was removed in between, by somebody who could not close it.
                    ready.server.retire().await;
                }
                Ok(ready)
            }
            Err(error) => {
                member.facts().refused = Some(error.clone());
                Err(error)
            }
        }
    }

    async fn prepare(self: &Arc<Self>, member: &Member) -> Result<Ready, Error> {
        if member.is_disabled() {
            return Err(HostError::Disabled.into());
        }
        match &member.source {
            Source::Spec(spec) => {
                let secrets = self.secrets_of(spec, None);
                let mut spec = spec.clone();
                launch::give_time(&mut spec, &self.options.limits);
                self.make(member, &spec, secrets)
            }
            Source::Entry(entry) => {
                let program = self.approved(entry).await?;
                let spec = self.expanded(entry, program)?;
                let secrets = self.secrets_of(&spec, Some(entry));
                self.make(member, &spec, secrets)
            }
            Source::Own(connect, settings) => {
                let connect: Box<dyn Connect> = Box::new(Arc::clone(connect));
                Ok(self.connectable(member, connect, (**settings).clone(), Redactor::new()))
            }
            Source::Offline(tools) => {
                let tool = tools.first().map(|tool| tool.name().to_owned());
                let tool = tool.unwrap_or_default();
                Err(HostError::Offline { tool }.into())
            }
            Source::Broken(problem) => Err(HostError::Problem(problem.clone()).into()),
        }
    }

    fn make(
        self: &Arc<Self>,
        member: &Member,
        spec: &ServerSpec,
        secrets: Redactor,
    ) -> Result<Ready, Error> {
        let connect = reach::transport(spec, &self.options)?;
        Ok(self.connectable(member, connect, spec.settings.clone(), secrets))
    }

    fn connectable(
        self: &Arc<Self>,
        member: &Member,
        connect: Box<dyn Connect>,
        settings: Settings,
        mut secrets: Redactor,
    ) -> Ready {
        secrets.merge(&self.options.secrets);
        let secrets = Arc::new(secrets);
        let identity = secrets.redact(&connect.identity()).into_owned();
        self.first_roots(member, &settings);
        let listener = Listener {
            server: member.name.clone(),
            secrets: Arc::clone(&secrets),
            sender: self.logs.clone(),
            most: self.options.host_limits.log_bytes,
        };
        let connect = self.overheard(connect, listener.clone());
        let mut observer = Observer::new(self, member, &secrets, listener);
        let policy = Reconnect {
            is_on: settings.reconnect,
            attempts: settings.max_reconnect_attempts.max(1),
            ..Reconnect::default()
        };
        let mut options = self.session_options(&member.name, &settings, (&member.roots, &secrets));
        // Over HTTP the probe costs nothing that is worth a hint.
        if identity.starts_with("stdio:") && options.protocol == Protocol::Auto {
            let server = self.identity(member);
            options.verdict = self.options.eras.recall(&server).map(Verdict::of);
            observer.remember(&self.options.eras, server);
        }
        let (name, observer) = (member.name.clone(), Box::new(observer));
        let retired = self.closing.child_token();
        Ready {
            server: Server::observed(name, connect, options, policy, observer, retired),
            settings,
            secrets,
            identity,
        }
    }

    /// Has whoever listens, and the tap if there is one, told of what goes over each connection.
    fn overheard(&self, connect: Box<dyn Connect>, listener: Listener) -> Box<dyn Connect> {
        let tap = self.options.tap.as_ref();
        let spot = tap.map(|tap| tap.spot(&listener.server, &listener.secrets));
        let listener = Arc::new(listener);
        let (events, cleanups) = (self.events.clone(), Arc::clone(&self.cleanups));
        let hands = move |link: Link| {
            let server = listener.server.clone();
            let (events, cleanups) = (events.clone(), Arc::clone(&cleanups));
            link.peer.hear_cleanup(Box::new(move |cleanup| {
                cleanups.add(&server, cleanup);
                events.emit(|| Event::Notice {
                    server: server.clone(),
                    text: cleanup.to_string(),
                });
            }));
            let listener = Arc::clone(&listener);
            link.peer
                .hear_stderr(Arc::new(move |said| listener.stderr(said)));
            match &spot {
                Some(spot) => spot.clone().tap(link),
                None => link,
            }
        };
        Box::new(Through::new(Arc::from(connect), Arc::new(hands)))
    }

    pub(super) fn session_options(
        &self,
        name: &ServerName,
        settings: &Settings,
        (roots, secrets): (&Roots, &Arc<Redactor>),
    ) -> SessionOptions {
        let mut options = SessionOptions::default()
            .protocol(self.options.protocol.unwrap_or(settings.protocol))
            .timeouts(self.options.timeouts.unwrap_or(settings.timeouts))
            .limits(self.options.limits.clone())
            .budget(&self.options.budget);
        if let Some(client) = &self.options.client {
            options = options.client(client.clone());
        }
        options.respond = match &self.options.respond {
            Some(respond) => Arc::clone(respond),
            None => {
                let mut handlers = self.options.handlers.clone();
                handlers.roots = Some(roots.clone());
                let (events, server) = (self.events.clone(), name.clone());
                let secrets = Arc::clone(secrets);
                let responder = Responder::new(name.clone(), handlers, settings.sampling);
                Arc::new(responder.telling(move |text| {
                    let server = server.clone();
                    // It quotes the server.
                    let text = secrets.redact(&text).into_owned();
                    events.emit(|| Event::Notice { server, text });
                }))
            }
        };
        options
    }

    /// Sees to it that an entry is approved, and gives the program that was approved with it.
    async fn approved(&self, entry: &Entry) -> Result<Option<PathBuf>, Error> {
        if !entry.origin().layer.needs_approval() {
            // Looked up when it is started, so that what was installed meanwhile is found.
            return Ok(None);
        }
        let claim = self.claim(entry);
        let program = claim.program.clone();
        // One question at a time, in whatever order servers come to theirs.
        let _turn = self.asking.lock().await;
        let (store, vouch) = (&self.options.store, &*self.options.vouch);
        match trust::admit(store, &claim, vouch).await {
            Ok(Admission::Admitted) if program.is_none() => self.none_to_start(entry),
            Ok(Admission::Admitted) => Ok(program),
            Ok(Admission::Refused(question)) => Err(HostError::Untrusted(question).into()),
            Err(error) => Err(HostError::Store(error).into()),
        }
    }

    /// What there is to approve about an entry. Nothing of it is expanded or read.
    pub(super) fn claim(&self, entry: &Entry) -> Claim {
        let origin = entry.origin();
        let file = origin.file.clone().unwrap_or_default();
        Claim {
            server: entry.name().clone(),
            file: real(file, entry.folder()),
            layer: origin.layer.clone(),
            line: origin.line,
            entry: entry.value().clone(),
            program: self.program(entry),
            references: entry.references().iter().map(written).collect(),
            shadows: entry.shadows().to_vec(),
        }
    }

    /// The program that an entry's command is, as far as it is known without expanding anything.
    fn program(&self, entry: &Entry) -> Option<PathBuf> {
        self.look_up(entry)?.ok()
    }

    /// Refuses an entry whose program was not there when it was approved: one that is there later is
    /// another question. What has to be expanded first is looked up when it is started.
    fn none_to_start(&self, entry: &Entry) -> Result<Option<PathBuf>, Error> {
        match self.look_up(entry) {
            None => Ok(None),
            Some(Err(error)) => Err(OpenError::Connect(error).into()),
            Some(Ok(path)) => {
                let command = path.display().to_string();
                let gone = ConnectError::NotFound {
                    command,
                    searched: Vec::new(),
                    near: None,
                };
                Err(OpenError::Connect(gone).into())
            }
        }
    }

    fn look_up(&self, entry: &Entry) -> Option<Result<PathBuf, ConnectError>> {
        let is_plain = |text: &&str| !text.contains("${");
        let command = entry.command().filter(is_plain)?;
        let own = entry.value().pointer("/env/PATH").and_then(|v| v.as_str());
        let own = own.filter(is_plain);
        let variable = |name: &str| {
            let value = self.options.environment.get(name);
            value.map(|value| value.expose().as_str())
        };
        let found = resolve(&Search {
            command,
            path: own.or_else(|| variable("PATH")),
            pathext: variable("PATHEXT"),
            cwd: Some(entry.folder()),
        });
        Some(found.map(|found| std::path::absolute(&found).unwrap_or(found)))
    }

    pub(super) fn expanded(
        &self,
        entry: &Entry,
        program: Option<PathBuf>,
    ) -> Result<ServerSpec, Error> {
        let workspace = entry.project().or(self.options.workspace.as_deref());
        let workspace = workspace.unwrap_or_else(|| entry.folder());
        let expansion = Expansion::new(&self.options.environment, workspace)
            .home(self.options.home.as_deref())
            .inputs(&*self.options.inputs);
        let spec = entry.expand(&expansion);
        let mut spec = spec.map_err(|problem| HostError::Problem(Box::new(problem)))?;
        let times = &mut spec.settings.timeouts;
        *times = sections::timeouts(entry, times, &self.options.said);
        if !sections::says_connect(entry, &self.options.said) {
            launch::give_time(&mut spec, &self.options.limits);
        }
        if let Endpoint::Process(process) = &mut spec.endpoint {
            process.program = program;
            if entry.origin().layer.needs_approval() {
                // What came with a folder runs there, wherever below it the person is.
                process.cwd.get_or_insert_with(|| entry.folder().to_owned());
                shown_hooks(entry, process)?;
            }
        }
        Ok(spec)
    }

    /// What must not be shown of a server: what it is given, and what was put into its description.
    pub(super) fn secrets_of(&self, spec: &ServerSpec, entry: Option<&Entry>) -> Redactor {
        let mut known = Redactor::new();
        secrets::known(spec, &self.options.environment, &mut known);
        #[cfg(feature = "http")]
        if let Some(proxy) = &self.options.proxy {
            secrets::of_proxy(proxy, &mut known);
        }
        for reference in entry.map(Entry::references).unwrap_or_default() {
            if let Reference::Variable { name, .. } = reference
                && let Some(value) = self.options.environment.get(name)
            {
                known.add_named(name, value.expose());
            }
        }
        known
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

/// Refuses variables that can make a program run something else than itself, where they come from a
/// file of variables: the question showed the name of that file, and not what is in it.
fn shown_hooks(entry: &Entry, process: &Process) -> Result<(), Error> {
    let is_shown = |name: &String| entry.env_names().any(|known| known == name);
    let mut hooks = process.env.keys().filter(|name| trust::is_hook(name));
    let Some(hook) = hooks.find(|name| !is_shown(name)) else {
        return Ok(());
    };
    let message = format!(
        "the file of variables sets `{hook}`, which can make a program run something else than itself"
    );
    let problem = entry.problem(ProblemKind::Refused, &message);
    Err(HostError::Problem(Box::new(problem)).into())
}

/// A reference as it is written.
fn written(reference: &Reference) -> String {
    match reference {
        Reference::Variable { name, .. } => format!("${{{name}}}"),
        Reference::File(path) => format!("${{file:{}}}", shown(path)),
        Reference::Input(id) => format!("${{input:{id}}}"),
        Reference::WorkspaceFolder => "${workspaceFolder}".to_owned(),
        Reference::UserHome => "${userHome}".to_owned(),
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
