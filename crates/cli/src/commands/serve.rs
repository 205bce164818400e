//! `switchboard serve`: offers all servers to clients as one, over stdio, HTTP or a Unix socket.
//!
//! stdout carries protocol messages alone, and everything for people goes to stderr. The gateway is a
//! library: this module reads the options, words what it tells, and ends it in good order.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use switchboard::catalog::ExposedNames;
use switchboard::config::{Config, Entry, ProfileSection};
use switchboard::host::{HostBuilder, KeptDefinitions};
use switchboard::policy::{AgentPolicy, Level};
use switchboard::spec::ServerName;
use switchboard::text::sanitise_line;
use switchboard::transport::Environment;
use switchboard_gateway::caller::DEFAULT_AGENT;
use switchboard_gateway::http::{
    HttpAuth, HttpListener, HttpOptions, HttpService, LiveTokens, NamedTokens, OAuth, OAuthOptions,
    TlsFiles, TokenFile,
};
use switchboard_gateway::setup::{self, ClientSetup};
use switchboard_gateway::{
    ClientIdentity, Gateway, GatewayError, GatewayOptions, LeftOutReason, Profile, Scope,
    client_capabilities, leads_to, starts_gateway, stdio,
};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use crate::args::{Connection, Serve};
use crate::daemon::Starter;
use crate::exit::Exit;
use crate::hosting::{ConfigFiles, HostSource, Hosting, Opened, Selector};
use crate::journal::Journal;
use crate::lifecycle::{Notifies, run_until_drained};
use crate::problems;
use crate::reloading::{FileNews, Reloading, changes, describe};
use crate::report::{Failure, Report};
use crate::role;
use crate::screen::{Screen, talk};
use crate::state;
use crate::style::Style;

/// Time without a use after which a server that clients share is stopped.
const UNUSED: Duration = Duration::from_secs(30 * 60);

/// Serves until the client is gone, or until a signal.
pub(crate) fn run(args: &Serve) -> Exit {
    let outer = Environment::of_process();
    // Servers are one level deeper, so that a gateway among them notices.
    let environment = outer.clone().deeper();
    let connection = connection(args);
    let screen = Screen::new(&connection, &environment);
    // A gateway among its own servers would start itself without end.
    if outer.depth() > 0 {
        return screen.fail(&nested());
    }
    if !listens(args) {
        role::serve_stdin();
    }
    let adjust = |builder, files: &ConfigFiles| adjust(args, builder, files, &environment);
    let source = HostSource {
        connection: &connection,
        environment: &environment,
        screen: &screen,
        adjust: Some(&adjust),
        starter: Starter::Command,
    };
    let opened = source.open(Selector::All).and_then(|opened| {
        let Opened { hosting, trace } = opened;
        hosting.check_files()?;
        let gateway = gateway(args, &hosting)?;
        let journal = Journal::open(connection.events.as_deref(), trace, &hosting)?;
        Ok((hosting, gateway, journal))
    });
    match opened {
        Ok((hosting, gateway, journal)) => {
            let (stop, reload) = (Notify::new(), Notify::new());
            let serving = Serving {
                args,
                hosting: &hosting,
                gateway: &gateway.0,
                identity: gateway.1,
                stop: &stop,
                reload: &reload,
            };
            let notifies = Notifies {
                stop: &stop,
                reload: &reload,
            };
            run_until_drained(&hosting, journal, serving.serve(), notifies)
        }
        Err(report) => screen.fail(&report),
    }
}

/// Returns true if clients come over HTTP.
fn listens(args: &Serve) -> bool {
    args.http.is_some() || args.unix.is_some()
}

/// Makes the options of the connection to servers that `serve` has too.
fn connection(args: &Serve) -> Connection {
    Connection {
        config: args.config.clone(),
        trust: args.trust.clone(),
        timeout: args.timeout,
        events: args.events.clone(),
        quiet: args.quiet,
        verbose: args.verbose,
        ..Connection::default()
    }
}

/// Adds what a gateway needs to the host: names without a prefix, kept definitions, the usual agent.
fn adjust(
    args: &Serve,
    builder: HostBuilder,
    files: &ConfigFiles,
    environment: &Environment,
) -> Result<HostBuilder, Failure> {
    let names = ExposedNames::unprefixed().length(args.name_length);
    let names = names.ok_or_else(|| {
        let (least, most) = ExposedNames::LENGTHS.into_inner();
        Report::usage(format!(
            "--name-length: expected a number from {least} to {most}"
        ))
    })?;
    // Only the person's own file says what agents may do.
    let mut broken = files.broken_files().iter();
    if let Some(problem) = broken.find(|problem| !problem.layer().needs_approval()) {
        return Err(problems::report(problem));
    }
    let builder = builder.exposed_names(names);
    let mut builder = builder.client_capabilities(client_capabilities());
    // Under a policy that is unclear, the usual agent must not get all rights.
    if !files.config.is_access_unclear() {
        builder = builder.default_agent(DEFAULT_AGENT, AgentPolicy::everything(Level::Yolo));
    }
    if let Some(after) = args.idle_stop.map_or(Some(UNUSED), |time| time.0) {
        builder = builder.close_unused(after);
    }
    if let Some(folder) = state::definitions(environment) {
        builder = builder.kept_definitions(&KeptDefinitions::at(folder));
    }
    Ok(builder)
}

/// Makes the gateway and the identity of its clients.
fn gateway(args: &Serve, hosting: &Hosting<'_>) -> Result<(Gateway, ClientIdentity), Failure> {
    let agent = args.agent.as_ref().map_or(DEFAULT_AGENT, |id| id.as_str());
    // Fails for an agent that no policy mentions, with what to write.
    let caller = hosting.host.agent(agent)?.caller().clone();
    let mut options = GatewayOptions::default();
    if let Some(time) = args.idle_stop {
        options.limits.connection_idle = time.0.unwrap_or(Duration::MAX);
    }
    if let Some(time) = args.first_list {
        options.limits.first_list_stream = time;
        options.limits.first_list_http = time;
    }
    let (profiles, wrong) = profiles(&hosting.files.config);
    options.profiles = profiles;
    for name in wrong {
        hosting.screen.warn(&format!(
            "the profile {name} has errors and is not served; see `switchboard config check`"
        ));
    }
    let gateway = Gateway::new(hosting.host.clone(), options).map_err(configuration)?;
    Ok((gateway, ClientIdentity::local(caller)))
}

/// Reads the profiles of a config, and names those whose contents are unclear.
fn profiles(config: &Config) -> (BTreeMap<String, Profile>, Vec<String>) {
    let (mut profiles, mut wrong) = (BTreeMap::new(), Vec::new());
    for section in config.profiles() {
        let name = section.name.text().to_owned();
        match profile(section) {
            Some(profile) => drop(profiles.insert(name, profile)),
            None => wrong.push(name),
        }
    }
    (profiles, wrong)
}

/// Reads a profile; `None` if what it is to have is unclear.
fn profile(section: &ProfileSection) -> Option<Profile> {
    if section.is_unclear {
        return None;
    }
    let texts = |list: &[switchboard::config::Placed]| -> Vec<String> {
        list.iter().map(|placed| placed.text().to_owned()).collect()
    };
    let mut profile = Profile::default();
    if let Some(servers) = &section.servers {
        let names = servers
            .iter()
            .map(|name| ServerName::parse(name.text()).ok());
        // One name that is none makes the whole list unclear: it must not be read as a shorter one.
        profile.servers = Some(names.collect::<Option<_>>()?);
    }
    profile.tools = section.tools.as_deref().map(texts);
    profile.without_tools = texts(&section.without_tools);
    Some(profile)
}

/// The parts of a gateway that serves.
struct Serving<'a> {
    args: &'a Serve,
    hosting: &'a Hosting<'a>,
    gateway: &'a Gateway,
    identity: ClientIdentity,
    stop: &'a Notify,
    reload: &'a Notify,
}

impl Serving<'_> {
    async fn serve(self) -> Result<Exit, Failure> {
        // Before any connection: a gateway among the servers would lead back to this one.
        self.leave_out_gateways().await?;
        // Both refuse what cannot be served, before the first client is waited for.
        let (scope, reloading) = (self.scope()?, self.reloading()?);
        let mut news = self
            .gateway
            .left_out_news(self.identity.clone(), scope.clone());
        // Servers that were never seen are connected to before the first client asks for them.
        let warming = async {
            let view = self.hosting.host.view(self.identity.caller().clone());
            view.connect_within(self.gateway.options().limits.first_list_stream)
                .await;
            loop {
                let change = news.next().await;
                for server in change.left_out {
                    self.tell_left_out(&server);
                }
                for server in change.back {
                    self.say(&format!("{server} is offered again"));
                }
            }
        };
        let serving = async {
            if listens(self.args) {
                Box::pin(self.serve_http()).await
            } else {
                Box::pin(self.serve_stdio(scope)).await
            }
        };
        tokio::select! {
            served = serving => served,
            () = warming => Ok(Exit::Internal),
            () = self.follow_files(reloading) => Ok(Exit::Internal),
        }
    }

    /// Prepares to follow the config files.
    fn reloading(&self) -> Result<Reloading, Failure> {
        let config = self.args.config.as_deref();
        let own = self.args.http;
        let reloading = Reloading::new(self.hosting, config)?;
        let gateway = self.gateway.clone();
        let mut reloading = reloading.prepare(move |config| {
            // Profiles that are wrong are among the problems that are told; those of before stay then.
            drop(gateway.reload(&profiles(config).0));
            gateways(config, own)
        });
        if !self.args.no_watch
            && let Some(warning) = reloading.watch()
        {
            self.hosting.screen.warn(&warning);
        }
        Ok(reloading)
    }

    /// Has the host take config files that have changed. Never returns.
    async fn follow_files(&self, mut reloading: Reloading) {
        let asked = reloading.trigger();
        let passing = async {
            loop {
                self.reload.notified().await;
                asked.notify_one();
            }
        };
        let following = async {
            loop {
                self.tell_files(reloading.next().await);
                // New servers are listed without a client that asks for them.
                let view = self.hosting.host.view(self.identity.caller().clone());
                view.connect_within(Duration::ZERO).await;
            }
        };
        tokio::join!(passing, following);
    }

    fn tell_files(&self, news: FileNews) {
        let screen = self.hosting.screen;
        match news {
            FileNews::Taken { done, warnings, .. } => {
                warnings.iter().for_each(|warning| screen.warn(warning));
                self.say(&describe(&done, |_| true));
            }
            FileNews::Refused { problems, done } => {
                for problem in &problems {
                    screen.fail(&problems::report(problem));
                }
                if let Some(changes) = changes(&done, |_| true) {
                    self.say(&changes);
                }
                self.say("the servers stay as they are until the file can be read");
            }
        }
    }

    /// Takes entries out that lead back to a gateway of this program.
    async fn leave_out_gateways(&self) -> Result<(), Failure> {
        for name in gateways(&self.hosting.files.config, self.args.http) {
            self.say(&format!(
                "{name} is left out: its entry starts a gateway itself"
            ));
            self.hosting.host.remove(name.as_str()).await?;
        }
        Ok(())
    }

    /// The part of the host that is served over stdio.
    fn scope(&self) -> Result<Scope, Failure> {
        let (scope, kind, name) = match (&self.args.profile, &self.args.server) {
            (Some(name), _) => (
                Scope::Profile(name.as_str().into()),
                "profile",
                name.as_str(),
            ),
            (None, Some(name)) => (Scope::Server(name.clone()), "server", name.as_str()),
            (None, None) => return Ok(Scope::All),
        };
        if self.gateway.has_scope(&self.identity, &scope) {
            return Ok(scope);
        }
        let title = format!("no {kind} is called {name}");
        let report = Report::new(Exit::Configuration, "configuration", title);
        let known = self.gateway.profiles().into_iter();
        let known: Vec<String> = match kind {
            "profile" => known.collect(),
            _ => self
                .hosting
                .host
                .servers()
                .iter()
                .map(|it| it.name.to_string())
                .collect(),
        };
        Err(if known.is_empty() {
            report.hint("write `profiles` into your own config file: see docs/gateway.md")
        } else {
            report.hint(format!("known: {}", known.join(", ")))
        })
    }

    async fn serve_stdio(&self, scope: Scope) -> Result<Exit, Failure> {
        if std::io::IsTerminal::is_terminal(&std::io::stdin()) {
            self.say("a client is to start this, and speaks the protocol over stdin and stdout");
            self.tell_setups(&setup::over_stdio("switchboard", &self.words()));
        }
        let (input, output) = stdio();
        let (gateway, identity) = (self.gateway.clone(), self.identity.clone());
        let client = gateway.serve(input, output, identity, scope);
        // A signal ends the stream as its client can: requests in flight have their time.
        let draining = self.drain_when_told();
        tokio::select! {
            ended = client => ended.map_err(configuration)?,
            () = draining => {}
        }
        Ok(Exit::Ok)
    }

    async fn serve_http(&self) -> Result<Exit, Failure> {
        let (service, token) = self.service()?;
        // All addresses are bound before any is served: if one fails, nothing was served.
        let mut listeners = Vec::new();
        if let Some(address) = self.args.http {
            let listener = HttpListener::tcp(address).await.map_err(listening)?;
            listeners.push(listener);
        }
        if let Some(path) = &self.args.unix {
            listeners.push(listen_unix(path)?);
        }
        let told = Arc::new(watch::Sender::new(false));
        let (mut serving, mut addresses) = (JoinSet::new(), Vec::new());
        for listener in listeners {
            addresses.extend(listener.address());
            let (service, mut told) = (service.clone(), told.subscribe());
            let mut served = Box::pin(async move {
                let stopped = async { drop(told.wait_for(|told| *told).await) };
                service.serve(listener, stopped).await
            });
            // Polled once: options that cannot be served fail at once, before anything is told.
            if let Poll::Ready(served) = poll_once(served.as_mut()).await {
                served.map_err(listening)?;
            }
            serving.spawn(served);
        }
        // Announced only now: every listener has passed its checks.
        self.tell_start(&addresses, token.as_ref());
        let draining = async {
            self.stop.notified().await;
            self.say("draining");
            told.send_replace(true);
            // Never completes: `ended` does once all listeners have drained.
            std::future::pending::<()>().await;
        };
        let ended = async {
            while let Some(ended) = serving.join_next().await {
                match ended {
                    Ok(served) => served.map_err(listening)?,
                    Err(_) => {
                        return Err(Report::new(Exit::Internal, "internal", "serving failed"));
                    }
                }
            }
            Ok(Exit::Ok)
        };
        tokio::select! {
            ended = ended => ended,
            () = draining => Ok(Exit::Ok),
        }
    }

    /// Lets requests in flight finish once a signal has come.
    async fn drain_when_told(&self) {
        self.stop.notified().await;
        let time = self.gateway.options().limits.drain;
        if !self.gateway.drain(time).await {
            self.hosting
                .screen
                .warn("some requests did not finish in time");
        }
        // The stream writes its last answers and ends itself.
        tokio::time::sleep(time).await;
    }

    /// Makes the service, and the file of the token if there is one.
    fn service(&self) -> Result<(HttpService, Option<TokenPlace>), Failure> {
        let args = self.args;
        // Without an address there is only the socket, which other users cannot open.
        let (auth, place) = if args.no_auth || args.http.is_none() {
            (HttpAuth::None, None)
        } else {
            let path = args.token_file.clone();
            let path = path.or_else(|| state::gateway_token(&self.hosting.environment));
            let path = path.ok_or_else(|| Report::usage("no home is known: give --token-file"))?;
            let file = TokenFile::read_or_make(&path).map_err(|error| {
                let title = "the token file cannot be used";
                Report::new(Exit::Configuration, "configuration", title)
                    .fact("the system says", error.to_string())
            })?;
            let new = file.new_text;
            let own = HttpAuth::Token(file.token);
            (self.with_others(own)?, Some(TokenPlace { path, new }))
        };
        let mut options = HttpOptions::with_identity(auth, self.identity.clone());
        options.allow_hosts.clone_from(&args.allow_host);
        options.allow_origins.clone_from(&args.allow_origin);
        options.public_url.clone_from(&args.public_url);
        options.behind_proxy = args.behind_proxy;
        options.legacy_sse = args.legacy_sse;
        if let (Some(certificates), Some(key)) = (&args.tls_cert, &args.tls_key) {
            let (certificates, key) = (certificates.clone(), key.clone());
            options.tls = Some(TlsFiles { certificates, key });
        }
        let service = self.gateway.http(options).map_err(configuration)?;
        Ok((service, place))
    }

    /// Takes named tokens too, from the state folder, and those of the issuer of `--oauth`.
    fn with_others(&self, own: HttpAuth) -> Result<HttpAuth, Failure> {
        let mut all = vec![own];
        if let Some(folder) = state::gateway_tokens(&self.hosting.environment) {
            let is_silent = self.hosting.screen.is_quiet();
            let named = LiveTokens::with_listener(NamedTokens::at(folder), move |why| {
                if !is_silent {
                    let label = Style::of_stderr().warning("warning:");
                    let why = sanitise_line(why);
                    talk(&format!("{label} no named token counts: {why}\n"));
                }
            });
            // A person who has made tokens learns now that none of them counts.
            named
                .check()
                .map_err(|error| super::token::failure(&error))?;
            all.push(HttpAuth::Named(named));
        }
        if let Some(file) = &self.args.oauth {
            let url = public_url(self.args)?;
            let options = OAuthOptions::read(file, &url).map_err(configuration)?;
            let fetch = self.hosting.host.auth_fetch()?;
            // Last: its refusal tells clients where they get a token.
            all.push(HttpAuth::OAuth(
                OAuth::new(options, fetch).map_err(configuration)?,
            ));
        }
        Ok(HttpAuth::Any(all))
    }

    fn tell_start(&self, addresses: &[SocketAddr], token: Option<&TokenPlace>) {
        let args = self.args;
        for address in addresses {
            let scheme = if args.tls_cert.is_some() {
                "https"
            } else {
                "http"
            };
            let url = match &args.public_url {
                Some(url) => format!("{}/mcp", url.trim_end_matches('/').trim_end_matches("/mcp")),
                None => format!("{scheme}://{address}/mcp"),
            };
            self.say(&format!("serving at {url}"));
            if let Some(TokenPlace { path, new }) = token {
                self.say(&format!("token file: {}", path.display()));
                if let Some(token) = new {
                    self.say(&format!("the token, shown this once: {token}"));
                }
            } else {
                let screen = self.hosting.screen;
                screen.warn("no token is asked for: every program on this machine can use it");
            }
            let file = token.map(|token| token.path.as_path());
            self.tell_setups(&setup::over_http(&url, file));
            if let Some(file) = file {
                self.say(&format!("for the others: {}", setup::export_token(file)));
            }
        }
        if let Some(path) = &args.unix {
            self.say(&format!("serving on the socket {}", path.display()));
        }
    }

    fn tell_setups(&self, setups: &[ClientSetup]) {
        for ClientSetup {
            client, text, file, ..
        } in setups
        {
            let place = file.map(|file| format!(" ({file})")).unwrap_or_default();
            self.say(&format!(
                "{client}{place}:\n    {}",
                text.replace('\n', "\n    ")
            ));
        }
    }

    fn tell_left_out(&self, server: &switchboard_gateway::LeftOut) {
        let why = match server.reason {
            LeftOutReason::NeedsApproval => "it is not approved",
            LeftOutReason::NeedsLogin => "it needs a login",
            LeftOutReason::Changed => "what it offers has changed since it was approved",
            _ => "it cannot be used",
        };
        let command = server.command.as_deref().unwrap_or_default();
        let name = &server.server;
        self.hosting
            .screen
            .warn(&format!("{name} is left out, because {why}: {command}"));
    }

    /// The words of this command line after the program, for a client's config.
    fn words(&self) -> Vec<String> {
        std::env::args().skip(1).collect()
    }

    /// Tells the person something, unless they want errors alone.
    fn say(&self, text: &str) {
        if !self.hosting.screen.is_quiet() {
            let lines = text.lines().map(sanitise_line);
            let lines: Vec<_> = lines.collect();
            talk(&format!("switchboard: {}\n", lines.join("\n")));
        }
    }
}

/// The entries that lead back to a gateway of this program, which listens at that address.
fn gateways(config: &Config, http: Option<SocketAddr>) -> Vec<ServerName> {
    // A port that the system picks is not known yet, and no entry can name it.
    let address = http.filter(|address| address.port() != 0);
    let program = std::env::current_exe().ok();
    let program = program.map(|path| path.display().to_string());
    let leads_back = |entry: &&Entry| {
        // By its path too, whatever it is called.
        let own = |word| {
            if program.as_deref() == Some(word) {
                "switchboard"
            } else {
                word
            }
        };
        let words = entry.command().into_iter().chain(entry.args()).map(own);
        let leads_here = |url| address.is_some_and(|address| leads_to(url, address));
        entry.url().is_some_and(leads_here) || starts_gateway(words)
    };
    let found = config.entries().iter().filter(leads_back);
    found.map(|entry| entry.name().clone()).collect()
}

async fn poll_once<F: Future>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await
}

/// The URL of the gateway that tokens are issued for.
fn public_url(args: &Serve) -> Result<String, Failure> {
    if let Some(url) = &args.public_url {
        return Ok(url.clone());
    }
    let address = args.http.filter(|address| address.port() != 0);
    let address = address.ok_or_else(|| {
        Report::usage("--oauth: tokens are issued for a URL: give --public-url, or a port")
    })?;
    let scheme = if args.tls_cert.is_some() {
        "https"
    } else {
        "http"
    };
    Ok(format!("{scheme}://{address}"))
}

/// The file of the token, and its text if it was made just now.
struct TokenPlace {
    path: PathBuf,
    new: Option<String>,
}

#[cfg(unix)]
fn listen_unix(path: &std::path::Path) -> Result<HttpListener, Failure> {
    HttpListener::unix(path).map_err(listening)
}

#[cfg(not(unix))]
fn listen_unix(_: &std::path::Path) -> Result<HttpListener, Failure> {
    Err(Report::usage("--unix: this system has no Unix sockets"))
}

fn nested() -> Failure {
    let title = "this is a server of another `switchboard serve`";
    let report = Report::new(Exit::Configuration, "configuration", title);
    report.hint("remove the entry that starts it from the config file")
}

/// The report of a gateway that cannot be made as it is asked for.
fn configuration(error: GatewayError) -> Failure {
    match error {
        GatewayError::Io(error) => {
            let report = Report::new(Exit::Internal, "internal", "serving failed");
            report.fact("the system says", error.to_string())
        }
        error => {
            let report = Report::new(Exit::Configuration, "configuration", error.to_string());
            match error {
                GatewayError::Option { option: "http", .. } => report
                    .hint("give --tls-cert and --tls-key, or --behind-proxy if a proxy ends TLS"),
                _ => report,
            }
        }
    }
}

/// The report of an address or a socket that cannot be served.
fn listening(error: GatewayError) -> Failure {
    match error {
        GatewayError::Io(error) => Report::new(Exit::Connect, "connect", error.to_string()),
        error => configuration(error),
    }
}
