//! The part of `deny.toml` that is held without cargo-deny.

use toml::{Table, Value};

/// The rules for dependencies.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rules {
    /// Licences, written as in an SPDX expression, `WITH` included.
    pub(super) licences: Vec<String>,
    pub(super) bans: Vec<Ban>,
}

/// A crate that must not be depended on, with exceptions.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ban {
    pub(super) name: String,
    /// The crates that may depend on it all the same.
    pub(super) wrappers: Vec<String>,
    pub(super) reason: String,
}

impl Rules {
    /// Reads the text of `deny.toml`.
    ///
    /// # Errors
    ///
    /// Says what is missing or not understood: a rule that cannot be read must not become a rule
    /// that is not held.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let table: Table = text.parse().map_err(|error| format!("{error}"))?;
        let entry = |section: &str, key: &str| {
            let found = table.get(section).and_then(|section| section.get(key));
            found.ok_or_else(|| format!("[{section}] has no `{key}`"))
        };
        let bans = entry("bans", "deny")?
            .as_array()
            .ok_or("`deny` is not a list")?;
        Ok(Self {
            licences: strings(entry("licenses", "allow")?)?,
            bans: bans.iter().map(ban).collect::<Result<_, _>>()?,
        })
    }
}

fn ban(value: &Value) -> Result<Ban, String> {
    let table = value.as_table().ok_or("a ban is not a table")?;
    let mut ban = Ban {
        name: String::new(),
        wrappers: Vec::new(),
        reason: String::new(),
    };
    for (key, value) in table {
        match key.as_str() {
            "crate" => ban.name = string(value)?,
            "reason" => ban.reason = string(value)?,
            "wrappers" => ban.wrappers = strings(value)?,
            other => return Err(format!("a ban with `{other}` is not understood here")),
        }
    }
    // cargo-deny would take `name@1.2` for one version of the crate; here it would match nothing.
    if ban.name.is_empty() || ban.name.contains('@') {
        return Err(format!(
            "a ban needs the plain name of a crate, not {:?}",
            ban.name
        ));
    }
    Ok(ban)
}

fn strings(value: &Value) -> Result<Vec<String>, String> {
    let list = value
        .as_array()
        .ok_or_else(|| format!("{value:?} is not a list"))?;
    list.iter().map(string).collect()
}

fn string(value: &Value) -> Result<String, String> {
    let text = value
        .as_str()
        .ok_or_else(|| format!("{value:?} is not a string"))?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_and_bans_are_read() {
        let rules = Rules::parse(
            r#"
            [licenses]
            allow = ["MIT", "Apache-2.0 WITH LLVM-exception"]
            [bans]
            deny = [{ crate = "a", reason = "no" }, { crate = "b", wrappers = ["c"] }]
            "#,
        );
        assert_eq!(
            rules,
            Ok(Rules {
                licences: vec!["MIT".into(), "Apache-2.0 WITH LLVM-exception".into()],
                bans: vec![
                    Ban {
                        name: "a".into(),
                        wrappers: vec![],
                        reason: "no".into()
                    },
                    Ban {
                        name: "b".into(),
                        wrappers: vec!["c".into()],
                        reason: String::new()
                    },
                ],
            })
        );
    }

    #[test]
    fn a_rule_that_is_not_understood_is_an_error() {
        let with = |ban: &str| {
            Rules::parse(&format!("[licenses]\nallow = []\n[bans]\ndeny = [{ban}]")).unwrap_err()
        };
        assert!(with(r#"{ crate = "a", use-instead = "b" }"#).contains("use-instead"));
        assert!(with(r#"{ crate = "a@1.2" }"#).contains("a@1.2"));
        assert!(with(r#""a""#).contains("not a table"));
        assert!(
            Rules::parse("[bans]\ndeny = []")
                .unwrap_err()
                .contains("`allow`")
        );
    }
}
