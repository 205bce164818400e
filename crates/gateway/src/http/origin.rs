//! The hosts and origins that are served.
//!
//! A web page can make a browser send requests to loopback, under a name that the page's owner points
//! there (DNS rebinding). The browser says that name in `Host`, and the page's origin in `Origin`: requests
//! are served for names that we know, and for addresses, which cannot be pointed elsewhere.

use std::net::IpAddr;

use hyper::header::{HOST, HeaderValue, ORIGIN};
use hyper::{HeaderMap, Uri};

use super::auth::Peer;
use super::options::{HttpAuth, HttpOptions};
use crate::error::GatewayError;

/// The hosts and origins that are served.
#[derive(Debug)]
pub(super) struct AllowList {
    hosts: Vec<AllowedHost>,
    /// Origins, in lower case.
    origins: Vec<String>,
    /// Pages on loopback may use the gateway from any port: they need the token anyway.
    any_local_origin: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct AllowedHost {
    name: String,
    /// Any port if `None`.
    port: Option<u16>,
}

/// The reason that a request is not served to the one who sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OriginRefusal {
    /// `Host` is missing, repeated, or not a host.
    BadHost,
    /// `Host` names a host that is not ours.
    ForeignHost,
    /// `Origin` names a page that may not use the gateway.
    ForeignOrigin,
}

impl AllowList {
    pub(super) fn new(options: &HttpOptions) -> Result<Self, GatewayError> {
        let bad = |option, why: String| GatewayError::Option { option, why };
        let mut hosts = Vec::new();
        for text in &options.allow_hosts {
            let (name, port) = split_host(text)
                .ok_or_else(|| bad("allow-host", format!("{text:?} is not a host")))?;
            let name = name.to_ascii_lowercase();
            hosts.push(AllowedHost { name, port });
        }
        let mut origins = Vec::new();
        for text in &options.allow_origins {
            let origin = parse_origin(text.trim_end_matches('/'))
                .ok_or_else(|| bad("allow-origin", format!("{text:?} is not an origin")))?;
            origins.push(origin);
        }
        if let Some(url) = &options.public_url {
            let uri: Uri = url
                .parse()
                .map_err(|_| bad("public-url", format!("{url:?} is not a URL")))?;
            let authority = uri.authority().map(|authority| authority.as_str());
            let scheme = uri.scheme_str().filter(|s| matches!(*s, "http" | "https"));
            let (Some(authority), Some(scheme)) = (authority, scheme) else {
                return Err(bad("public-url", format!("{url:?} is not an http URL")));
            };
            let (name, port) = split_host(authority)
                .ok_or_else(|| bad("public-url", format!("{url:?} has no usable host")))?;
            let name = name.to_ascii_lowercase();
            hosts.push(AllowedHost { name, port });
            origins.push(format!("{scheme}://{authority}").to_ascii_lowercase());
        }
        Ok(Self {
            hosts,
            origins,
            any_local_origin: !matches!(options.auth, HttpAuth::None),
        })
    }

    /// Checks a request, before anything else is looked at. Returns its origin if a page sent it.
    pub(super) fn check<'h>(
        &self,
        headers: &'h HeaderMap,
        uri: &Uri,
        peer: Option<Peer>,
    ) -> Result<Option<&'h HeaderValue>, OriginRefusal> {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(OriginRefusal::BadHost);
        };
        let host = host.to_str().map_err(|_| OriginRefusal::BadHost)?;
        if !self.is_our_host(host, peer)? {
            return Err(OriginRefusal::ForeignHost);
        }
        // A request line with a whole URL names a host too, and must not name another.
        if let Some(authority) = uri.authority()
            && !self.is_our_host(authority.as_str(), peer)?
        {
            return Err(OriginRefusal::ForeignHost);
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        // 2025-11-25, transports: a foreign `Origin` is refused; other programs send none.
        match (origins.next(), origins.next()) {
            (None, _) => Ok(None),
            (Some(origin), None) if self.is_our_origin(origin, host, peer) => Ok(Some(origin)),
            _ => Err(OriginRefusal::ForeignOrigin),
        }
    }

    fn is_our_host(&self, text: &str, peer: Option<Peer>) -> Result<bool, OriginRefusal> {
        let (name, port) = split_host(text).ok_or(OriginRefusal::BadHost)?;
        // The address that the client connected to is ours; loopback names are, for a client on loopback.
        let (local, is_near) = match peer {
            Some(Peer::Tcp { remote, local }) => (Some(local.ip()), remote.ip().is_loopback()),
            Some(Peer::SameUser) | None => (None, true),
        };
        if is_near && is_loopback_name(name) {
            return Ok(true);
        }
        if local.is_some_and(|local| parse_address(name) == Some(local.to_canonical())) {
            return Ok(true);
        }
        Ok(self.hosts.iter().any(|allowed| {
            let is_port = allowed.port.is_none_or(|allowed| Some(allowed) == port);
            is_port && allowed.name.eq_ignore_ascii_case(name)
        }))
    }

    /// Returns true for a listed origin, the page's own host, and, with a token, all pages on loopback.
    fn is_our_origin(&self, origin: &HeaderValue, host: &str, peer: Option<Peer>) -> bool {
        let Some((scheme, authority)) = origin.to_str().ok().and_then(split_origin) else {
            return false;
        };
        let matches_listed = |listed: &String| {
            let rest = listed
                .strip_prefix(scheme)
                .and_then(|l| l.strip_prefix("://"));
            rest.is_some_and(|rest| rest.eq_ignore_ascii_case(authority))
        };
        if authority.eq_ignore_ascii_case(host) || self.origins.iter().any(matches_listed) {
            return true;
        }
        let is_local = split_host(authority).is_some_and(|(name, _)| is_loopback_name(name));
        is_local && self.any_local_origin && self.is_our_host(authority, peer) == Ok(true)
    }
}

/// Splits `name`, `name:port` or `[address]:port`. Anything else that a URL can have there is refused.
fn split_host(text: &str) -> Option<(&str, Option<u16>)> {
    let (name, port) = if text.starts_with('[') {
        let end = text.find(']')? + 1;
        let (name, rest) = text.split_at_checked(end)?;
        match rest.strip_prefix(':') {
            Some(port) => (name, Some(port)),
            None if rest.is_empty() => (name, None),
            None => return None,
        }
    } else {
        match text.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        }
    };
    let port = match port {
        None => None,
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(port.parse().ok()?),
        Some(_) => return None,
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte);
    (!name.is_empty() && name.bytes().all(is_name)).then_some((name, port))
}

fn split_origin(text: &str) -> Option<(&str, &str)> {
    let (scheme, authority) = text.split_once("://")?;
    split_host(authority)?;
    matches!(scheme, "http" | "https").then_some((scheme, authority))
}

fn parse_origin(text: &str) -> Option<String> {
    split_origin(text)?;
    Some(text.to_ascii_lowercase())
}

fn parse_address(name: &str) -> Option<IpAddr> {
    let bare = name
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let address: IpAddr = bare.unwrap_or(name).parse().ok()?;
    Some(address.to_canonical())
}

/// Returns true for the names of this machine that no name server answers for.
fn is_loopback_name(name: &str) -> bool {
    // Fast path: nearly all clients write it in this way.
    name == "127.0.0.1"
        || name.eq_ignore_ascii_case("localhost")
        || parse_address(name).is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
#[path = "origin_tests.rs"]
mod tests;
