//! Origins: comparing places, and keeping redirects within one.

use std::fmt;
use std::net::IpAddr;

use url::{Host, Url};

use super::{Class, Forbidden, Reach};

/// Maximum number of redirects of one request.
pub(crate) const MAX_REDIRECTS: usize = 5;
/// Maximum length of a reference that a server names.
const REFERENCE_BYTES: usize = 8 * 1024;

/// Host names of cloud metadata services; subdomains count too.
const METADATA: &[&str] = &[
    "instance-data",
    "instance-data.ec2.internal",
    "metadata",
    "metadata.aws.internal",
    "metadata.azure.internal",
    "metadata.goog",
    "metadata.google.internal",
    "metadata.oraclecloud.com",
    "metadata.packet.net",
    "metadata.platformequinix.com",
    "metadata.tencentyun.com",
    "rancher-metadata",
];

/// A scheme, a host and a port. Headers and tokens are bound to an origin.
///
/// Different spellings of one origin are equal: letter case, an explicit default port, a trailing
/// dot, and the many forms of an IP address make no difference.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    is_tls: bool,
    host: Host<String>,
    port: u16,
}

impl Origin {
    /// Takes the origin of a URL that requests can be sent to.
    ///
    /// # Errors
    /// Fails when it is neither http nor https, has no host, or holds a user name or a password.
    pub fn of(url: &Url) -> Result<Self, Forbidden> {
        let is_tls = match url.scheme() {
            "https" => true,
            "http" => false,
            scheme => {
                let scheme = scheme.to_owned();
                return Err(Forbidden::Scheme { scheme });
            }
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Forbidden::Userinfo);
        }
        let host = match url.host().ok_or(Forbidden::NoHost)? {
            Host::Domain(name) => {
                let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
                if name.is_empty() {
                    return Err(Forbidden::NoHost);
                }
                Host::Domain(name)
            }
            Host::Ipv4(address) => Host::Ipv4(address),
            Host::Ipv6(address) => Host::Ipv6(address),
        };
        let port = url.port_or_known_default().ok_or(Forbidden::NoHost)?;
        Ok(Self { is_tls, host, port })
    }

    /// Returns true if requests to it are encrypted.
    pub fn is_tls(&self) -> bool {
        self.is_tls
    }

    /// The host as it is shown and resolved.
    pub fn host(&self) -> String {
        self.host.to_string()
    }

    /// The IP address, if the host is one.
    pub fn address(&self) -> Option<IpAddr> {
        match self.host {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
        }
    }

    /// Returns true if the name or address is that of this machine.
    pub fn is_loopback(&self) -> bool {
        match &self.host {
            Host::Domain(name) => is_loopback_name(name),
            _ => self
                .address()
                .is_some_and(|address| Class::of(address) == Class::Loopback),
        }
    }

    /// The party to hold responsible for `url`, when a server at this origin (which the person
    /// named) names it.
    pub fn reach(&self, url: &Url) -> Reach {
        match Self::of(url) {
            Ok(origin) if origin == *self => Reach::Person,
            _ if self.is_loopback() => Reach::LocalServer,
            _ => Reach::Server,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, usual) = if self.is_tls {
            ("https", 443)
        } else {
            ("http", 80)
        };
        write!(f, "{scheme}://{}", self.host)?;
        if self.port == usual {
            return Ok(());
        }
        write!(f, ":{}", self.port)
    }
}

/// Returns true if a name stands for this machine (RFC 6761).
pub(crate) fn is_loopback_name(name: &str) -> bool {
    ends_with_name(name, "localhost")
}

/// Returns true if a name belongs to a cloud's metadata service.
pub(crate) fn is_metadata_name(name: &str) -> bool {
    METADATA.iter().any(|known| {
        if known.contains('.') {
            ends_with_name(name, known)
        } else {
            // A short name is completed by the machine's search list, so it is only compared whole.
            name.trim_end_matches('.').eq_ignore_ascii_case(known)
        }
    })
}

/// Returns true if `name` is `end` or a subdomain of it.
fn ends_with_name(name: &str, end: &str) -> bool {
    let name = name.trim_end_matches('.');
    let Some(at) = name.len().checked_sub(end.len()) else {
        return false;
    };
    let is_end = name
        .get(at..)
        .is_some_and(|last| last.eq_ignore_ascii_case(end));
    let before = name.get(..at).unwrap_or_default();
    is_end && (before.is_empty() || before.ends_with('.'))
}

/// The reason that a place named by a server is not visited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Elsewhere {
    /// It is another origin.
    #[error("the server leads from {from} to {to}, another origin")]
    OtherOrigin {
        /// The current origin.
        from: Box<Origin>,
        /// The origin of the target.
        to: Box<Origin>,
    },
    /// The reference is not a URL.
    #[error("the server names a place that is not a URL")]
    NotUrl,
    /// It is too long.
    #[error("the server names a place in {bytes} bytes, more than {max_bytes}")]
    TooLong {
        /// The length.
        bytes: usize,
        /// The maximum.
        max_bytes: usize,
    },
    /// Requests cannot be sent there at all.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// The redirect would change the request, or lose its body.
    #[error("the server answers with status {status}; only 307 and 308 keep a request as it is")]
    Changes {
        /// The status.
        status: u16,
    },
    /// One redirect led to another too often.
    #[error("more than {max} redirects")]
    TooMany {
        /// The maximum.
        max: usize,
    },
}

/// Resolves a reference that a server named, which must stay within the origin of `from`.
///
/// # Errors
/// Fails when it leads to another origin or cannot be used for requests.
pub(crate) fn same_origin(from: &Url, reference: &str) -> Result<Url, Elsewhere> {
    if reference.len() > REFERENCE_BYTES {
        return Err(Elsewhere::TooLong {
            bytes: reference.len(),
            max_bytes: REFERENCE_BYTES,
        });
    }
    // Resolve relative references first, then compare origins.
    let mut to = from.join(reference).map_err(|_| Elsewhere::NotUrl)?;
    let (here, there) = (Origin::of(from)?, Origin::of(&to)?);
    if here != there {
        return Err(Elsewhere::OtherOrigin {
            from: Box::new(here),
            to: Box::new(there),
        });
    }
    to.set_fragment(None);
    Ok(to)
}

/// Decides about a redirect after `hops` others: returns the URL to send the same request to.
///
/// # Errors
/// Fails when it leaves the origin, changes the request or is one too many.
pub(crate) fn redirect(
    from: &Url,
    status: u16,
    location: &str,
    hops: usize,
) -> Result<Url, Elsewhere> {
    if !matches!(status, 307 | 308) {
        return Err(Elsewhere::Changes { status });
    }
    if hops >= MAX_REDIRECTS {
        return Err(Elsewhere::TooMany { max: MAX_REDIRECTS });
    }
    same_origin(from, location)
}

#[cfg(test)]
#[path = "origin_tests.rs"]
mod tests;
