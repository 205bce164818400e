//! The file in which the person describes the issuer.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use switchboard::files::{self, Access, Source};
use switchboard::policy::{CallerId, Grants};

use super::options::{ClaimRule, OAuthOptions};
use crate::error::GatewayError;

/// Longest file that is read.
const FILE_BYTES: usize = 256 << 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenIssuer {
    issuer: String,
    jwks_uri: Option<String>,
    audience: Option<String>,
    #[serde(default)]
    scopes: Vec<String>,
    rules: Vec<WrittenRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    #[serde(default)]
    when: BTreeMap<String, String>,
    agent: String,
    grants: Option<Vec<String>>,
    level: Option<String>,
}

impl OAuthOptions {
    /// Reads the description of an issuer from a file, which no other user may be able to write.
    ///
    /// The file is a JSON object: `issuer`, `rules` (each with `agent`, and `when`, `grants` and `level` if
    /// need be), and `jwks_uri`, `scopes` and `audience` if need be. Without `audience` the URL of the
    /// gateway is `public_url`.
    ///
    /// # Errors
    /// Fails if the file cannot be read, another user could have written it, or it says something that
    /// cannot be.
    pub fn read(path: &Path, public_url: &str) -> Result<Self, GatewayError> {
        let options = read(path).and_then(|text| Self::parse(&text, public_url));
        options.map_err(|why| GatewayError::Option {
            option: "oauth",
            why: format!("{}: {why}", path.display()),
        })
    }

    fn parse(text: &str, public_url: &str) -> Result<Self, String> {
        let written: WrittenIssuer =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        if written.rules.is_empty() {
            return Err("rules: without one no token stands for an agent".to_owned());
        }
        let rules = written.rules.into_iter().enumerate().map(|(at, rule)| {
            let rule = WrittenRule::read(rule);
            rule.map_err(|why| format!("rules: rule {}: {why}", at.saturating_add(1)))
        });
        let resource = written.audience.unwrap_or_else(|| public_url.to_owned());
        let mut options = Self::new(written.issuer, resource);
        options.jwks_uri = written.jwks_uri;
        options.rules = rules.collect::<Result<_, _>>()?;
        let is_scope = |scope: &String| {
            let is_usual = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
            !scope.is_empty() && scope.bytes().all(is_usual)
        };
        if let Some(bad) = written.scopes.iter().find(|scope| !is_scope(scope)) {
            return Err(format!("scopes: {bad:?} is no scope"));
        }
        options.scopes = written.scopes;
        Ok(options)
    }
}

impl WrittenRule {
    fn read(self) -> Result<ClaimRule, String> {
        let agent = CallerId::parse(&self.agent).map_err(|error| error.to_string())?;
        let mut rule = ClaimRule::new(agent);
        rule.when = self.when;
        let grants = self.grants.map(Grants::parse).transpose();
        rule.grants = grants.map_err(|error| error.to_string())?;
        rule.level = match self.level {
            Some(level) => Some(
                level
                    .parse()
                    .map_err(|error: switchboard::policy::ParseLevelError| error.to_string())?,
            ),
            None => None,
        };
        Ok(rule)
    }
}

/// Reads the file, which says who may come in: no other user may be able to write or replace it.
fn read(path: &Path) -> Result<String, String> {
    let content = files::read(path, Source::Own, FILE_BYTES).map_err(|error| error.to_string())?;
    if content.access != Access::Fine {
        return Err("other users can write it; `chmod go-w` it".to_owned());
    }
    String::from_utf8(content.bytes).map_err(|_| "it is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use switchboard::policy::Level;

    use super::*;

    fn parse(value: &Value) -> Result<OAuthOptions, String> {
        OAuthOptions::parse(&value.to_string(), "https://gateway.example/mcp")
    }

    #[test]
    fn an_issuer_and_its_rules_are_read() {
        let rule = json!({
            "when": {"groups": "eng"}, "agent": "engineers", "grants": ["mcp:git:*"], "level": "trusted",
        });
        let least = parse(&json!({"issuer": "https://a.example", "rules": [rule]})).unwrap();
        assert_eq!(least.resource, "https://gateway.example/mcp");
        assert_eq!(least.rules[0].agent.as_str(), "engineers");
        assert_eq!(least.rules[0].level, Some(Level::Trusted));
        assert_eq!(least.rules[0].when["groups"], "eng");
        let all = parse(&json!({
            "issuer": "https://a.example", "jwks_uri": "https://a.example/keys",
            "audience": "https://other.example/mcp", "scopes": ["mcp"], "rules": [{"agent": "a"}],
        }));
        let all = all.unwrap();
        assert_eq!(all.resource, "https://other.example/mcp");
        assert_eq!(all.scopes, ["mcp"]);
    }

    #[test]
    fn what_an_issuer_cannot_be_is_named() {
        let with = |rule: Value| json!({"issuer": "https://a.example", "rules": [rule]});
        for (bad, says) in [
            (json!({}), "issuer"),
            (
                json!({"issuer": "https://a.example", "rules": []}),
                "without one",
            ),
            (json!({"issuer": "https://a.example"}), "rules"),
            (with(json!({"agent": "owner"})), "rule 1"),
            (with(json!({"agent": "a", "grants": ["mcp"]})), "grant 1"),
            (
                with(json!({"agent": "a", "level": "root"})),
                "unknown level",
            ),
            (with(json!({"agent": "a", "if": {}})), "unknown field"),
            (with(json!({"agent": "a", "when": {"a": 1}})), "string"),
        ] {
            let error = parse(&bad).unwrap_err();
            assert!(error.contains(says), "{bad}: {error}");
        }
        let mut scopes = with(json!({"agent": "a"}));
        scopes["scopes"] = json!(["a b"]);
        assert!(parse(&scopes).unwrap_err().contains("is no scope"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_write_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("issuer.json");
        let text = json!({"issuer": "https://a.example", "rules": [{"agent": "a"}]});
        std::fs::write(&path, text.to_string()).unwrap();
        let read = || OAuthOptions::read(&path, "https://gateway.example");
        for (mode, is_read) in [(0o600, true), (0o644, true), (0o664, false), (0o646, false)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(read().is_ok(), is_read, "{mode:o}");
        }
        // Another file could take its place in such a folder.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(read().is_err());
    }
}
