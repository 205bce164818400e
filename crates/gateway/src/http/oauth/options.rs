//! What the person says about an issuer of tokens for the gateway.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use switchboard::policy::{Caller, CallerId, Grants, Level};

use crate::caller::CredentialBounds;

/// An issuer of tokens for clients of the gateway, and the agents that its tokens stand for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OAuthOptions {
    /// The issuer, exactly as its tokens and its metadata name it: an https URL, or one on this machine.
    pub issuer: String,
    /// The address of its keys; without it the metadata of the issuer says it.
    pub jwks_uri: Option<String>,
    /// The URL of the gateway, which tokens have to be issued for: `https://gateway.example/mcp`.
    pub resource: String,
    /// The scopes that every token needs.
    pub scopes: Vec<String>,
    /// The agents that tokens stand for. The first rule that matches counts; without one a token is of no
    /// use.
    pub rules: Vec<ClaimRule>,
}

impl OAuthOptions {
    /// An issuer for the gateway at this URL, without rules.
    pub fn new(issuer: impl Into<String>, resource: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            jwks_uri: None,
            resource: resource.into(),
            scopes: Vec::new(),
            rules: Vec::new(),
        }
    }
}

/// The agent that a token with certain claims stands for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClaimRule {
    /// The claims that a token needs, by name: a text that the claim is, or that is one of its list or of
    /// the words of `scope`. Without any, every token matches.
    pub when: BTreeMap<String, String>,
    /// The agent.
    pub agent: CallerId,
    /// The only things that it may be used for; `None` if it may be used for what the policy says of the agent.
    pub grants: Option<Grants>,
    /// The highest level that the agent has.
    pub level: Option<Level>,
}

impl ClaimRule {
    /// Every token stands for this agent.
    pub fn new(agent: CallerId) -> Self {
        Self {
            when: BTreeMap::new(),
            agent,
            grants: None,
            level: None,
        }
    }

    pub(super) fn matches(&self, claims: &Map<String, Value>) -> bool {
        self.when.iter().all(|(name, wanted)| {
            let claim = claims.get(name);
            claim.is_some_and(|claim| has_value(name, claim, wanted))
        })
    }

    /// The caller that comes with a token.
    pub(super) fn caller(&self, usual: &CallerId) -> Caller {
        let bounds = CredentialBounds {
            grants: self.grants.as_ref(),
            level: self.level,
        };
        bounds.caller(self.agent.clone(), usual)
    }
}

fn has_value(name: &str, claim: &Value, wanted: &str) -> bool {
    match claim {
        // RFC 8693, 4.2: scopes are words of one text.
        Value::String(text) if name == "scope" => text.split(' ').any(|word| word == wanted),
        Value::String(text) => text == wanted,
        Value::Array(all) => all.iter().any(|one| one.as_str() == Some(wanted)),
        Value::Bool(value) => value.to_string() == wanted,
        Value::Number(value) => value.to_string() == wanted,
        Value::Null | Value::Object(_) => false,
    }
}

/// The scopes of a token: words of `scope`, or a list in `scp`.
pub(super) fn has_scopes(claims: &Map<String, Value>, needed: &[String]) -> bool {
    let has = |name: &str, wanted: &str| match claims.get(name) {
        Some(Value::String(text)) => text.split(' ').any(|word| word == wanted),
        Some(Value::Array(all)) => all.iter().any(|one| one.as_str() == Some(wanted)),
        _ => false,
    };
    let mut needed = needed.iter();
    needed.all(|wanted| has("scope", wanted) || has("scp", wanted))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rule_matches_texts_lists_and_words_of_the_scope() {
        let claims = json!({
            "sub": "ann", "groups": ["eng", "ops"], "scope": "mcp read", "admin": true, "level": 3,
        });
        let claims = claims.as_object().unwrap();
        let rule = |when: &[(&str, &str)]| {
            let mut rule = ClaimRule::new("ann".parse().unwrap());
            let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            rule.when = when.iter().map(owned).collect();
            rule
        };
        for good in [
            &[][..],
            &[("sub", "ann")],
            &[("groups", "ops"), ("scope", "read")],
            &[("admin", "true"), ("level", "3")],
        ] {
            assert!(rule(good).matches(claims), "{good:?}");
        }
        for bad in [
            &[("sub", "an")][..],
            &[("groups", "eng ops")],
            &[("scope", "mcp read")],
            &[("none", "")],
            &[("sub", "ann"), ("groups", "x")],
        ] {
            assert!(!rule(bad).matches(claims), "{bad:?}");
        }
    }

    #[test]
    fn all_scopes_are_needed() {
        let scopes = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        let claims = json!({"scope": "a b", "scp": ["c"]});
        let claims = claims.as_object().unwrap();
        assert!(has_scopes(claims, &[]) && has_scopes(claims, &scopes(&["a", "c"])));
        assert!(!has_scopes(claims, &scopes(&["a", "d"])));
        assert!(!has_scopes(&Map::new(), &scopes(&["a"])));
    }
}
