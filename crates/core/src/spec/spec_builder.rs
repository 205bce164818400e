//! The builder methods of a server's description.
//!
//! A method that has no meaning for the kind of server, such as a header of one that is started as a
//! process, changes nothing and is remembered: [`ServerSpec::check`] reports it when the server is added
//! to a host.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::{
    Endpoint, NameStyle, OAuth, Process, Protocol, Remote, ServerSpec, Settings, ToolPredicate,
};
use crate::limits::{Deadline, Timeouts};
use crate::secret::Secret;

/// Servers that are started as a process.
impl ServerSpec {
    /// Adds arguments, for a server that is started.
    #[must_use]
    pub fn args<I, S>(self, args: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.process("args", |process| {
            process.args.extend(args.into_iter().map(Into::into));
        })
    }

    /// Sets a variable, for a server that is started. Its value is shown nowhere.
    #[must_use]
    pub fn env(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.process("env", |process| {
            process.env.insert(name.into(), Secret::new(value.into()));
        })
    }

    /// Lets variables of the host through, for a server that is started.
    #[must_use]
    pub fn env_passthrough<I, S>(self, names: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.process("env_passthrough", |process| {
            let names = names.into_iter().map(Into::into);
            process.env_passthrough.extend(names);
        })
    }

    /// Starts the server without the safe variables of the host (`PATH`, `HOME`, `LANG` and the like):
    /// it gets what [`ServerSpec::env`] sets and nothing else. Without a `PATH`, the command has to be a
    /// path.
    #[must_use]
    pub fn clean_env(self) -> Self {
        self.process("clean_env", |process| process.is_env_clean = true)
    }

    /// Sets the folder to start in, for a server that is started.
    #[must_use]
    pub fn cwd(self, folder: impl Into<PathBuf>) -> Self {
        self.process("cwd", |process| process.cwd = Some(folder.into()))
    }

    fn process(mut self, method: &'static str, change: impl FnOnce(&mut Process)) -> Self {
        match &mut self.endpoint {
            Endpoint::Process(process) => change(process),
            Endpoint::Remote(_) => self.unfit.push(method),
        }
        self
    }
}

/// Servers at a URL.
impl ServerSpec {
    /// Adds a header, for a server at a URL. Its value is shown nowhere.
    #[must_use]
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.remote_with("header", |remote| {
            let header = (name.into(), Secret::new(value.into()));
            remote.headers.push(header);
        })
    }

    /// Says whether the server may answer with streams; it may, unless this says otherwise.
    #[must_use]
    pub fn streamable(self, streamable: bool) -> Self {
        self.remote_with("streamable", |remote| remote.streamable = streamable)
    }

    /// Lets the headers of the description replace those that the protocol sets, such as `Accept`. A server
    /// may then refuse or misread requests; headers that control the transfer stay ours.
    #[must_use]
    pub fn override_headers(self, is_on: bool) -> Self {
        self.remote_with("override_headers", |remote| {
            remote.override_headers = is_on;
        })
    }

    /// Sets whether redirects within the origin are followed, as they are by default.
    #[must_use]
    pub fn follow_redirects(self, is_on: bool) -> Self {
        self.remote_with("follow_redirects", |remote| {
            remote.follow_redirects = is_on;
        })
    }

    /// Says whether session ids may be made of letters, digits, dashes and underscores only.
    #[must_use]
    pub fn strict_session_id(self, strict: bool) -> Self {
        self.remote_with("strict_session_id", |remote| {
            remote.strict_session_id = strict;
        })
    }

    /// Sets how the server is logged in to.
    #[must_use]
    pub fn oauth(self, oauth: OAuth) -> Self {
        self.remote_with("oauth", |remote| remote.oauth = Some(Box::new(oauth)))
    }

    fn remote_with(mut self, method: &'static str, change: impl FnOnce(&mut Remote)) -> Self {
        match &mut self.endpoint {
            Endpoint::Remote(remote) => change(remote),
            Endpoint::Process(_) => self.unfit.push(method),
        }
        self
    }
}

/// How the server is used, whatever it is.
impl ServerSpec {
    /// Says whether the server may be used; it may, unless this says otherwise.
    #[must_use]
    pub fn enabled(mut self, enabled: bool) -> Self {
        self.is_enabled = enabled;
        self
    }

    /// Sets all settings at once, in place of those that were set before.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets how long connecting, each list and each call may take without any progress. In all, each may
    /// take ten minutes, or this long where that is more.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        let deadline = Deadline {
            idle: timeout,
            total: Deadline::default().total.max(timeout),
        };
        self.timeouts(Timeouts {
            connect: deadline,
            discovery: deadline,
            execution: deadline,
        })
    }

    /// Sets how long connecting, discovery and execution may take.
    #[must_use]
    pub fn timeouts(self, timeouts: Timeouts) -> Self {
        self.with(|settings| settings.timeouts = timeouts)
    }

    /// Sets which era to speak.
    #[must_use]
    pub fn protocol(self, protocol: Protocol) -> Self {
        self.with(|settings| settings.protocol = protocol)
    }

    /// Sets how often a list or an idempotent call is repeated after its connection was lost, and a
    /// request over HTTP that may be sent again. A start that fails without a known cause is repeated
    /// as often; without this, it is not.
    #[must_use]
    pub fn max_retries(self, retries: u32) -> Self {
        self.with(|settings| settings.max_retries = Some(retries))
    }

    /// Sets the maximum size of one message of the server, 10 MiB by default. A larger one fails the call that
    /// it belongs to. More than [`Limits::held_bytes`](crate::limits::Limits::held_bytes) is never held.
    #[must_use]
    pub fn message_bytes(self, bytes: usize) -> Self {
        self.with(|settings| settings.message_bytes = Some(bytes))
    }

    /// Sets the wait before the first of these.
    #[must_use]
    pub fn retry_backoff(self, wait: Duration) -> Self {
        self.with(|settings| settings.retry_backoff = Some(wait))
    }

    /// Says whether lists are kept for a while without asking again.
    #[must_use]
    pub fn cache_tools_list(self, cache: bool) -> Self {
        self.with(|settings| settings.cache_tools_list = cache)
    }

    /// Says whether a lost connection is made again on the next use; it is, unless this says otherwise.
    #[must_use]
    pub fn reconnect(self, reconnect: bool) -> Self {
        self.with(|settings| settings.reconnect = reconnect)
    }

    /// Sets how many attempts may fail in a row before automatic reconnection stops.
    #[must_use]
    pub fn max_reconnect_attempts(self, attempts: u32) -> Self {
        self.with(|settings| settings.max_reconnect_attempts = attempts)
    }

    /// Says whether a server without tools counts as broken.
    #[must_use]
    pub fn fail_if_no_tools(self, fail: bool) -> Self {
        self.with(|settings| settings.fail_if_no_tools = fail)
    }

    /// Allows only the tools whose own names match one of these patterns, as in
    /// [`Glob`](super::Glob), and those that were allowed before.
    #[must_use]
    pub fn allow_tools<I, S>(self, patterns: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.with(|settings| {
            let allowed = settings.tools.allow.get_or_insert_default();
            allowed.extend(patterns.into_iter().map(Into::into));
        })
    }

    /// Blocks the tools whose own names match one of these patterns, whatever is allowed.
    #[must_use]
    pub fn block_tools<I, S>(self, patterns: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.with(|settings| {
            let patterns = patterns.into_iter().map(Into::into);
            settings.tools.block.extend(patterns);
        })
    }

    /// Adds a predicate over its tools, for everyone who uses the server: the whole definition and the
    /// context of the use decide. See [`ToolPredicate`].
    ///
    /// ```
    /// use switchboard_core::spec::ServerSpec;
    ///
    /// let spec = ServerSpec::stdio("files", "files-server").unwrap();
    /// let spec = spec.filter_tools(|tool, context| {
    ///     let is_harmless = tool["annotations"]["readOnlyHint"] == true;
    ///     is_harmless || context["agent"]["attributes"]["role"] == "writer"
    /// });
    /// ```
    #[must_use]
    pub fn filter_tools(
        self,
        admits: impl Fn(&Value, &Value) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.with(|settings| {
            let predicate = ToolPredicate::new(admits);
            settings.tool_predicates.push(predicate);
        })
    }

    /// Sets how its tools are named for models.
    #[must_use]
    pub fn name_style(self, style: NameStyle) -> Self {
        self.with(|settings| settings.name_style = Some(style))
    }

    /// Says whether arguments are cleaned of nulls and empty containers before they are sent.
    #[must_use]
    pub fn clean_arguments(self, clean: bool) -> Self {
        self.with(|settings| settings.clean_arguments = clean)
    }

    /// Names tools that may run twice without harm: they are sent again when a connection was lost.
    #[must_use]
    pub fn idempotent_tools<I, S>(self, tools: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.with(|settings| {
            let tools = tools.into_iter().map(Into::into);
            settings.idempotent_tools.extend(tools);
        })
    }

    /// Names folders that the server is told it may use.
    #[must_use]
    pub fn roots<I, P>(self, folders: I) -> Self
    where
        I: IntoIterator<Item = P>,
        P: Into<PathBuf>,
    {
        self.with(|settings| {
            let folders = folders.into_iter().map(Into::into);
            settings.roots.extend(folders);
        })
    }

    /// Says whether the server may ask for completions of a model.
    #[must_use]
    pub fn sampling(self, sampling: bool) -> Self {
        self.with(|settings| settings.sampling = sampling)
    }

    fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{SpecError, ToolFilter, TransportKind};

    #[test]
    fn every_setting_has_a_builder_method() {
        let timeouts = Timeouts {
            connect: Deadline::within(Duration::from_secs(1)),
            ..Timeouts::default()
        };
        let spec = ServerSpec::stdio("a", "b").unwrap();
        let spec = spec
            .timeouts(timeouts)
            .protocol(Protocol::Modern)
            .max_retries(7)
            .retry_backoff(Duration::from_secs(2))
            .cache_tools_list(true)
            .reconnect(false)
            .max_reconnect_attempts(9)
            .fail_if_no_tools(true)
            .allow_tools(["get_*"])
            .allow_tools(["put"])
            .block_tools(["get_secret"])
            .filter_tools(|_, _| true)
            .message_bytes(64 * 1024)
            .name_style(NameStyle::Single)
            .clean_arguments(true)
            .idempotent_tools(["get_one"])
            .roots(["/work"])
            .sampling(true);
        assert_eq!(spec.settings.tool_predicates.len(), 1);
        let expected = Settings {
            timeouts,
            protocol: Protocol::Modern,
            max_retries: Some(7),
            retry_backoff: Some(Duration::from_secs(2)),
            message_bytes: Some(64 * 1024),
            cache_tools_list: true,
            reconnect: false,
            max_reconnect_attempts: 9,
            fail_if_no_tools: true,
            tools: ToolFilter {
                allow: Some(vec!["get_*".to_owned(), "put".to_owned()]),
                block: vec!["get_secret".to_owned()],
            },
            // Only a clone of a predicate is equal to it.
            tool_predicates: spec.settings.tool_predicates.clone(),
            name_style: Some(NameStyle::Single),
            clean_arguments: true,
            idempotent_tools: vec!["get_one".to_owned()],
            roots: vec![PathBuf::from("/work")],
            sampling: true,
            // Only files of other clients suggest tools.
            suggested_tools: Vec::new(),
        };
        assert_eq!(spec.settings, expected);
        assert!(!spec.enabled(false).is_enabled);
    }

    #[test]
    fn a_timeout_of_silence_leaves_the_total_as_long_as_it_was() {
        let spec = ServerSpec::stdio("a", "b").unwrap();
        let short = spec.clone().timeout(Duration::from_secs(5)).settings;
        let execution = short.timeouts.execution;
        assert_eq!(execution.idle, Duration::from_secs(5));
        assert_eq!(execution.total, Deadline::default().total);
        let hour = Duration::from_secs(3600);
        let long = spec.timeout(hour).settings.timeouts.connect;
        assert_eq!((long.idle, long.total), (hour, hour));
    }

    #[test]
    fn a_method_for_the_other_kind_of_server_is_an_error() {
        let process = ServerSpec::stdio("a", "b").unwrap();
        let remote = ServerSpec::http("a", "https://example.com/mcp").unwrap();
        process.check().unwrap();
        remote.check().unwrap();
        let over = |spec: ServerSpec| match spec.check() {
            Err(SpecError::Unfit { method, transport }) => Some((method, transport)),
            _ => None,
        };
        for (spec, method) in [
            (process.clone().header("a", "b"), "header"),
            (process.clone().streamable(false), "streamable"),
            (process.clone().strict_session_id(true), "strict_session_id"),
            (process.clone().oauth(OAuth::default()), "oauth"),
        ] {
            assert_eq!(over(spec), Some((method, TransportKind::Stdio)));
        }
        for (spec, method) in [
            (remote.clone().args(["a"]), "args"),
            (remote.clone().env("a", "b"), "env"),
            (remote.clone().env_passthrough(["A"]), "env_passthrough"),
            (remote.clone().clean_env(), "clean_env"),
            (remote.clone().cwd("/"), "cwd"),
        ] {
            assert_eq!(over(spec), Some((method, TransportKind::Http)));
        }
        let fine = process.args(["a"]).env("A", "b").cwd("/").clean_env();
        fine.check().unwrap();
        let fine = remote.header("a", "b").streamable(false);
        fine.check().unwrap();
    }
}
