//! Resolves host names, and filters out addresses that must not be connected to.
//!
//! The check is made on the very addresses that are then connected to, so no second lookup can give
//! a different answer in between. A URL with an address in place of a name is never resolved, so
//! [`check_url`] must be called for every URL before it is used.

use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use switchboard_core::spec::AddressRange;
use url::Url;

use super::guard::{
    Class, Forbidden, Origin, PublicNames, Reach, is_loopback_name, is_metadata_name,
    permit_address,
};

/// Maximum number of addresses of one name.
const ADDRESSES: usize = 64;

/// A name being resolved.
pub(crate) type Looking = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// Resolves names.
pub(crate) trait Lookup: Send + Sync {
    /// Returns the addresses of a name, the preferred ones first.
    fn lookup(&self, host: &str) -> Looking;
}

/// Resolves names with the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, host: &str) -> Looking {
        let host = host.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// The reason that a name was not connected to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DialError {
    /// None of its addresses may be connected to.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// It has no address.
    #[error("{host} has no address")]
    NoAddress {
        /// The name.
        host: String,
    },
    /// It could not be looked up.
    #[error("could not look up {host}")]
    Lookup {
        /// The name.
        host: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

impl DialError {
    /// Finds this error among the causes of another one, such as a client's.
    pub fn within<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        find(error)
    }
}

/// Finds a cause of one type. `source` skips the error inside an I/O error, so that is unwrapped
/// here.
pub(crate) fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        let carried = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        next = match carried {
            Some(carried) => Some(carried),
            None => error.source(),
        };
    }
    None
}

/// The resolver of an HTTP client, with the rules for the party that named the URL.
#[derive(Clone)]
pub(crate) struct Dial {
    lookup: Arc<dyn Lookup>,
    reach: Reach,
    seen: Arc<PublicNames>,
    allowed: Arc<[AddressRange]>,
}

impl Dial {
    /// Creates a resolver that asks the operating system and shares the memory of this process.
    pub(crate) fn new(reach: Reach) -> Self {
        Self::with(Arc::new(SystemLookup), reach, PublicNames::of_process())
    }

    /// Creates a resolver with the given lookup and memory.
    pub(crate) fn with(lookup: Arc<dyn Lookup>, reach: Reach, seen: Arc<PublicNames>) -> Self {
        Self {
            lookup,
            reach,
            seen,
            allowed: Arc::default(),
        }
    }

    /// Permits addresses that the person allowed.
    pub(crate) fn allowing(mut self, allowed: &Arc<[AddressRange]>) -> Self {
        self.allowed = Arc::clone(allowed);
        self
    }

    /// Resolves a name to addresses that may be connected to.
    ///
    /// # Errors
    /// Fails when there is none, with the reason for the first forbidden address.
    pub(crate) async fn addresses(&self, host: &str) -> Result<Vec<IpAddr>, DialError> {
        let found = self.lookup.lookup(host).await;
        let found = found.map_err(|source| DialError::Lookup {
            host: host.to_owned(),
            source,
        })?;
        let admitted = self.admit(host, &found)?;
        if admitted.is_empty() {
            let host = host.to_owned();
            return Err(DialError::NoAddress { host });
        }
        Ok(admitted)
    }

    /// Filters the addresses of a name.
    fn admit(&self, host: &str, found: &[IpAddr]) -> Result<Vec<IpAddr>, Forbidden> {
        let (reach, seen) = (self.reach, &self.seen);
        let named = || host.to_owned();
        // Forbidden names first, whatever they resolve to.
        if is_metadata_name(host) {
            return Err(Forbidden::MetadataName { host: named() });
        }
        let is_local = is_loopback_name(host);
        let found = || found.iter().take(ADDRESSES).copied();
        let mut is_public = found().map(|address| Class::of(address) == Class::Global);
        // Also when a public address comes with a private one, because the client would try both.
        // Names from servers must be public anyway, and would only fill the memory.
        if reach == Reach::Person && !is_local && is_public.any(|is_public| is_public) {
            seen.note_public(host);
        }
        // After noting this lookup: an answer with public and private addresses keeps the public
        // ones only.
        let was_public = seen.was_public(host);
        let judge = |address: IpAddr| {
            let (host, class) = (named(), Class::of(address));
            if is_local && class != Class::Loopback {
                return Err(Forbidden::NotLocal { host, address });
            }
            if !permit_address(reach, address, &self.allowed) {
                return Err(Forbidden::Address {
                    host,
                    address,
                    class,
                });
            }
            if was_public && class != Class::Global {
                return Err(Forbidden::Flipped {
                    host,
                    address,
                    class,
                });
            }
            Ok(address)
        };
        let (mut admitted, mut refused) = (Vec::new(), None);
        for address in found() {
            match judge(address) {
                Ok(address) => admitted.push(address),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        match refused {
            Some(error) if admitted.is_empty() => Err(error),
            _ => Ok(admitted),
        }
    }
}

impl Resolve for Dial {
    fn resolve(&self, name: Name) -> Resolving {
        let dial = self.clone();
        Box::pin(async move {
            let found = dial.addresses(name.as_str()).await?;
            // The client fills in the port.
            let found = found.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(found) as Addrs)
        })
    }
}

/// Checks a URL as far as possible without resolving its name, and returns its origin.
///
/// # Errors
/// Fails when the URL must not be used.
pub fn check_url(url: &Url, reach: Reach) -> Result<Origin, Forbidden> {
    check_url_allowing(url, reach, &[])
}

/// Checks a URL, permitting addresses that the person allowed.
pub(crate) fn check_url_allowing(
    url: &Url,
    reach: Reach,
    allowed: &[AddressRange],
) -> Result<Origin, Forbidden> {
    let origin = Origin::of(url)?;
    let host = origin.host();
    if is_metadata_name(&host) {
        return Err(Forbidden::MetadataName { host });
    }
    if let Some(address) = origin.address() {
        let class = Class::of(address);
        if !permit_address(reach, address, allowed) {
            return Err(Forbidden::Address {
                host,
                address,
                class,
            });
        }
    }
    let may_be_plain = match reach {
        Reach::Person => true,
        Reach::Server => false,
        // `localhost` is held to loopback addresses when it is resolved.
        Reach::LocalServer => origin.is_loopback(),
    };
    if !origin.is_tls() && !may_be_plain {
        return Err(Forbidden::Insecure { host });
    }
    Ok(origin)
}

#[cfg(test)]
#[path = "dial_tests.rs"]
mod tests;
