//! The gateway: the host, its options, and what all clients share.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use switchboard::Host;

use crate::drain::Drain;
use crate::error::GatewayError;
use crate::offer::Offers;
use crate::options::{GatewayOptions, Profile};
use crate::seal::Seal;

/// The servers of a host, offered as one server.
///
/// Clones share everything. The host stays the program's: shutting it down is not the gateway's affair.
#[derive(Clone)]
pub struct Gateway(pub(crate) Arc<Shared>);

/// What all clients share.
pub(crate) struct Shared {
    pub(crate) host: Host,
    pub(crate) options: GatewayOptions,
    pub(crate) offers: Offers,
    pub(crate) seal: Seal,
    pub(crate) drain: Drain,
    /// Notifications that clients on byte streams were too slow for.
    pub(crate) dropped: Arc<AtomicU64>,
    first_list: Mutex<Option<Instant>>,
    /// The last time that a list which did not wait connected to servers.
    connected: Mutex<Option<Instant>>,
}

impl Shared {
    /// The time at which a client first listed something, of the servers that there are now.
    pub(crate) fn first_list(&self) -> Instant {
        let mut first = (self.first_list.lock()).unwrap_or_else(PoisonError::into_inner);
        *first.get_or_insert_with(Instant::now)
    }

    /// Returns true if a list that does not wait may connect to servers. Not every list does: a server that
    /// hangs would hold a task for each.
    pub(crate) fn may_connect(&self) -> bool {
        let mut connected = (self.connected.lock()).unwrap_or_else(PoisonError::into_inner);
        let is_due = connected.is_none_or(|last| last.elapsed() >= self.options.limits.recheck);
        if is_due {
            *connected = Some(Instant::now());
        }
        is_due
    }
}

impl Gateway {
    /// Makes a gateway in front of a host. Nothing is started or served yet.
    ///
    /// # Errors
    /// Fails if the options cannot be used.
    pub fn new(host: Host, options: GatewayOptions) -> Result<Self, GatewayError> {
        let offers = Offers::new(&host, &options)?;
        let seal = Seal::new(options.limits.sealed_bytes)?;
        Ok(Self(Arc::new(Shared {
            host,
            options,
            offers,
            seal,
            drain: Drain::default(),
            dropped: Arc::default(),
            first_list: Mutex::default(),
            connected: Mutex::default(),
        })))
    }

    /// Takes other profiles, because config files have changed: call it before
    /// [`Host::reconcile`]. What is not known then is waited for as at the first list.
    ///
    /// # Errors
    /// Fails if a profile cannot be used; then those of before stay.
    pub fn reload(&self, profiles: &BTreeMap<String, Profile>) -> Result<(), GatewayError> {
        // First: servers that start anew are waited for, whatever the profiles are.
        *(self.0.first_list.lock()).unwrap_or_else(PoisonError::into_inner) = None;
        self.0.offers.set_profiles(profiles)?;
        self.0.host.mark_changed();
        Ok(())
    }

    /// The names of the profiles as they are now.
    pub fn profiles(&self) -> Vec<String> {
        self.0.offers.profile_names()
    }

    /// The host whose servers are offered.
    pub fn host(&self) -> &Host {
        &self.0.host
    }

    /// The number of notifications, such as progress, that clients on byte streams were too slow for.
    pub fn dropped_notifications(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// The options that it was made with.
    pub fn options(&self) -> &GatewayOptions {
        &self.0.options
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway")
            .field("name", &self.0.options.name)
            .field("host", &self.0.host)
            .finish_non_exhaustive()
    }
}
