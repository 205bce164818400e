//! The environment of the host, and the part of it that a child process receives.
//!
//! A server inherits only variables that programs need to run and that carry no secrets; every other
//! one must be named in `env_passthrough`.

mod danger;
mod family;

use std::collections::BTreeMap;
use std::fmt;

use crate::secret::Secret;
pub use danger::{Danger, danger};
pub use family::Family;

/// Variables that programs need to run at all and that carry no secrets.
const SAFE: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "SHELL", "TMPDIR",
    "TMP", "TEMP",
];

/// Further variables that programs need on Windows.
const SAFE_ON_WINDOWS: &[&str] = &[
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "PATHEXT",
    "SYSTEMROOT",
    "COMSPEC",
];

/// Trusted certificates. Servers behind a corporate proxy cannot connect without these.
const CERTIFICATES: &[&str] = &[
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
];

/// Proxies. A value with a user name in it mostly has a password too.
const PROXIES: &[&str] = &["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

/// Hosts that are contacted without a proxy.
const NO_PROXY: &[&str] = &["NO_PROXY"];

/// The number of gateways above a process. Servers get it, so that a gateway among them notices.
const DEPTH: &str = "SWITCHBOARD_DEPTH";

/// The certificate and proxy variables of a process, by name.
///
/// Every server receives them by default, except for a proxy with a user name in it: that one must be
/// named in `env_passthrough`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetworkVariables {
    /// Variables that the process receives.
    pub set: Vec<String>,
    /// Proxies of the host that are withheld because they contain a user name.
    pub withheld: Vec<String>,
}

/// The environment of the host, as a value.
///
/// `Debug` prints names only, never values.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, Secret<String>>,
}

impl Environment {
    /// Captures the environment of this process. Variables that are not Unicode are left out.
    pub fn of_process() -> Self {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// The number of gateways that this process is a server of.
    pub fn depth(&self) -> u32 {
        let depth = self.get(DEPTH).map(|value| value.expose().trim().parse());
        // What is not a number was set by something that is not us, and counts as one.
        depth.map_or(0, |depth| depth.unwrap_or(1))
    }

    /// The environment of a gateway, whose servers are one level deeper.
    #[must_use]
    pub fn deeper(mut self) -> Self {
        let depth = self.depth().saturating_add(1).to_string();
        set(&mut self.variables, DEPTH, Secret::new(depth), Family::HERE);
        self
    }

    /// One variable.
    pub fn get(&self, name: &str) -> Option<&Secret<String>> {
        get(&self.variables, name, Family::HERE)
    }

    /// The variables for a child process: the safe ones, and those named in `passthrough`.
    pub fn for_child(
        &self,
        passthrough: &[String],
        family: Family,
    ) -> BTreeMap<String, Secret<String>> {
        let mut variables = BTreeMap::new();
        let mut pass = |name: &str, may_pass: fn(&str) -> bool| {
            if let Some(value) = get(&self.variables, name, family)
                && may_pass(value.expose())
            {
                set(&mut variables, name, value.clone(), family);
            }
        };
        for name in safe(family).chain([DEPTH]) {
            pass(name, |_| true);
        }
        // A proxy URL with credentials is a secret, so it does not pass by default.
        for name in network(family) {
            if is_proxy(&name) {
                pass(&name, |value| !names_user(value));
            } else {
                pass(&name, |_| true);
            }
        }
        // Last, so that naming a variable overrides every rule above.
        for name in passthrough {
            pass(name, |_| true);
        }
        variables
    }

    /// Lists the certificate and proxy variables that a child with these variables receives or misses.
    pub fn network_variables(
        &self,
        child: &BTreeMap<String, Secret<String>>,
        family: Family,
    ) -> NetworkVariables {
        let mut found = NetworkVariables::default();
        for name in network(family) {
            if get(child, &name, family).is_some() {
                found.set.push(name);
            } else if is_proxy(&name) && get(&self.variables, &name, family).is_some() {
                found.withheld.push(name);
            }
        }
        found
    }
}

/// The certificate and proxy variables, on Unix in lower case as well.
fn network(family: Family) -> impl Iterator<Item = String> {
    let names = CERTIFICATES.iter().chain(PROXIES).chain(NO_PROXY);
    names.flat_map(move |name| {
        let lower = match family {
            Family::Unix => Some(name.to_ascii_lowercase()),
            Family::Windows => None,
        };
        [Some((*name).to_owned()), lower].into_iter().flatten()
    })
}

fn is_proxy(name: &str) -> bool {
    PROXIES.iter().any(|proxy| proxy.eq_ignore_ascii_case(name))
}

/// Returns true if the value of a proxy variable may contain a user name. Any `@` counts, because
/// passwords are often written without escapes.
fn names_user(proxy: &str) -> bool {
    proxy.contains('@')
}

/// The variables that every child receives if the host has them.
fn safe<'a>(family: Family) -> impl Iterator<Item = &'a str> {
    let more: &[&str] = match family {
        Family::Unix => &[],
        Family::Windows => SAFE_ON_WINDOWS,
    };
    SAFE.iter().chain(more).copied()
}

/// Looks a variable up by the rules of a system: Windows ignores case.
pub fn get<'a, V>(variables: &'a BTreeMap<String, V>, name: &str, family: Family) -> Option<&'a V> {
    // An exact match wins over one that differs in case.
    variables.get(name).or_else(|| {
        let mut others = variables.iter();
        others
            .find(|(key, _)| is_same(key, name, family))
            .map(|(_, value)| value)
    })
}

/// Sets a variable by the rules of a system, so that `Path` replaces `PATH` on Windows.
pub fn set<V>(variables: &mut BTreeMap<String, V>, name: &str, value: V, family: Family) {
    // Remove other spellings first, so that a name never occurs twice.
    variables.retain(|key, _| !is_same(key, name, family));
    variables.insert(name.to_owned(), value);
}

fn is_same(one: &str, other: &str, family: Family) -> bool {
    match family {
        Family::Unix => one == other,
        Family::Windows => one.eq_ignore_ascii_case(other),
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self {
            variables: variables
                .into_iter()
                .map(|(name, value)| (name, Secret::new(value)))
                .collect(),
        }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(variables: &[(&str, &str)]) -> Environment {
        let variables = variables.iter();
        variables
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    /// The variables that a child receives, with their values.
    fn child(host: &Environment, passthrough: &[&str], family: Family) -> Vec<(String, String)> {
        let passthrough: Vec<String> = passthrough.iter().map(|name| (*name).to_owned()).collect();
        let variables = host.for_child(&passthrough, family).into_iter();
        variables
            .map(|(name, value)| (name, value.expose().clone()))
            .collect()
    }

    fn pairs(variables: &[(&str, &str)]) -> Vec<(String, String)> {
        let variables = variables.iter();
        variables
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn only_safe_and_named_variables_reach_a_child() {
        let host: Environment = (0..200)
            .map(|n| (format!("CANARY_{n}"), format!("secret-{n}")))
            .chain([
                ("PATH".to_owned(), "/bin".to_owned()),
                ("HOME".to_owned(), "/home/x".to_owned()),
                ("GITHUB_TOKEN".to_owned(), "t".to_owned()),
            ])
            .collect();
        for family in [Family::Unix, Family::Windows] {
            let names = |passthrough: &[&str]| -> Vec<String> {
                let variables = child(&host, passthrough, family).into_iter();
                variables.map(|(name, _)| name).collect()
            };
            assert_eq!(names(&[]), ["HOME", "PATH"]);
            assert_eq!(
                names(&["GITHUB_TOKEN", "ABSENT"]),
                ["GITHUB_TOKEN", "HOME", "PATH"]
            );
        }
    }

    #[test]
    fn the_depth_of_gateways_reaches_a_child_and_grows() {
        let depth = |value: &str| host(&[("SWITCHBOARD_DEPTH", value)]).depth();
        assert_eq!((host(&[]).depth(), depth("2"), depth("x")), (0, 2, 1));
        let child = child(&host(&[]).deeper().deeper(), &[], Family::HERE);
        assert_eq!(child, pairs(&[("SWITCHBOARD_DEPTH", "2")]));
    }

    #[test]
    fn the_safe_variables_are_these() {
        let unix = "PATH HOME USER LOGNAME LANG LC_ALL LC_CTYPE TERM SHELL TMPDIR TMP TEMP";
        let windows = "USERPROFILE APPDATA LOCALAPPDATA PATHEXT SYSTEMROOT COMSPEC";
        let names = |family| safe(family).collect::<Vec<_>>().join(" ");
        assert_eq!(names(Family::Unix), unix);
        assert_eq!(names(Family::Windows), format!("{unix} {windows}"));
    }

    #[test]
    fn certificate_and_proxy_settings_reach_a_child_in_either_case() {
        let names = [
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "NODE_EXTRA_CA_CERTS",
            "REQUESTS_CA_BUNDLE",
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "ALL_PROXY",
            "NO_PROXY",
        ];
        for name in names {
            for name in [name.to_owned(), name.to_ascii_lowercase()] {
                let host = host(&[(&name, "http://proxy:3128")]);
                let wanted = pairs(&[(&name, "http://proxy:3128")]);
                assert_eq!(child(&host, &[], Family::Unix), wanted);
                let passed = child(&host, &[], Family::Windows);
                assert_eq!(passed.len(), 1, "{name}: {passed:?}");
            }
        }
    }

    #[test]
    fn a_proxy_with_a_user_name_reaches_a_child_only_when_it_is_named() {
        for value in [
            "http://me:s3cret@proxy:3128",
            "http://me@proxy",
            "me:s3cret@proxy:3128",
            "http://me:a/b@proxy:3128/",
            "socks5h://me:p%40ss@proxy",
        ] {
            let host = host(&[
                ("HTTPS_PROXY", value),
                ("http_proxy", value),
                ("NO_PROXY", "localhost"),
            ]);
            let variables = host.for_child(&[], Family::Unix);
            assert_eq!(
                child(&host, &[], Family::Unix),
                pairs(&[("NO_PROXY", "localhost")]),
                "{value}"
            );
            let found = host.network_variables(&variables, Family::Unix);
            assert_eq!(found.set, ["NO_PROXY"]);
            assert_eq!(found.withheld, ["http_proxy", "HTTPS_PROXY"]);
            let named = child(&host, &["HTTPS_PROXY"], Family::Unix);
            assert!(named.contains(&("HTTPS_PROXY".to_owned(), value.to_owned())));
        }
    }

    #[test]
    fn what_windows_needs_stays_at_home_elsewhere() {
        let host = host(&[
            ("SystemRoot", r"C:\Windows"),
            ("SYSTEMROOT", "x"),
            ("path", "y"),
        ]);
        assert_eq!(child(&host, &[], Family::Unix), pairs(&[]));
    }

    #[test]
    fn windows_does_not_tell_names_apart_by_case() {
        let host = host(&[
            ("Path", r"C:\bin"),
            ("SystemRoot", r"C:\Windows"),
            ("ComSpec", "cmd"),
            ("Github_Token", "t"),
        ]);
        assert_eq!(
            child(&host, &[], Family::Windows),
            pairs(&[
                ("COMSPEC", "cmd"),
                ("PATH", r"C:\bin"),
                ("SYSTEMROOT", r"C:\Windows")
            ])
        );
        // Named twice, it is there once, as it was named last.
        assert_eq!(
            child(&host, &["path", "GITHUB_TOKEN"], Family::Windows),
            pairs(&[
                ("COMSPEC", "cmd"),
                ("GITHUB_TOKEN", "t"),
                ("SYSTEMROOT", r"C:\Windows"),
                ("path", r"C:\bin")
            ])
        );
        assert_eq!(
            child(&host, &["path", "GITHUB_TOKEN"], Family::Unix),
            pairs(&[])
        );
    }

    #[test]
    fn a_variable_that_is_set_replaces_those_that_are_the_same() {
        let mut variables = BTreeMap::from([("Path".to_owned(), 1), ("PATHS".to_owned(), 2)]);
        let mut others = variables.clone();
        set(&mut variables, "PATH", 3, Family::Windows);
        let expected = [("PATH".to_owned(), 3), ("PATHS".to_owned(), 2)];
        assert_eq!(variables, BTreeMap::from(expected));
        assert_eq!(get(&variables, "path", Family::Windows), Some(&3));
        set(&mut others, "PATH", 3, Family::Unix);
        assert_eq!(others.len(), 3);
        assert_eq!(get(&others, "PATH", Family::Unix), Some(&3));
        assert_eq!(get(&others, "path", Family::Unix), None);
    }

    #[test]
    fn values_do_not_show() {
        let host = host(&[("TOKEN", "canary")]);
        assert_eq!(format!("{host:?}"), r#"{"TOKEN"}"#);
    }
}
