//! The memory of an issuer: clients, codes, tokens and their families.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::encoding::random;
use super::journal::{IssuerCounts, IssuerEvent};
use super::options::{ClientAuth, IssuerOptions};

/// A client, however it became known.
#[derive(Debug, Clone)]
pub(super) struct Client {
    pub(super) id: String,
    pub(super) secret: Option<String>,
    pub(super) auth: ClientAuth,
    pub(super) key: Option<Value>,
    pub(super) redirects: Vec<String>,
    pub(super) grants: Vec<String>,
}

impl Client {
    pub(super) fn may(&self, grant: &str) -> bool {
        self.grants.iter().any(|one| one == grant)
    }

    /// Tells whether a redirect address is one of the client's: exactly, but for the port of a loopback
    /// address (RFC 8252, 7.3).
    pub(super) fn has_redirect(&self, uri: &str) -> bool {
        let wanted = without_loopback_port(uri);
        let mut known = self.redirects.iter();
        known.any(|one| one == uri || without_loopback_port(one) == wanted && wanted.is_some())
    }
}

/// Returns a loopback address with its port cut out.
pub(super) fn without_loopback_port(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("http://")?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    for host in ["127.0.0.1", "[::1]", "localhost"] {
        let Some(port) = authority.strip_prefix(host) else {
            continue;
        };
        let digits = port.strip_prefix(':').unwrap_or_default();
        let is_port = port.is_empty() || digits.parse::<u16>().is_ok();
        return is_port.then(|| format!("{host}{path}"));
    }
    None
}

/// The rights that a person or the issuer granted to a client.
#[derive(Debug, Clone)]
pub(super) struct Grant {
    pub(super) client: String,
    pub(super) scopes: BTreeSet<String>,
    pub(super) resource: Option<String>,
    /// Identifies all tokens of one login.
    pub(super) family: u64,
    /// The thumbprint of the key that the tokens are bound to.
    pub(super) key: Option<String>,
    /// There are refresh tokens.
    pub(super) refreshes: bool,
}

#[derive(Debug)]
pub(super) struct Code {
    pub(super) grant: Grant,
    pub(super) challenge: String,
    pub(super) redirect: String,
    pub(super) expires: Instant,
    pub(super) used: bool,
}

#[derive(Debug)]
pub(super) struct Access {
    pub(super) grant: Grant,
    pub(super) expires: Instant,
}

#[derive(Debug)]
pub(super) struct Refresh {
    pub(super) grant: Grant,
    /// It was exchanged for another one. It is kept, so that its second use is noticed.
    pub(super) used: bool,
}

#[derive(Debug)]
pub(super) struct Device {
    pub(super) grant: Grant,
    pub(super) user_code: String,
    pub(super) expires: Instant,
    pub(super) polls: u64,
    pub(super) last_poll: Option<Instant>,
    pub(super) interval: Duration,
    pub(super) approved: Option<bool>,
}

/// An authorization request that waits for the person at the page.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    pub(super) grant: Grant,
    pub(super) challenge: String,
    pub(super) redirect: String,
    pub(super) state: String,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) clients: BTreeMap<String, Client>,
    pub(super) codes: HashMap<String, Code>,
    pub(super) access: HashMap<String, Access>,
    pub(super) refresh: HashMap<String, Refresh>,
    pub(super) devices: HashMap<String, Device>,
    pub(super) pending: HashMap<String, Pending>,
    pub(super) revoked: HashSet<u64>,
    /// The ids of assertions and proofs, which may not be used again.
    pub(super) seen_ids: HashSet<String>,
    /// The nonce that proofs need, and the previous one.
    pub(super) nonces: [String; 2],
    pub(super) nonce_uses: u64,
    /// The current number of `scope-ladder`.
    pub(super) ladder: u64,
    pub(super) counts: IssuerCounts,
    pub(super) events: Vec<IssuerEvent>,
    families: u64,
    offset: Duration,
}

/// Number of proofs that a nonce is valid for.
const NONCE_USES: u64 = 5;

impl State {
    pub(super) fn new(options: &IssuerOptions) -> Self {
        let mut state = Self {
            nonces: [random("nonce-"), random("nonce-")],
            ..Self::default()
        };
        state.add_known(options);
        state
    }

    /// Adds the clients that were known before the start.
    pub(super) fn add_known(&mut self, options: &IssuerOptions) {
        let grants = [
            "authorization_code",
            "refresh_token",
            "client_credentials",
            super::device::GRANT,
        ];
        for known in &options.clients {
            let client = Client {
                id: known.id.clone(),
                secret: known.secret.clone(),
                auth: known.auth,
                key: known.key.clone(),
                redirects: options.redirects.clone(),
                grants: grants.map(str::to_owned).to_vec(),
            };
            self.clients.insert(client.id.clone(), client);
        }
    }

    /// Returns the time, which a test can move.
    pub(super) fn now(&self) -> Instant {
        Instant::now() + self.offset
    }

    pub(super) fn advance(&mut self, time: Duration) {
        self.offset += time;
    }

    pub(super) fn new_family(&mut self) -> u64 {
        self.families += 1;
        self.families
    }

    /// Ends every token of a family.
    pub(super) fn revoke_family(&mut self, family: u64) {
        if self.revoked.insert(family) {
            self.counts.revoked_families += 1;
        }
        self.access
            .retain(|_, access| access.grant.family != family);
    }

    /// Checks and uses up a nonce; the right one is replaced after some uses.
    pub(super) fn take_nonce(&mut self, nonce: Option<&str>) -> bool {
        let is_known = nonce.is_some_and(|nonce| self.nonces.iter().any(|known| known == nonce));
        if is_known {
            self.nonce_uses += 1;
        }
        if self.nonce_uses >= NONCE_USES {
            self.nonce_uses = 0;
            let [current, _] = &self.nonces;
            self.nonces = [random("nonce-"), current.clone()];
        }
        is_known
    }

    pub(super) fn nonce(&self) -> &str {
        let [current, _] = &self.nonces;
        current
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_port_of_a_loopback_address_is_free() {
        let client = Client {
            id: "app".to_owned(),
            secret: None,
            auth: ClientAuth::None,
            key: None,
            redirects: vec![
                "http://127.0.0.1/callback".to_owned(),
                "https://app.example/callback".to_owned(),
            ],
            grants: Vec::new(),
        };
        for good in [
            "http://127.0.0.1/callback",
            "http://127.0.0.1:80/callback",
            "http://127.0.0.1:65535/callback",
            "https://app.example/callback",
        ] {
            assert!(client.has_redirect(good), "{good}");
        }
        for bad in [
            "http://127.0.0.1:1/callback/",
            "http://127.0.0.1:1/callback?x=1",
            "http://127.0.0.1:99999/callback",
            "http://127.0.0.1.evil.example/callback",
            "http://127.0.0.1@evil.example/callback",
            "http://localhost:1/callback",
            "https://127.0.0.1:1/callback",
            "https://app.example:444/callback",
            "https://app.example/callback/x",
        ] {
            assert!(!client.has_redirect(bad), "{bad}");
        }
    }

    #[test]
    fn nonces_are_replaced_and_the_last_one_stays_good() {
        let mut state = State::new(&IssuerOptions::default());
        let first = state.nonce().to_owned();
        for _ in 0..NONCE_USES {
            assert!(state.take_nonce(Some(&first)));
        }
        assert_ne!(state.nonce(), first);
        assert!(state.take_nonce(Some(&first)));
        assert!(!state.take_nonce(Some("other")));
        assert!(!state.take_nonce(None));
    }
}
