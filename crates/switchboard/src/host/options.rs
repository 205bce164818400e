//! The options of a host: [`HostLimits`], and what the builder collects for each owner.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use switchboard_wire::{Implementation, LogLevel};

use crate::config::{Inputs, LimitsSection, NoInputs, Problem};
use crate::limits::{Budget, Limits, Timeouts};
use crate::pins::{Mode, Pins};
use crate::policy::{Approvals, Approve, Policy, Unattended};
use crate::schema;
use crate::secret::Redactor;
use crate::session::Respond;
use crate::spec::{AddressRange, NameStyle, Protocol};
use crate::talk::Handlers;
#[cfg(feature = "http")]
use crate::transport::Proxy;
use crate::transport::{Environment, Tap, leftovers::Ledger};
use crate::trust::{Bind, Nobody, Store, Vouch};

use super::access::{self, Review};
use super::eras::Eras;

/// What bounds a host beside what bounds its connections.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostLimits {
    /// Events that are kept for a slow reader.
    pub events: usize,
    /// What servers say beside answers that is kept for a slow reader: lines and messages.
    pub logs: usize,
    /// Longest text of one of these that is kept; a longer one is cut, and its whole length told.
    pub log_bytes: usize,
    /// How long a list must have been quiet before it is read again.
    pub quiet: Duration,
    /// The longest that a list which never is quiet is waited for.
    pub unrest: Duration,
    /// How often in a row lists that change again within that time are read at once; from then on
    /// there is that time between two readings.
    pub rushes: u32,
    /// How long to wait before a subscription that ended is opened anew; doubled each time.
    pub relisten: Duration,
    /// The longest such wait.
    pub relisten_most: Duration,
    /// Resources of one server that are watched; further ones are refused.
    pub watches: usize,
    /// Addresses that have changed and are kept for somebody who watches and is slow; of further ones
    /// only their number is.
    pub updates: usize,
    /// Bytes of these addresses.
    pub update_bytes: usize,
    /// What an argument may become: so many values are kept.
    pub completions: usize,
    /// How long a list is kept where `cache_tools_list` is on and the server does not say.
    pub list_age: Duration,
    /// Changes that one event names.
    pub changes: usize,
    /// What bounds the checks of arguments and results.
    pub schema: schema::Bounds,
}

impl Default for HostLimits {
    fn default() -> Self {
        Self {
            events: 1024,
            logs: 1024,
            log_bytes: 16 * 1024,
            quiet: Duration::from_millis(50),
            unrest: Duration::from_secs(1),
            rushes: 5,
            relisten: Duration::from_secs(1),
            relisten_most: Duration::from_secs(60),
            watches: 1024,
            updates: 64,
            update_bytes: 64 * 1024,
            // 2026-07-28 completion: at most this many are sent.
            completions: 100,
            list_age: Duration::from_secs(300),
            changes: 64,
            schema: schema::Bounds::default(),
        }
    }
}

/// What a program decides about the servers of a host, their connections and their lists.
pub(super) struct Options {
    pub(super) environment: Arc<Environment>,
    pub(super) home: Option<PathBuf>,
    pub(super) workspace: Option<PathBuf>,
    pub(super) client: Option<Implementation>,
    pub(super) timeouts: Option<Timeouts>,
    pub(super) protocol: Option<Protocol>,
    pub(super) limits: Limits,
    pub(super) host_limits: HostLimits,
    pub(super) budget: Budget,
    pub(super) respond: Option<Arc<dyn Respond>>,
    pub(super) handlers: Handlers,
    /// For servers that log nothing unless they are asked.
    pub(super) log_level: Option<LogLevel>,
    pub(super) name_style: NameStyle,
    pub(super) keeper: Option<PathBuf>,
    pub(super) ledger: Option<Ledger>,
    pub(super) eras: Eras,
    pub(super) store: Store,
    pub(super) vouch: Arc<dyn Vouch>,
    pub(super) bind: Bind,
    pub(super) tap: Option<Tap>,
    pub(super) secrets: Redactor,
    pub(super) inputs: Arc<dyn Inputs + Send + Sync>,
    /// What the person's own file says about bounds.
    pub(super) said: LimitsSection,
    /// Why no server at a URL is reached.
    pub(super) no_network: Option<Box<Problem>>,
    /// Addresses that the person allows besides.
    pub(super) addresses: Vec<AddressRange>,
    #[cfg(feature = "http")]
    pub(super) proxy: Option<Proxy>,
    #[cfg(feature = "http")]
    pub(super) certificates: Option<Vec<u8>>,
}

/// What a program decides about the use of servers by agents.
pub(super) struct AccessOptions {
    pub(super) policy: Policy,
    pub(super) approve: Arc<dyn Approve>,
    pub(super) approvals: Approvals,
    pub(super) pins: Pins,
    pub(super) pin_mode: Mode,
    pub(super) review: Arc<dyn Review>,
}

impl Default for AccessOptions {
    /// Agents may do nothing, and nothing is asked.
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            approve: Arc::new(Unattended),
            approvals: Approvals::in_memory(),
            pins: Pins::in_memory(),
            pin_mode: Mode::default(),
            review: Arc::new(access::Nobody),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            environment: Arc::default(),
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
            log_level: None,
            name_style: NameStyle::default(),
            keeper: None,
            ledger: None,
            eras: Eras::in_memory(),
            store: Store::in_memory(),
            vouch: Arc::new(Nobody),
            bind: Bind::default(),
            tap: None,
            secrets: Redactor::new(),
            inputs: Arc::new(NoInputs),
            said: LimitsSection::default(),
            no_network: None,
            addresses: Vec::new(),
            #[cfg(feature = "http")]
            proxy: None,
            #[cfg(feature = "http")]
            certificates: None,
        }
    }
}
