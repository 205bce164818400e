//! JSON that is safe to show: secrets redacted, control characters escaped.

use std::borrow::Cow;

use switchboard_core::secret::{MASK, Redactor};
use switchboard_core::text::write_json_safe;
use switchboard_wire::Raw;

/// Redacts secrets in a JSON value, and makes it safe to show.
pub fn safe_json(secrets: &Redactor, value: &Raw) -> String {
    write_json_safe(&redact_json(secrets, value)).into_owned()
}

/// Redacts secrets in a JSON value, which stays valid JSON. Borrows if there are none.
pub fn redact_json<'a>(secrets: &Redactor, value: &'a Raw) -> Cow<'a, str> {
    let text = secrets.redact(value.as_str());
    if matches!(text, Cow::Borrowed(_)) || Raw::parse(&text).is_ok() {
        return text;
    }
    // A secret is a number, or spans several values: redact each value separately. If a secret still shows,
    // mask the whole.
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
}
