//! Which values must not be shown, and JSON without them.

use std::borrow::Cow;

use switchboard::protocol::Raw;
use switchboard::secret::{MASK, Redactor, looks_secret, mask_args};
use switchboard::transport::Environment;

use crate::args::Connection;

/// A setting is at most this long.
const LONGEST_SETTING: usize = 12;

/// Learns the secrets that a command line gives to a server: variables, and arguments that look it.
pub(crate) fn known(connection: &Connection, host: &Environment) -> Redactor {
    let mut secrets = Redactor::new();
    let given = connection
        .env
        .iter()
        .filter_map(|word| word.split_once('='));
    let passed = connection.env_passthrough.iter().filter_map(|name| {
        let value = host.get(name)?.expose();
        Some((name.as_str(), value.as_str()))
    });
    for (name, value) in given.chain(passed) {
        if looks_secret(name) || !is_setting(value) {
            secrets.add(value);
        }
    }
    let words = connection.stdio.as_deref().and_then(shlex::split);
    let words = words.unwrap_or_default();
    for (word, masked) in words.iter().zip(mask_args(&words)) {
        let around = masked.split_once(MASK);
        let secret =
            around.and_then(|(before, after)| word.strip_prefix(before)?.strip_suffix(after));
        if let Some(secret) = secret {
            secrets.add(secret);
        }
    }
    secrets
}

/// Whether a value is a short word or number, as in `LOG_LEVEL=debug`: masking every such word in
/// what a server says would make it unreadable and protect nothing.
fn is_setting(value: &str) -> bool {
    let is_word = value.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    value.len() <= LONGEST_SETTING && (is_word || (is_number && value.len() <= 5))
}

/// Takes the secrets out of a JSON value, which stays one; borrows when there are none.
pub(crate) fn redact_json<'a>(secrets: &Redactor, value: &'a Raw) -> Cow<'a, str> {
    let text = secrets.redact(value.as_str());
    if matches!(text, Cow::Borrowed(_)) || Raw::parse(&text).is_ok() {
        return text;
    }
    // A secret that is a number, or runs over several values: each is looked at by itself, and
    // what then still shows a secret is not shown at all.
    let rebuilt = rebuild(secrets, value);
    if matches!(secrets.redact(&rebuilt), Cow::Borrowed(_)) {
        Cow::Owned(rebuilt)
    } else {
        Cow::Owned(format!("\"{MASK}\""))
    }
}

fn rebuild(secrets: &Redactor, value: &Raw) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    if value.is_object() {
        let members = value.members().into_iter().map(|(key, value)| {
            let key = quoted(&secrets.redact(&key));
            format!("{key}:{}", rebuild(secrets, &value))
        });
        return format!("{{{}}}", members.collect::<Vec<_>>().join(","));
    }
    if value.is_array() {
        let items = value.items();
        let items: Vec<String> = items.iter().map(|item| rebuild(secrets, item)).collect();
        return format!("[{}]", items.join(","));
    }
    match secrets.redact(value.as_str()) {
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(text) if value.is_string() && Raw::parse(&text).is_ok() => text,
        Cow::Owned(_) => quoted(MASK),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(secret: &str, json: &str) -> String {
        let secrets: Redactor = [secret].into_iter().collect();
        redact_json(&secrets, &Raw::parse(json).unwrap()).into_owned()
    }

    #[test]
    fn json_without_secrets_is_left_alone() {
        assert_eq!(redacted("s3cr3t", r#"{"a": 1.0}"#), r#"{"a": 1.0}"#);
    }

    #[test]
    fn json_stays_json_whatever_is_taken_out() {
        assert_eq!(
            redacted("s3cr3t", r#"{"a":"my s3cr3t"}"#),
            r#"{"a":"my ***"}"#
        );
        assert_eq!(
            redacted("12345", r#"{"a":[1,123456],"b":1.0}"#),
            r#"{"a":[1,"***"],"b":1.0}"#
        );
        assert_eq!(
            redacted(r#"{"id":77,"k":"v"}"#, r#"[{"id":77,"k":"v"},1]"#),
            r#""***""#
        );
    }

    #[test]
    fn settings_are_told_from_secrets() {
        for setting in ["debug", "production", "8080", "true"] {
            assert!(is_setting(setting), "{setting}");
        }
        for secret in ["hunter2", "Debug", "123456", "correcthorsebatterystaple"] {
            assert!(!is_setting(secret), "{secret}");
        }
    }
}
