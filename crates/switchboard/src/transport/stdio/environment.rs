//! Which variables a child process gets.

use std::collections::BTreeMap;
use std::fmt;

use crate::secret::Secret;

/// Variables that a program needs to run at all and that carry no secrets.
const SAFE: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "SHELL", "TMPDIR",
    "TMP", "TEMP",
];

/// What programs need beyond that on Windows.
const SAFE_ON_WINDOWS: &[&str] = &[
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "PATHEXT",
    "SYSTEMROOT",
    "COMSPEC",
];

/// The environment of the host, as a value.
///
/// Nothing of it shows in `Debug` but the names.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, Secret<String>>,
}

impl Environment {
    /// Takes the environment of this process. Variables that are not Unicode are left out.
    pub fn of_process() -> Self {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// One variable.
    pub fn get(&self, name: &str) -> Option<&Secret<String>> {
        get(&self.variables, name)
    }

    /// The safe variables and those that are let through by name.
    pub(super) fn for_child(&self, passthrough: &[String]) -> BTreeMap<String, Secret<String>> {
        let extra: &[&str] = if cfg!(windows) { SAFE_ON_WINDOWS } else { &[] };
        let names = SAFE
            .iter()
            .chain(extra)
            .copied()
            .chain(passthrough.iter().map(String::as_str));
        names
            .filter_map(|name| Some((name.to_owned(), self.get(name)?.clone())))
            .collect()
    }
}

/// Looks a variable up by the system's rules: Windows ignores case.
pub(super) fn get<'a, V>(variables: &'a BTreeMap<String, V>, name: &str) -> Option<&'a V> {
    if !cfg!(windows) {
        return variables.get(name);
    }
    variables
        .iter()
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

/// Sets a variable by the system's rules, so that `Path` replaces `PATH` on Windows.
pub(super) fn set<V>(variables: &mut BTreeMap<String, V>, name: &str, value: V) {
    if cfg!(windows) {
        variables.retain(|key, _| !key.eq_ignore_ascii_case(name));
    }
    variables.insert(name.to_owned(), value);
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
        let names = |passthrough: &[String]| -> Vec<String> {
            host.for_child(passthrough).into_keys().collect()
        };
        assert_eq!(names(&[]), ["HOME", "PATH"]);
        assert_eq!(
            names(&["GITHUB_TOKEN".to_owned(), "ABSENT".to_owned()]),
            ["GITHUB_TOKEN", "HOME", "PATH"]
        );
    }

    #[test]
    fn values_do_not_show() {
        let host: Environment = [("TOKEN".to_owned(), "canary".to_owned())]
            .into_iter()
            .collect();
        assert_eq!(format!("{host:?}"), r#"{"TOKEN"}"#);
    }
}
