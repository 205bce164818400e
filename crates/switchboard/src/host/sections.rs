//! Limits and network settings of the person's own config file, used unless the program sets its
//! own.

#[cfg(test)]
mod tests;

use super::{Options, Own};
use crate::config::{Config, Entry, LimitsSection, NetworkSection, Problem, ProblemKind};
use crate::limits::{Budget, Deadline, Timeouts};

/// Applies the limits section of a file to the options.
pub(super) fn bounds(said: LimitsSection, own: &Own, options: &mut Options) {
    if !own.limits {
        said.apply(&mut options.limits);
    }
    if let (false, Some(age)) = (own.host_limits, said.list_age) {
        options.host_limits.list_age = age;
    }
    if let (false, Some(bytes)) = (own.budget, said.total_held_bytes) {
        options.budget = Budget::of(bytes);
    }
    options.said = said;
}

/// Applies the network section of a file to the options.
pub(super) fn network(said: NetworkSection, own: &Own, options: &mut Options) {
    options.no_network = said.unclear.map(Box::new);
    if !own.addresses {
        options.addresses = said.allowed_addresses;
    }
    #[cfg(feature = "http")]
    {
        use crate::config::ProxySection;
        use crate::transport::Proxy;
        if options.proxy.is_none() {
            options.proxy = said.proxy.map(|proxy| match proxy {
                ProxySection::None => Proxy::None,
                ProxySection::Environment => Proxy::of_environment(&options.environment),
                ProxySection::Url(url) => Proxy::to(url, &said.no_proxy),
            });
        }
        // Without the certificates fewer servers are trusted, never more. The problem is reported
        // with the others.
        if options.certificates.is_none() {
            options.certificates = said.ca_file.and_then(|file| file.read().ok());
        }
    }
}

/// Lists the problems with files that the person's own file names, and with entries that need a
/// model when it describes none.
pub(super) fn problems(config: &Config) -> Vec<Problem> {
    let read = config.network().ca_file.as_ref().map(|file| file.read());
    let read = read.and_then(Result::err);
    let asking = config.entries().iter().filter(|entry| {
        let has_models = !config.providers().providers.is_empty();
        entry.settings().sampling && !has_models
    });
    let asking = asking.map(|entry| {
        entry.warning(
            ProblemKind::Suspicious,
            "the server may use sampling, but no provider is configured",
            "describe one under `providers` in your own config file",
        )
    });
    read.into_iter().chain(asking).collect()
}

/// Returns true if the entry, or the person's own file for all servers, sets a connect timeout.
pub(super) fn says_connect(entry: &Entry, said: &LimitsSection) -> bool {
    let is_said = said.connect.is_some() || said.idle.is_some();
    is_said || entry.has("timeout") || entry.has("connect_timeout")
}

/// Returns the timeouts for a server: those of its entry, or else those that the person's own file
/// sets for all servers.
pub(super) fn timeouts(entry: &Entry, own: &Timeouts, said: &LimitsSection) -> Timeouts {
    let usual = said.timeouts();
    let one = |field: &str, own: Deadline, usual: Deadline| {
        if entry.has("timeout") || entry.has(field) {
            said.deadline(own.idle)
        } else {
            usual
        }
    };
    Timeouts {
        connect: one("connect_timeout", own.connect, usual.connect),
        discovery: one("discovery_timeout", own.discovery, usual.discovery),
        execution: one("execution_timeout", own.execution, usual.execution),
    }
}
