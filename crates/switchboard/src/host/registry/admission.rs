//! Admission: a server must be enabled, approved and fully expanded before we connect.

#[cfg(feature = "config")]
use std::collections::HashMap;
use std::sync::Arc;

#[cfg(feature = "config")]
use super::approval_claims::{self, Approved, Unchanged};
#[cfg(feature = "auth")]
use super::logins::{self, LoginObserver};
use super::observer::Observer;
use super::transport_for::{allow_fetch_time, limits, transport};
use super::{Member, Ready, Registry, Source, add_cleanup, lock};
#[cfg(feature = "auth")]
use crate::auth::Authorizer;
#[cfg(feature = "config")]
use crate::config::{Entry, Input, Inputs, Reference};
use crate::error::{Error, HostError};
use crate::events::Event;
use crate::host::clients::SharedQuestions;
use crate::host::logs::Listener;
use crate::host::secrets;
#[cfg(feature = "config")]
use crate::host::sections;
use crate::secret::Redactor;
#[cfg(feature = "config")]
use crate::secret::Secret;
use crate::server::{Reconnect, Server};
use crate::session::{EraHint, SessionOptions};
#[cfg(feature = "config")]
use crate::spec::Endpoint;
use crate::spec::{Protocol, ServerName, ServerSpec, Settings};
#[cfg(feature = "config")]
use crate::talk::{InputPrompt, Operator as _};
use crate::talk::{Responder, Roots};
use crate::transport::{Connect, Connector, Link};

/// The transport of a server, and its login if it has one.
struct ResolvedEndpoint {
    connect: Box<dyn Connect>,
    #[cfg(feature = "auth")]
    authorizer: Option<Authorizer>,
}

impl Registry {
    /// Returns the admitted server. The person is asked if approval is needed.
    ///
    /// # Errors
    /// Fails if the server may not be connected to, or cannot be as it is described.
    pub(in crate::host) async fn admit<'m>(
        &self,
        member: &'m Arc<Member>,
    ) -> Result<&'m Arc<Ready>, Error> {
        if let Some(ready) = member.ready() {
            return Ok(ready);
        }
        // One at a time: of several that ask, the first has it admitted for all.
        let _turn = member.opening.lock().await;
        if let Some(ready) = member.ready() {
            return Ok(ready);
        }
        let made = loop {
            let options = self.options();
            let made = Box::pin(self.prepare(member)).await;
            // Options that changed meanwhile are for this server too.
            if Arc::ptr_eq(&options, &self.options()) {
                break made;
            }
        };
        match made.map_err(|error| member.with_context(error)) {
            Ok(ready) => {
                let ready = member.make_ready(ready);
                if member.gone.is_cancelled() {
                    // It was removed meanwhile, when there was no server to retire yet.
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

    async fn prepare(&self, member: &Arc<Member>) -> Result<Ready, Error> {
        // 1. Enabled: nothing of a server that is switched off is looked at.
        if member.is_disabled() {
            return Err(HostError::Disabled.into());
        }
        match &member.source {
            Source::Spec(spec) => {
                let secrets = self.secrets_of(spec);
                // Described by the program itself, so there is nothing to approve and nothing to
                // fill in.
                let mut spec = spec.clone();
                allow_fetch_time(&mut spec, &self.options().limits);
                let endpoint = self.resolve_endpoint(member, &spec)?;
                Ok(self.connectable(member, endpoint, spec.settings, secrets))
            }
            #[cfg(feature = "config")]
            Source::Entry(entry) => {
                // 2. Approved, before anything that the entry refers to is filled in: a cloned
                // repository must not have its questions asked or its files read.
                let approved = self.ensure_approved(entry).await?;
                // Kept for the transport: the files are compared again at each start, not only now.
                let (contents, approval) = (approved.contents.clone(), approved.approval);
                #[cfg(feature = "auth")]
                logins::check_project(entry)?;
                // 3. Expanded, from the contents that were approved, not from the files as they are
                // now.
                let answers = self.ask_inputs(entry).await;
                let spec = self.expanded(entry, approved, &answers)?;
                // 4. Secrets, before the first text about the server is made.
                let mut secrets = self.secrets_of(&spec);
                self.add_references(entry, &mut secrets);
                let mut endpoint = self.resolve_endpoint(member, &spec)?;
                // Below the listeners and the reconnects, so that each start passes through it.
                endpoint.connect = Unchanged::guard(endpoint.connect, contents);
                let mut ready = self.connectable(member, endpoint, spec.settings, secrets);
                ready.approval = approval;
                Ok(ready)
            }
            Source::Own(connect, settings) => {
                let endpoint = ResolvedEndpoint {
                    connect: Box::new(Arc::clone(connect)),
                    #[cfg(feature = "auth")]
                    authorizer: None,
                };
                Ok(self.connectable(member, endpoint, (**settings).clone(), Redactor::new()))
            }
            Source::Local(tools) => {
                let endpoint = ResolvedEndpoint {
                    connect: Box::new(tools.clone()),
                    #[cfg(feature = "auth")]
                    authorizer: None,
                };
                Ok(self.connectable(member, endpoint, Settings::default(), Redactor::new()))
            }
            Source::Offline(tools) => {
                let tool = tools.first().map(|tool| tool.name().to_owned());
                let tool = tool.unwrap_or_default();
                Err(HostError::Offline { tool }.into())
            }
            #[cfg(feature = "config")]
            Source::Broken(problem) => Err(HostError::Problem(problem.clone()).into()),
        }
    }

    /// Makes the transport of a description, and its login if it has one.
    #[cfg(feature = "auth")]
    fn resolve_endpoint(
        &self,
        member: &Arc<Member>,
        spec: &ServerSpec,
    ) -> Result<ResolvedEndpoint, Error> {
        let authorizer = logins::authorizer_for(spec, &self.options())?;
        // Observed from the start: the first request may find that a login is needed.
        if let Some(authorizer) = &authorizer {
            authorizer.observe(Arc::new(LoginObserver::new(member, &self.events)));
        }
        Ok(ResolvedEndpoint {
            connect: transport(spec, &self.options(), authorizer.as_ref())?,
            authorizer,
        })
    }

    /// Makes the transport of a description.
    #[cfg(not(feature = "auth"))]
    fn resolve_endpoint(
        &self,
        _: &Arc<Member>,
        spec: &ServerSpec,
    ) -> Result<ResolvedEndpoint, Error> {
        let connect = transport(spec, &self.options(), None)?;
        Ok(ResolvedEndpoint { connect })
    }

    /// Makes sure that an entry is approved, and returns the parts that were approved with it.
    #[cfg(feature = "config")]
    async fn ensure_approved(&self, entry: &Entry) -> Result<Approved, Error> {
        if !entry.origin().layer.needs_approval() {
            // Looked up when it is started, so that a program installed meanwhile is found.
            return Ok(Approved::default());
        }
        // One question at a time, in whatever order servers come to theirs.
        let _turn = self.asking.lock().await;
        approval_claims::admit(entry, &self.options(), self.own_servers()).await
    }

    fn connectable(
        &self,
        member: &Arc<Member>,
        endpoint: ResolvedEndpoint,
        settings: Settings,
        mut secrets: Redactor,
    ) -> Ready {
        // All secrets are known before the identity is taken: it may contain a URL with a token.
        secrets.merge(&self.options().secrets);
        #[cfg(feature = "auth")]
        if let Some(authorizer) = &endpoint.authorizer {
            secrets.follow(authorizer.secrets());
        }
        let secrets = Arc::new(secrets);
        let connect = endpoint.connect;
        let identity = secrets.redact(&connect.identity()).into_owned();
        self.set_first_roots(member, &settings);
        let listener = self.listener(member, &secrets);
        let connect = self.wrap_with_listeners(connect, listener.clone());
        let mut observer = Observer::new(member, &self.events, &self.on_connected, listener);
        // At least one: no attempts at all would contradict `reconnect`.
        let policy = Reconnect {
            is_on: settings.reconnect,
            attempts: settings.max_reconnect_attempts.max(1),
            // Only where the description says so: a server that does not start seldom does later.
            start_retries: settings.max_retries.unwrap_or_default(),
            ..Reconnect::default()
        };
        let mut options = self.session_options(&member.name, &settings, &member.roots, &secrets);
        if member.is_local() {
            // The server of local tools speaks this era, whatever the program says of others.
            options.protocol = Protocol::Legacy;
        }
        if let Some(declared) = &self.options().client_capabilities {
            options.respond = Arc::new(SharedQuestions {
                declared: declared.clone(),
                host: options.respond,
                sharing: Arc::clone(&member.sharing),
            });
        }
        // Over HTTP the probe costs nothing that is worth a hint.
        if identity.starts_with("stdio:") && options.protocol == Protocol::Auto {
            let server = member.identity();
            options.era_hint = self.options().eras.recall(&server).map(EraHint::of);
            observer.remember(&self.options().eras, server);
        }
        let (name, observer) = (member.name.clone(), Box::new(observer));
        // A child of the host's: shutdown ends all servers, and removing one ends only that.
        let retired = self.closing.child_token();
        Ready {
            server: Server::with_observer(name, connect, options, policy, observer, retired),
            settings,
            secrets,
            identity,
            #[cfg(feature = "config")]
            approval: None,
            #[cfg(feature = "auth")]
            authorizer: endpoint.authorizer,
        }
    }

    /// Wraps the transport so that log listeners and the tap see its traffic.
    fn wrap_with_listeners(&self, connect: Box<dyn Connect>, listener: Listener) -> Connector {
        let options = self.options();
        // One for all connections of the server.
        let spot = options
            .tap
            .as_ref()
            .map(|tap| tap.spot(&listener.server, &listener.secrets));
        let listener = Arc::new(listener);
        let (events, cleanups) = (self.events.clone(), Arc::clone(&self.cleanups));
        let tell = move |link: Link| {
            let server = listener.server.clone();
            let (events, cleanups) = (events.clone(), Arc::clone(&cleanups));
            // Kept as well as emitted: events are dropped when a reader falls behind.
            link.peer().on_cleanup(Box::new(move |cleanup| {
                add_cleanup(&mut lock(&cleanups), &server, cleanup);
                events.emit(|| Event::Notice {
                    server: server.clone(),
                    text: cleanup.to_string(),
                });
            }));
            let listener = Arc::clone(&listener);
            link.peer()
                .on_stderr(Arc::new(move |said| listener.stderr(said)));
            match &spot {
                Some(spot) => spot.clone().tap(link),
                None => link,
            }
        };
        Connector::new(Arc::from(connect)).map_link(tell)
    }

    pub(in crate::host) fn session_options(
        &self,
        name: &ServerName,
        settings: &Settings,
        roots: &Roots,
        secrets: &Arc<Redactor>,
    ) -> SessionOptions {
        // What the program sets for all servers wins over what an entry says.
        let mut options = SessionOptions::default()
            .protocol(self.options().protocol.unwrap_or(settings.protocol))
            .timeouts(self.options().timeouts.unwrap_or(settings.timeouts))
            .limits(limits(settings, &self.options()))
            .budget(&self.options().budget);
        if let Some(client) = &self.options().client {
            options = options.client(client.clone());
        }
        options.respond = match &self.options().respond {
            Some(respond) => Arc::clone(respond),
            None => {
                let mut handlers = self.options().handlers.clone();
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

    /// Asks the operator for every `${input:ID}` of an entry. One that is not answered fails the
    /// expansion, which reports where it stands.
    #[cfg(feature = "config")]
    pub(super) async fn ask_inputs(&self, entry: &Entry) -> InputAnswers {
        let mut answers = InputAnswers::default();
        for reference in entry.references() {
            let Reference::Input(id) = reference else {
                continue;
            };
            // A file may refer to an input that it does not describe: the operator is asked by the
            // id alone.
            let described = entry.inputs().iter().find(|input| input.id == *id);
            let input = described.cloned().unwrap_or_else(|| {
                let mut input = Input::default();
                input.id.clone_from(id);
                input
            });
            // One question at a time, in whatever order servers come to theirs.
            let _turn = self.asking.lock().await;
            let prompt = InputPrompt::new(entry.name().clone(), input);
            if let Some(answer) = self.options().operator.input(prompt).await {
                answers.0.insert(id.clone(), answer);
            }
        }
        answers
    }

    /// Fills in the placeholders of an entry.
    #[cfg(feature = "config")]
    pub(in crate::host) fn expanded(
        &self,
        entry: &Entry,
        approved: Approved,
        answers: &InputAnswers,
    ) -> Result<ServerSpec, Error> {
        let options = self.options();
        let expansion = approval_claims::expansion(entry, &options);
        let expansion = expansion.inputs(answers);
        // An entry without an approval reads its file of variables now, at the last moment.
        let spec = match &approved.variables {
            // The variables as they were approved, even if the file has changed since.
            Some(variables) => entry.expand_with(&expansion, variables),
            None => entry.expand(&expansion),
        };
        let mut spec = spec.map_err(|problem| HostError::Problem(Box::new(problem)))?;
        // The entry's own times first, then those of the files' `limits`, then the defaults.
        let times = &mut spec.settings.timeouts;
        *times = sections::timeouts(entry, times, &self.options().said);
        if !sections::says_connect(entry, &self.options().said) {
            allow_fetch_time(&mut spec, &self.options().limits);
        }
        if let Endpoint::Process(process) = &mut spec.endpoint {
            // The very file that was approved: PATH may lead elsewhere by now.
            process.program = approved.program;
            if entry.origin().layer.needs_approval() {
                // A server that came with a folder runs there, even if the person is in a
                // subfolder.
                process.cwd.get_or_insert_with(|| entry.folder().to_owned());
            }
        }
        Ok(spec)
    }

    /// The secrets that a server is given.
    pub(in crate::host) fn secrets_of(&self, spec: &ServerSpec) -> Redactor {
        let mut known = Redactor::new();
        secrets::known(spec, &self.options().environment, &mut known);
        #[cfg(feature = "http")]
        if let Some(proxy) = &self.options().proxy {
            secrets::of_proxy(proxy, &mut known);
        }
        known
    }

    /// Adds the secrets that fill the description of a server.
    #[cfg(feature = "config")]
    fn add_references(&self, entry: &Entry, known: &mut Redactor) {
        for reference in entry.references() {
            if let Reference::Variable { name, .. } = reference
                && let Some(value) = self.options().environment.get(name)
            {
                known.add_named(name, value.expose());
            }
        }
    }

    /// Sets the roots of a server from its settings, or those for all servers, unless others were
    /// set already.
    fn set_first_roots(&self, member: &Member, settings: &Settings) {
        if member.roots.folders().is_some() {
            return;
        }
        let options = self.options();
        let for_all = options.handlers.roots.as_ref();
        // An entry's roots replace those for all servers; they do not add to them.
        match (settings.roots.as_slice(), for_all.and_then(Roots::folders)) {
            ([], Some(folders)) => member.roots.set(folders),
            (folders, _) => member.roots.set(folders),
        };
        self.report_missing_roots(member);
    }
}

/// Answers of the operator to the inputs of one entry, by their ids.
#[cfg(feature = "config")]
#[derive(Default)]
pub(in crate::host) struct InputAnswers(HashMap<String, Secret<String>>);

#[cfg(feature = "config")]
impl Inputs for InputAnswers {
    fn answer(&self, input: &Input) -> Option<Secret<String>> {
        self.0.get(&input.id).cloned()
    }
}
