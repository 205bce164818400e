//! The builder of a [`Host`].

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use switchboard_wire::{ClientCapabilities, ElicitResult, Implementation, LogLevel, Tool};

#[cfg(feature = "config")]
use super::agents;
use super::description::Description;
use super::eras::Eras;
use super::kept::KeptDefinitions;
use super::member::{Described, Member, Source};
#[cfg(feature = "config")]
use super::reconcile::{self, FileSections, FileSettings, FileState};
use super::{AccessOptions, Host, HostLimits, Options, Own};
#[cfg(feature = "auth")]
use crate::auth::TokenStore;
use crate::catalog::ExposedNames;
#[cfg(feature = "config")]
use crate::config::{Config, Problem, ReadOptions};
use crate::error::{Context, Error, HostError};
use crate::limits::{Budget, Limits, Timeouts};
use crate::pins::{Mode, Pins};
use crate::policy::{AgentPolicy, Approvals, CallerId, Policy, UseApproval, UseRequest};
use crate::secret::Redactor;
#[cfg(feature = "config")]
use crate::secret::Secret;
use crate::session::{Refusal, Respond};
use crate::spec::{
    AddressRange, NameStyle, Origin, Protocol, ServerName, ServerSpec, Settings, ToolPredicate,
};
#[cfg(feature = "config")]
use crate::talk::InputPrompt;
use crate::talk::{
    ChangeApproval, ChangeRequest, ClosureOperator, ElicitRequest, Operator, Roots, Sample,
    SharedOperator, boxed,
};
#[cfg(feature = "auth")]
use crate::talk::{LoginDecision, LoginRequest};
#[cfg(feature = "http")]
use crate::transport::Proxy;
use crate::transport::{Connect, Environment, Launch, Tap, keeper, leftovers::Ledger};
use crate::trust::{Bind, Question, ServerApproval, Store};

/// Makes a [`Host`]: which servers it has, and how they are used.
///
/// A setter that was given a value that makes no sense is an error of [`HostBuilder::build`], so that
/// the chain stays one expression.
///
/// ```
/// use std::time::Duration;
/// use switchboard::policy::UseApproval;
/// use switchboard::{AgentPolicy, Host, Level, ServerSpec};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let wiki = ServerSpec::http("wiki", "https://example.com/mcp")?
///     .header("Authorization", "Bearer s3cret")
///     .timeout(Duration::from_secs(60));
/// let host = Host::builder()
///     .server(wiki)
///     .agent("planner", AgentPolicy::everything(Level::Trusted))
///     .on_approve_use(|request| async move {
///         println!("{request}");
///         UseApproval::Once
///     })
///     .build()?;
/// # drop(host);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
#[must_use]
pub struct HostBuilder {
    pub(super) options: Options,
    access: AccessOptions,
    sources: Vec<Described>,
    /// The problems of config files.
    #[cfg(feature = "config")]
    problems: Vec<Problem>,
    /// What the person's own file says of all servers.
    #[cfg(feature = "config")]
    sections: Option<FileSections>,
    /// The options for reading config files.
    #[cfg(feature = "config")]
    pub(super) read_options: ReadOptions,
    pub(super) own: Own,
    operator: ClosureOperator,
    /// What agents may do of whom nothing else says so.
    default_agents: Vec<(CallerId, AgentPolicy)>,
    /// The first call of a setter that could not be made sense of.
    failed: Option<Error>,
}

impl HostBuilder {
    /// Sets the environment that servers are started from and `${VAR}` is looked up in. Without it,
    /// that is the environment of this process when the host is built; of either, a server gets the
    /// safe variables and those that its description names, and no others.
    pub fn environment(mut self, environment: &Environment) -> Self {
        self.options.environment = Arc::new(environment.clone());
        // Noted, because an empty environment may be what the program wants: else that of the
        // process is used.
        self.own.environment = true;
        self
    }

    /// Sets the home folder, for `${userHome}`.
    pub fn home(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.home = Some(folder.into());
        self
    }

    /// Sets the working folder, for `${workspaceFolder}` in files that do not belong to a folder.
    pub fn workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.workspace = Some(folder.into());
        self
    }

    /// Sets the name and version that the program reports to servers.
    pub fn client(mut self, client: Implementation) -> Self {
        self.options.client = Some(client);
        self
    }

    /// Sets how long things may take, whatever the settings of a server say.
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.options.timeouts = Some(timeouts);
        self
    }

    /// Sets which era to speak, whatever the settings of a server say.
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.options.protocol = Some(protocol);
        self
    }

    /// Sets the limits of each connection, whatever config files say.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options.limits = limits;
        self.own.limits = true;
        self
    }

    /// Sets the limits of the host itself, whatever config files say.
    pub fn host_limits(mut self, limits: HostLimits) -> Self {
        self.options.host_limits = limits;
        self.own.host_limits = true;
        self
    }

    /// Sets how much all connections may hold together, whatever config files say.
    pub fn budget(mut self, budget: &Budget) -> Self {
        self.options.budget = budget.clone();
        self.own.budget = true;
        self
    }

    /// Sets the handler of all requests from servers, in place of handlers for each kind.
    pub fn respond(mut self, respond: impl Respond + 'static) -> Self {
        self.options.respond = Some(Arc::new(respond));
        self
    }

    /// Declares these capabilities of clients to legacy servers that clients share. A question goes to the
    /// client whose call it belongs to, and is refused where that is not known; for roots that the
    /// settings name the host answers.
    #[doc(hidden)]
    pub fn client_capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.options.client_capabilities = Some(capabilities);
        self
    }

    /// Sets the operator, who answers for the person: see [`Operator`]. Without one, everything
    /// that needs an answer is refused, and servers learn that they cannot ask.
    pub fn operator(mut self, operator: impl Operator + 'static) -> Self {
        self.operator.operator = SharedOperator::new(operator);
        self
    }

    /// Answers with a closure whether a server may be used that came with a folder and is not approved:
    /// see [`Operator::approve_server`].
    pub fn on_approve_server<F>(
        mut self,
        answer: impl Fn(Question) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ServerApproval> + Send + 'static,
    {
        self.operator.approve_server = boxed(answer);
        self
    }

    /// Answers the policy's questions about a use with a closure: see [`Operator::approve_use`].
    pub fn on_approve_use<F>(
        mut self,
        answer: impl Fn(UseRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = UseApproval> + Send + 'static,
    {
        self.operator.approve_use = boxed(answer);
        self
    }

    /// Answers with a closure whether definitions may be used that have changed since they were
    /// approved, with [`Mode::Ask`]: see [`Operator::approve_change`].
    pub fn on_approve_change<F>(
        mut self,
        answer: impl Fn(ChangeRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ChangeApproval> + Send + 'static,
    {
        self.operator.approve_change = boxed(answer);
        self
    }

    /// Answers forms of servers with a closure: see [`Operator::elicit`].
    pub fn on_elicit<F>(
        mut self,
        answer: impl Fn(ElicitRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<ElicitResult, Refusal>> + Send + 'static,
    {
        self.operator.elicit = boxed(answer);
        self
    }

    /// Opens the pages of logins with a closure: see [`Operator::login`].
    #[cfg(feature = "auth")]
    pub fn on_login<F>(mut self, open: impl Fn(LoginRequest) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = LoginDecision> + Send + 'static,
    {
        self.operator.login = boxed(open);
        self
    }

    /// Answers `${input:ID}` of config files with a closure: see [`Operator::input`].
    #[cfg(feature = "config")]
    pub fn on_input<F>(mut self, answer: impl Fn(InputPrompt) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Option<Secret<String>>> + Send + 'static,
    {
        self.operator.input = boxed(answer);
        self
    }

    /// Lets a model answer the servers whose settings say that they may ask one.
    pub fn sample(mut self, sample: impl Sample + 'static) -> Self {
        self.options.handlers.sample = Some(Arc::new(sample));
        self
    }

    /// Sends these folders, such as the project's, to servers whose own settings name no roots.
    ///
    /// A server may read this as permission to look there, so no folder is sent unless the program
    /// or a file names it.
    pub fn roots<P: AsRef<Path>>(mut self, folders: impl IntoIterator<Item = P>) -> Self {
        self.options.handlers.roots = Some(Roots::of(folders));
        self
    }

    /// Asks servers of 2026-07-28 to log from this level on, until [`Host::set_log_level`] sets
    /// another: they log nothing unless they are asked. Servers of the legacy era choose their own
    /// level, and are not asked.
    pub fn log_level(mut self, level: LogLevel) -> Self {
        self.options.log_level = Some(level);
        self
    }

    /// Sets the style of tool names for models, used if a server's own settings set none.
    pub fn name_style(mut self, style: NameStyle) -> Self {
        self.options.name_style = style;
        self
    }

    /// Gives tools and prompts names of this form, in place of those for models.
    #[doc(hidden)]
    pub fn exposed_names(mut self, names: ExposedNames) -> Self {
        self.options.exposed_names = Some(names);
        self
    }

    /// Puts a keeper between the host and each server that it starts: see [`crate::keeper`].
    pub fn keeper(mut self, program: impl Into<PathBuf>) -> Self {
        let program = program.into();
        // Now, and not when a server is started: the file may be another one by then.
        self.options.keeper = Some(keeper::running_program(&program).unwrap_or(program));
        self
    }

    /// Lets another program of the user start the processes of servers, if it can.
    #[doc(hidden)]
    pub fn launcher(mut self, launcher: Arc<dyn Launch>) -> Self {
        self.options.launcher = Some(launcher);
        self
    }

    /// Writes down which servers are started: see [`crate::leftovers`].
    pub fn ledger(mut self, ledger: &Ledger) -> Self {
        self.options.ledger = Some(ledger.clone());
        self
    }

    /// Sets the cache of the eras that servers speak. Without it, eras are remembered as long as
    /// the host lives. [`Host::save_eras`] writes the cache to disk.
    pub fn eras(mut self, eras: &Eras) -> Self {
        self.options.eras = eras.clone();
        self
    }

    /// Lists what servers offered on their last connection until they are connected to, and keeps it for
    /// the next run. [`HostBuilder::build`] reads files then.
    #[doc(hidden)]
    pub fn kept_definitions(mut self, store: &KeptDefinitions) -> Self {
        self.options.kept = Some(store.clone());
        self
    }

    /// Closes a connection that nothing has used for this time: the next use makes a new one. Connections with
    /// watched resources stay. Without it, connections stay until the host closes them.
    pub fn close_unused(mut self, after: Duration) -> Self {
        self.options.close_unused = Some(after);
        self
    }

    /// Sets the store of server approvals. Without it they last as long as the host.
    pub fn trust(mut self, store: Store) -> Self {
        self.options.store = Arc::new(store);
        self
    }

    /// Sets the facts that an approval is bound to, whatever config files say: see [`Bind`].
    pub fn bind_approvals(mut self, bind: Bind) -> Self {
        self.own.bind = true;
        self.options.bind = bind;
        self
    }

    /// Sets the policy for agents, whatever config files say. Without it, and without such a
    /// section in the person's own file, agents may do nothing; the owner may do everything.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.access.policy = policy;
        self.own.policy = true;
        self
    }

    /// Sets what an agent may do: [`HostBuilder::policy`] for one agent, beside those that were set
    /// before. An id that no agent can have is an error of [`HostBuilder::build`].
    ///
    /// ```
    /// use switchboard::{AgentPolicy, Grants, Host, Level};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let reader = AgentPolicy::new(Level::Yolo).grants(Grants::parse(["mcp:files:read_*"])?);
    /// let host = Host::builder()
    ///     .agent("planner", AgentPolicy::everything(Level::Trusted))
    ///     .agent("reader", reader)
    ///     .build()?;
    /// assert_eq!(host.agent("reader")?.caller().id().as_str(), "reader");
    /// # Ok(())
    /// # }
    /// ```
    pub fn agent(mut self, id: &str, policy: AgentPolicy) -> Self {
        match CallerId::parse(id) {
            Ok(id) => {
                // The first agent that the program sets replaces those of config files, as a policy does.
                let set = (self.own.policy).then(|| std::mem::take(&mut self.access.policy));
                self.policy(set.unwrap_or_default().agent(id, policy))
            }
            Err(error) => {
                self.fail(Error::configuration(error.to_string()));
                self
            }
        }
    }

    /// Sets what an agent may do of which neither config files nor the program say anything: there is no
    /// section for it and none for `*`. It does nothing if the section of the person's file that would say
    /// so cannot be read.
    #[doc(hidden)]
    pub fn default_agent(mut self, id: &str, policy: AgentPolicy) -> Self {
        match CallerId::parse(id) {
            Ok(id) => self.default_agents.push((id, policy)),
            Err(error) => self.fail(Error::configuration(error.to_string())),
        }
        self
    }

    /// Adds a predicate over the tools of all servers, for everyone, the owner included: the whole
    /// definition and the context of the use decide. See [`ToolPredicate`];
    /// [`ServerSpec::filter_tools`] is the same for one server.
    pub fn filter_tools(
        mut self,
        admits: impl Fn(&Value, &Value) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.access.filters.push(ToolPredicate::new(admits));
        self
    }

    /// Sets the store of approvals for agents. Without it they last as long as the host.
    pub fn approvals(mut self, approvals: Approvals) -> Self {
        self.access.approvals = approvals;
        self
    }

    /// Sets the store of approved definitions. The mode for those that have changed since is that of config
    /// files.
    #[doc(hidden)]
    pub fn pin_store(mut self, pins: Pins) -> Self {
        self.access.pins = pins;
        self
    }

    /// Sets the store of approved definitions, and the mode for definitions that have changed
    /// since, whatever config files say.
    pub fn pins(mut self, pins: Pins, mode: Mode) -> Self {
        self.own.pins = true;
        self.access.pins = pins;
        self.access.pin_mode = mode;
        self
    }

    /// Redacts these values in all output about any server, in addition to the secrets in the
    /// servers' descriptions. A transport of the program's own has no description.
    pub fn secrets(mut self, secrets: &Redactor) -> Self {
        self.options.secrets.merge(secrets);
        self
    }

    /// Puts a tap on every connection that is made: see [`Tap`]. Secrets of the servers are
    /// redacted in its records.
    pub fn tap(mut self, tap: &Tap) -> Self {
        self.options.tap = Some(tap.clone());
        self
    }

    /// Sets the proxy for servers at URLs, whatever config files say. Without it, or a setting in a
    /// file, no proxy is used.
    #[cfg(feature = "http")]
    pub fn proxy(mut self, proxy: &Proxy) -> Self {
        self.options.proxy = Some(proxy.clone());
        self
    }

    /// Allows addresses of servers at URLs that are otherwise refused, such as link-local ones,
    /// whatever config files say. It applies to URLs that the person wrote, never to addresses that
    /// a server names.
    pub fn allow_addresses(mut self, ranges: impl IntoIterator<Item = AddressRange>) -> Self {
        self.options.addresses = ranges.into_iter().collect();
        self.own.addresses = true;
        self
    }

    /// Trusts these certificates too, for servers at URLs: a file's text, in PEM. Those of config files do
    /// not count then.
    #[cfg(feature = "http")]
    pub fn certificates(mut self, pem: &[u8]) -> Self {
        self.options.certificates = Some(pem.to_owned());
        self
    }

    /// Sets the store of logins, such as a [`SealedFile`](crate::auth::SealedFile) that other
    /// processes share. Without it they last as long as the host.
    #[cfg(feature = "auth")]
    pub fn token_store(mut self, store: Arc<dyn TokenStore>) -> Self {
        self.options.tokens = store;
        self
    }

    /// Sets which of several accounts is used: logins of other profiles are not seen.
    #[cfg(feature = "auth")]
    pub fn login_profile(mut self, profile: impl Into<String>) -> Self {
        self.options.login_profile = profile.into();
        self
    }

    /// Adds a server. A description with a setting that has no meaning for its kind of server is an
    /// error of [`HostBuilder::build`].
    pub fn server(mut self, spec: ServerSpec) -> Self {
        if let Err(error) = spec.check() {
            let error = Error::configuration(error.to_string());
            let context = Context::of(&spec.name, None, &spec.origin);
            let context = Description::of_spec(&spec).complete(context);
            self.fail(error.in_context(context));
        }
        let (name, origin) = (spec.name.clone(), spec.origin.clone());
        self.sources
            .push((name, origin, Source::Spec(Box::new(spec))));
        self
    }

    /// Adds a server behind a transport of the program's own. A name that no server can have is an
    /// error of [`HostBuilder::build`].
    pub fn transport<N>(self, name: N, connect: impl Connect + 'static, settings: Settings) -> Self
    where
        N: TryInto<ServerName, Error: std::fmt::Display>,
    {
        self.add_source(name, Source::Own(Arc::new(connect), Box::new(settings)))
    }

    /// Adds tools that have no server behind them: they can be listed and their arguments checked,
    /// and say clearly that they cannot run.
    pub fn offline<N>(self, name: N, tools: Vec<Tool>) -> Self
    where
        N: TryInto<ServerName, Error: std::fmt::Display>,
    {
        self.add_source(name, Source::Offline(tools))
    }

    fn add_source<N>(mut self, name: N, source: Source) -> Self
    where
        N: TryInto<ServerName, Error: std::fmt::Display>,
    {
        match name.try_into() {
            Ok(name) => self.sources.push((name, Origin::program(), source)),
            Err(error) => self.fail(Error::configuration(error.to_string())),
        }
        self
    }

    /// Remembers the first error, for [`HostBuilder::build`].
    fn fail(&mut self, error: Error) {
        // The first error is reported: later ones are often its consequences.
        self.failed.get_or_insert(error);
    }

    /// Adds every server that config files describe. A badly described one is added too: using it
    /// fails with the problem. The sections of the person's own file about agents, limits and the
    /// network apply too, each unless the program sets its own: see [`agents`], [`Config::limits`]
    /// and [`Config::network`].
    #[cfg(feature = "config")]
    pub fn config(mut self, config: &Config) -> Self {
        for described in reconcile::describe_servers(config) {
            // A broken entry must not take the place of a server that the program has added.
            let is_known = |(name, _, _): &Described| *name == described.0;
            let is_broken = matches!(described.2, Source::Broken(_));
            if !(is_broken && self.sources.iter().any(is_known)) {
                self.sources.push(described);
            }
        }
        self.problems.extend(reconcile::problems(config));
        if !self.own.policy {
            self.access.policy = agents::policy(config).0;
        }
        self.own.unclear_access |= reconcile::is_access_unclear(config);
        if let (false, (Some(mode), _)) = (self.own.pins, agents::pin_mode(config)) {
            self.access.pin_mode = mode;
        }
        self.sections = Some(FileSections::of(config));
        self
    }

    /// Makes the host. Nothing is started.
    ///
    /// # Errors
    /// Fails if two servers have the same name, a name is not valid for a server, or a description
    /// has a setting that has no meaning for its kind of server.
    pub fn build(self) -> Result<Host, Error> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        // The environment first: sections of files refer to it.
        let mut this = self.with_environment();
        let operator = SharedOperator::new(this.operator);
        this.options.handlers.operator = Some(operator.clone());
        this.access.operator = operator.clone();
        this.options.operator = operator;
        #[cfg(feature = "config")]
        let settings = {
            let sections = this.sections.unwrap_or_default();
            let settings = FileSettings::new(this.options, this.own, sections);
            // This comes last: only now are the environment and the program's own settings known.
            this.options = settings.options();
            settings
        };
        // An unclear section allows nothing, unless the program sets the policy.
        #[cfg(feature = "config")]
        let (has_policy, is_unclear) = (settings.own().policy, settings.own().unclear_access);
        #[cfg(not(feature = "config"))]
        let (has_policy, is_unclear) = (this.own.policy, this.own.unclear_access);
        if has_policy || !is_unclear {
            for (id, agent) in this.default_agents.clone() {
                this.access.policy = this.access.policy.or_agent(id, agent);
            }
        }
        #[cfg(feature = "config")]
        let files = FileState::new(settings, this.default_agents, this.problems);
        let mut members = BTreeMap::new();
        for (name, origin, source) in this.sources {
            let member = Member::new(name.clone(), origin, source, &this.options.environment);
            if members.insert(name.clone(), Arc::new(member)).is_some() {
                return Err(HostError::Twice(name).into());
            }
        }
        Ok(Host::new(
            this.options,
            this.access,
            #[cfg(feature = "config")]
            files,
            members,
        ))
    }

    /// Takes the environment of this process, unless the program gave another.
    fn with_environment(self) -> Self {
        if self.own.environment {
            return self;
        }
        self.environment(&Environment::of_process())
    }
}
