//! Chooses names of variables for values.

use crate::secret::{Secret, looks_secret};
use crate::spec::ServerName;

/// The variables named so far.
#[derive(Default)]
pub(super) struct Names(Vec<(String, Secret<String>)>);

impl Names {
    /// Returns the variable for a value: an existing one with this name and value, or a new one.
    ///
    /// A specific name (`GITHUB_TOKEN`) is used as it is; others get the server's name as a prefix, because
    /// `PATH` and `DEBUG` have a meaning for other programs.
    pub(super) fn take(&mut self, server: &ServerName, hint: &str, value: &str) -> String {
        let hint = upper(hint);
        let stem = Some(upper(server.as_str())).filter(|stem| !stem.is_empty());
        let stem = stem.unwrap_or_else(|| "SERVER".to_owned());
        let long = if hint.is_empty() {
            format!("{stem}_VALUE")
        } else if is_about(&hint, &stem) {
            hint.clone()
        } else {
            format!("{stem}_{hint}")
        };
        // Candidates in order of preference: the short name, the long one, then numbered ones.
        let short = (looks_secret(&hint) && hint.contains('_')).then_some(hint);
        let counted = (2_u32..).map(|count| format!("{long}_{count}"));
        let wanted = short.into_iter().chain([long.clone()]).chain(counted);
        for name in wanted {
            let name = if name.starts_with(|c: char| c.is_ascii_digit()) {
                format!("MCP_{name}")
            } else {
                name
            };
            match self.0.iter().find(|(other, _)| *other == name) {
                Some((_, other)) if other.expose() == value => return name,
                Some(_) => {}
                None => {
                    self.0.push((name.clone(), value.into()));
                    return name;
                }
            }
        }
        long
    }

    pub(super) fn into_variables(self) -> Vec<(String, Secret<String>)> {
        self.0
    }
}

/// Returns true if a name already contains the server's.
fn is_about(hint: &str, stem: &str) -> bool {
    hint.strip_prefix(stem)
        .is_some_and(|rest| rest.starts_with('_'))
}

/// Turns a text into the name of a variable, or a part of one: `x-api-key` becomes `X_API_KEY`.
fn upper(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut previous = ' ';
    for c in text.chars() {
        let starts = c.is_ascii_uppercase() && previous.is_ascii_lowercase();
        if (starts || !c.is_ascii_alphanumeric()) && !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_uppercase());
        }
        previous = c;
    }
    out.truncate(out.trim_end_matches('_').len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(name: &str) -> ServerName {
        ServerName::parse(name).unwrap()
    }

    #[test]
    fn names_say_what_they_are_for() {
        for (name, hint, variable) in [
            ("github", "GITHUB_TOKEN", "GITHUB_TOKEN"),
            ("github", "GITHUB_HOST", "GITHUB_HOST"),
            ("github", "apiKey", "API_KEY"),
            ("github", "PATH", "GITHUB_PATH"),
            ("github", "token", "GITHUB_TOKEN"),
            ("my.git-hub", "DEBUG", "MY_GIT_HUB_DEBUG"),
            ("東京", "größe", "SERVER_GR_E"),
            ("東京", "東京", "SERVER_VALUE"),
            ("3d", "x", "MCP_3D_X"),
        ] {
            assert_eq!(
                Names::default().take(&server(name), hint, "v"),
                variable,
                "{name} {hint}"
            );
        }
    }

    #[test]
    fn equal_values_share_a_name_and_others_do_not() {
        let mut names = Names::default();
        let mut take = |name, value| names.take(&server(name), "API_KEY", value);
        assert_eq!(take("a", "1"), "API_KEY");
        assert_eq!(take("b", "1"), "API_KEY");
        assert_eq!(take("b", "2"), "B_API_KEY");
        assert_eq!(take("b", "3"), "B_API_KEY_2");
        assert_eq!(take("B", "4"), "B_API_KEY_3");
        assert_eq!(names.into_variables().len(), 4);
    }
}
