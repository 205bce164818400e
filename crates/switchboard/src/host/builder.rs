//! How a host is made.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, RwLock};

use switchboard_protocol::{Implementation, Tool};

use super::member::{Member, Source};
use super::options::{HostLimits, Options};
use super::review::{self, Review};
use super::{Host, Inner, agents};
use crate::config::{Config, Inputs, NoInputs, Problem};
use crate::error::{Error, HostError};
use crate::limits::{Budget, Limits, Timeouts};
use crate::pins::{Mode, Pins};
use crate::policy::{Approvals, Approve, Policy, Unattended};
use crate::session::Respond;
use crate::spec::{NameStyle, Origin, Protocol, ServerName, ServerSpec, Settings};
use crate::talk::{Elicit, Handlers, Sample};
#[cfg(feature = "http")]
use crate::transport::Proxy;
use crate::transport::{Connect, Environment, leftovers::Ledger};
use crate::trust::{Nobody, Store, Vouch};

/// Makes a [`Host`]: which servers it has, and how they are used.
#[must_use]
pub struct HostBuilder {
    options: Options,
    sources: Vec<(ServerName, Origin, Source)>,
    problems: Vec<Problem>,
    /// Whether the program itself says what agents may do, and what is done about changes.
    own: (bool, bool),
}

impl Default for HostBuilder {
    fn default() -> Self {
        Self {
            options: Options {
                environment: Environment::default(),
                home: None,
                workspace: None,
                client: None,
                timeouts: None,
                protocol: None,
                limits: Limits::default(),
                host_limits: HostLimits::default(),
                budget: Budget::of_process(),
                respond: None,
                handlers: Handlers::default(),
                name_style: NameStyle::default(),
                keeper: None,
                ledger: None,
                store: Store::in_memory(),
                vouch: Arc::new(Nobody),
                policy: RwLock::default(),
                approve: Arc::new(Unattended),
                approvals: Approvals::in_memory(),
                pins: Pins::in_memory(),
                pin_mode: Mode::default(),
                review: Arc::new(review::Nobody),
                inputs: Arc::new(NoInputs),
                #[cfg(feature = "http")]
                proxy: None,
                #[cfg(feature = "http")]
                certificates: None,
            },
            sources: Vec::new(),
            problems: Vec::new(),
            own: (false, false),
        }
    }
}

impl HostBuilder {
    /// Gives the environment that servers are started from and `${VAR}` is looked up in.
    pub fn environment(mut self, environment: &Environment) -> Self {
        self.options.environment = environment.clone();
        self
    }

    /// Says where the home folder is, for `${userHome}`.
    pub fn home(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.home = Some(folder.into());
        self
    }

    /// Says which folder is worked in, for `${workspaceFolder}` in files that belong to none.
    pub fn workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.workspace = Some(folder.into());
        self
    }

    /// Says who the program is to servers.
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

    /// Sets what bounds each connection.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options.limits = limits;
        self
    }

    /// Sets what bounds the host itself.
    pub fn host_limits(mut self, limits: HostLimits) -> Self {
        self.options.host_limits = limits;
        self
    }

    /// Sets how much all connections may hold together.
    pub fn budget(mut self, budget: &Budget) -> Self {
        self.options.budget = budget.clone();
        self
    }

    /// Sets who answers everything that servers ask, in place of handlers for each kind.
    pub fn respond(mut self, respond: impl Respond + 'static) -> Self {
        self.options.respond = Some(Arc::new(respond));
        self
    }

    /// Lets a person answer what servers ask.
    pub fn elicit(mut self, elicit: impl Elicit + 'static) -> Self {
        self.options.handlers.elicit = Some(Arc::new(elicit));
        self
    }

    /// Lets a model answer the servers whose settings say that they may ask one.
    pub fn sample(mut self, sample: impl Sample + 'static) -> Self {
        self.options.handlers.sample = Some(Arc::new(sample));
        self
    }

    /// Sets how tools are named for models, where a server's own settings do not say.
    pub fn name_style(mut self, style: NameStyle) -> Self {
        self.options.name_style = style;
        self
    }

    /// Puts a keeper between the host and each server that it starts: see [`crate::keeper`].
    pub fn keeper(mut self, program: impl Into<PathBuf>) -> Self {
        self.options.keeper = Some(program.into());
        self
    }

    /// Writes down which servers are started: see [`crate::leftovers`].
    pub fn ledger(mut self, ledger: &Ledger) -> Self {
        self.options.ledger = Some(ledger.clone());
        self
    }

    /// Says where approvals are kept. Without it they last as long as the host.
    pub fn trust(mut self, store: Store) -> Self {
        self.options.store = store;
        self
    }

    /// Sets who is asked about what came with a folder and is not approved. Without an answer it is
    /// refused.
    pub fn vouch(mut self, vouch: impl Vouch + 'static) -> Self {
        self.options.vouch = Arc::new(vouch);
        self
    }

    /// Says what agents may do, whatever config files say. Without it, and without such a section in
    /// the person's own file, they may do nothing; the owner may do everything.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.options.policy = RwLock::new(Arc::new(policy));
        self.own.0 = true;
        self
    }

    /// Sets who is asked where a policy wants that. Without an answer it is refused.
    pub fn approve(mut self, approve: impl Approve + 'static) -> Self {
        self.options.approve = Arc::new(approve);
        self
    }

    /// Says where what was approved for agents is kept. Without it, it lasts as long as the host.
    pub fn approvals(mut self, approvals: Approvals) -> Self {
        self.options.approvals = approvals;
        self
    }

    /// Says where it is kept what servers offered when they were approved, and what is done about
    /// what has changed since, whatever config files say.
    pub fn pins(mut self, pins: Pins, mode: Mode) -> Self {
        self.own.1 = true;
        self.options.pins = pins;
        self.options.pin_mode = mode;
        self
    }

    /// Sets who is shown what has changed since it was approved, with [`Mode::Ask`]. Without an answer
    /// it stays out of agents' reach.
    pub fn review(mut self, review: impl Review + 'static) -> Self {
        self.options.review = Arc::new(review);
        self
    }

    /// Sets who answers `${input:ID}`.
    pub fn inputs(mut self, inputs: impl Inputs + Send + Sync + 'static) -> Self {
        self.options.inputs = Arc::new(inputs);
        self
    }

    /// Sets by which proxy servers at URLs are reached; by none unless it is said.
    #[cfg(feature = "http")]
    pub fn proxy(mut self, proxy: &Proxy) -> Self {
        self.options.proxy = Some(proxy.clone());
        self
    }

    /// Trusts these certificates too, for servers at URLs: a file's text, in PEM.
    #[cfg(feature = "http")]
    pub fn certificates(mut self, pem: &[u8]) -> Self {
        self.options.certificates = Some(pem.to_owned());
        self
    }

    /// Adds a server.
    pub fn server(mut self, spec: ServerSpec) -> Self {
        let (name, origin) = (spec.name.clone(), spec.origin.clone());
        self.sources
            .push((name, origin, Source::Spec(Box::new(spec))));
        self
    }

    /// Adds a server behind a transport of the program's own.
    pub fn transport(
        mut self,
        name: ServerName,
        connect: impl Connect + 'static,
        settings: Settings,
    ) -> Self {
        let source = Source::Own(Arc::new(connect), Box::new(settings));
        self.sources.push((name, Origin::program(), source));
        self
    }

    /// Adds tools that have no server behind them: they can be listed and their arguments checked,
    /// and say clearly that they cannot run.
    pub fn offline(mut self, name: ServerName, tools: Vec<Tool>) -> Self {
        let source = Source::Offline(tools);
        self.sources.push((name, Origin::program(), source));
        self
    }

    /// Adds every server that config files describe, the badly described ones too: using one of
    /// those says what is wrong with it. What the person's own file lets agents do counts too, unless
    /// the program says that itself: see [`agents`].
    pub fn config(mut self, config: &Config) -> Self {
        for entry in config.entries() {
            let source = Source::Entry(Box::new(entry.clone()));
            self.sources
                .push((entry.name().clone(), entry.origin().clone(), source));
        }
        for named in config.problems() {
            if let Some(name) = named.server()
                && config.get(name).is_none()
                && let Some(problem) = config.bad(name)
                && let Ok(name) = ServerName::parse(name)
                && !self.sources.iter().any(|(known, _, _)| *known == name)
            {
                let pointer = format!("/{name}");
                let mut origin = Origin::of_file(problem.layer().clone(), problem.file(), pointer);
                (origin.line, origin.column) = (problem.line(), problem.column());
                let source = Source::Broken(Box::new(problem.clone()));
                self.sources.push((name, origin, source));
            }
        }
        self.problems.extend(config.problems().iter().cloned());
        self.problems.extend(agents::problems(config));
        if !self.own.0 {
            self = self.policy(agents::policy(config).0);
        }
        if let (false, (Some(mode), _)) = (self.own.1, agents::pin_mode(config)) {
            self.options.pin_mode = mode;
        }
        self
    }

    /// Makes the host. Nothing is started.
    ///
    /// # Errors
    /// When two servers have the same name.
    pub fn build(self) -> Result<Host, Error> {
        let mut members = BTreeMap::new();
        for (name, origin, source) in self.sources {
            let member = Arc::new(Member::new(name.clone(), origin, source));
            if members.insert(name.clone(), member).is_some() {
                return Err(HostError::Twice(name).into());
            }
        }
        Ok(Host::new(Inner::new(self.options, members, self.problems)))
    }
}
