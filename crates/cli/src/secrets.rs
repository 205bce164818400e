//! Which values must not be shown, and JSON without them.

use std::borrow::Cow;

use switchboard::protocol::Raw;
use switchboard::secret::{MASK, Redactor, SafeUrl, looks_secret, mask_args};
use switchboard::transport::Environment;

use crate::args::Connection;

/// A setting is at most this long.
const LONGEST_SETTING: usize = 12;

/// Learns the secrets that a command line gives to a server: variables, headers, and what looks it
/// in arguments and in the URL.
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
    let headers = connection.remote.header.iter();
    for (name, value) in headers.filter_map(|header| header.split_once(':')) {
        if looks_secret(name.trim()) || !is_setting(value.trim()) {
            secrets.add(value);
        }
    }
    let url = connection.remote.url.as_deref();
    for secret in url.map(in_url).unwrap_or_default() {
        secrets.add(&secret);
    }
    let words = connection.stdio.as_deref().and_then(shlex::split);
    let words = words.unwrap_or_default();
    for (word, masked) in words.iter().zip(mask_args(&words)) {
        if let Some(secret) = masked_part(word, &masked) {
            secrets.add(secret);
        }
    }
    secrets
}

/// What the mask in a text stands for.
fn masked_part<'t>(text: &'t str, masked: &str) -> Option<&'t str> {
    let (before, after) = masked.split_once(MASK)?;
    text.strip_prefix(before)?.strip_suffix(after)
}

/// The parts of a URL that are not shown.
fn in_url(url: &str) -> Vec<String> {
    let Ok(url) = SafeUrl::parse(url) else {
        // Nothing is sent there either.
        return Vec::new();
    };
    let parts = |text: &str| -> Vec<String> {
        let text = text.split_once("://").map_or(text, |(_, rest)| rest);
        let parts = text.split(['/', '?', '&', '#', '@']);
        parts.map(str::to_owned).collect()
    };
    let (whole, shown) = (parts(url.expose().as_str()), parts(&url.to_string()));
    let pairs = whole.iter().zip(&shown);
    let hidden = pairs.filter_map(|(whole, shown)| masked_part(whole, shown));
    let is_secret = |part: &&str| !is_setting(part);
    hidden.filter(is_secret).map(str::to_owned).collect()
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
    fn what_a_url_does_not_show_is_a_secret() {
        let hidden = in_url("https://example.com/s/3f2c9a7e1b4d4c7e9f00aa11/mcp?key=H1dden&page=2");
        assert_eq!(hidden, ["3f2c9a7e1b4d4c7e9f00aa11", "H1dden"]);
        assert_eq!(in_url("https://example.com/mcp"), [""; 0]);
        assert_eq!(in_url("no url"), [""; 0]);
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
