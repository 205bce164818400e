//! What the person's own file says of all servers: limits, the network, pins and approvals.

use std::sync::Arc;

use super::Host;
use crate::config::{Config, LimitsSection, NetworkSection, ProxySection};
use crate::host::member::{Member, Source};
use crate::host::{Options, Own, agents, sections};
use crate::pins::Mode;
use crate::spec::AddressRange;
use crate::trust::Bind;

/// The sections of the person's own file about all servers.
#[derive(Default)]
pub(in crate::host) struct FileSections {
    limits: LimitsSection,
    network: NetworkSection,
    /// The facts that approvals are bound to.
    bind: Option<Bind>,
}

impl FileSections {
    pub(in crate::host) fn of(config: &Config) -> Self {
        Self {
            limits: config.limits().clone(),
            network: config.network().clone(),
            bind: agents::approval_bind(config).0,
        }
    }
}

/// The settings of the program, and what files make of them.
pub(in crate::host) struct FileSettings {
    /// As the program makes them, without files.
    base: Options,
    own: Own,
    current: Options,
    /// What connections were made with.
    network: NetworkKey,
}

/// Everything about the network that connections depend on.
#[derive(Default, PartialEq)]
struct NetworkKey {
    is_unclear: bool,
    addresses: Vec<AddressRange>,
    /// `None` without a section; the URL is empty where the environment has it.
    proxy: Option<(bool, String)>,
    no_proxy: Vec<String>,
    #[cfg(feature = "http")]
    certificates: Option<Vec<u8>>,
}

/// The servers that have to start anew because of what the files say of all servers.
#[derive(Clone, Copy, Default)]
pub(super) struct Affected {
    all: bool,
    /// Those at URLs.
    remote: bool,
    /// Those that need an approval.
    approved: bool,
}

impl Affected {
    fn any(self) -> bool {
        self.all || self.remote || self.approved
    }

    pub(super) fn restarts(self, member: &Member) -> bool {
        let Source::Entry(entry) = &member.source else {
            return false;
        };
        // One that was not admitted yet finds the new settings.
        member.ready().is_some()
            && (self.all
                || (self.remote && entry.url().is_some())
                || (self.approved && entry.origin().layer.needs_approval()))
    }
}

impl FileSettings {
    pub(in crate::host) fn new(base: Options, own: Own, sections: FileSections) -> Self {
        let network = NetworkKey::default();
        let current = base.clone();
        let mut this = Self {
            base,
            own,
            current,
            network,
        };
        this.apply(sections);
        this
    }

    pub(in crate::host) fn own(&self) -> &Own {
        &self.own
    }

    pub(in crate::host) fn options(&self) -> Options {
        self.current.clone()
    }

    /// Makes the options that those sections lead to.
    fn apply(&mut self, said: FileSections) -> Affected {
        // From the program's settings and not the current ones: a section that is gone takes back what it said.
        let mut options = self.base.clone();
        if let (false, Some(bind)) = (self.own.bind, said.bind) {
            options.bind = bind;
        }
        let network = &said.network;
        let proxy = network.proxy.as_ref().map(|proxy| match proxy {
            ProxySection::None => (false, String::new()),
            ProxySection::Environment => (true, String::new()),
            ProxySection::Url(url) => (true, url.expose().clone()),
        });
        let no_proxy = network.no_proxy.clone();
        sections::bounds(said.limits, &self.own, &mut options);
        sections::network(said.network, &self.own, &mut options);
        let before = &self.current;
        if options.budget.limit_bytes() == before.budget.limit_bytes() {
            // The same account: what connections hold is counted there.
            options.budget = before.budget.clone();
        }
        let network = NetworkKey {
            is_unclear: options.no_network.is_some(),
            addresses: options.addresses.clone(),
            proxy,
            no_proxy,
            #[cfg(feature = "http")]
            certificates: options.certificates.clone(),
        };
        let affected = Affected {
            all: options.limits != before.limits
                || options.said != before.said
                || options.budget.limit_bytes() != before.budget.limit_bytes(),
            remote: network != self.network,
            approved: options.bind != before.bind,
        };
        (self.network, self.current) = (network, options);
        affected
    }
}

impl Host {
    /// Takes what the files say of all servers, and returns the servers that it affects.
    pub(super) fn take_settings(&self, config: &Config) -> Affected {
        let host = &self.0;
        let (affected, options, has_pins) = {
            let mut settings = host.files.settings();
            let affected = settings.apply(FileSections::of(config));
            (affected, settings.options(), settings.own().pins)
        };
        if !has_pins {
            // Only where it differs: prepared calls would be looked up again for nothing.
            let mode: Mode = agents::pin_mode(config).0.unwrap_or_default();
            if mode != host.access.pin_mode() {
                host.access.set_pin_mode(mode);
                // Prepared calls know what the old mode has cleared.
                let members = host.registry.members();
                members.iter().for_each(|member| member.mark_changed());
            }
        }
        // A server that is being admitted begins again where the options have changed.
        let before = host.registry.options();
        let others = |options: &Options| (options.host_limits.clone(), options.no_network.clone());
        if affected.any() || others(&options) != others(&before) {
            host.keeper.set_options(&options);
            host.registry.set_options(Arc::new(options));
        }
        affected
    }
}
