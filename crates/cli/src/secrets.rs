//! Which values must not be shown, and JSON without them.

use std::borrow::Cow;

use serde::Serialize;
use switchboard::mask::learn_variables;
use switchboard::protocol::Raw;
use switchboard::secret::{MASK, Redactor, SafeUrl};
use switchboard::text::write_json_safe;
use switchboard::transport::Environment;

use crate::args::Connection;
use crate::exit::Exit;
use crate::report::{Failure, Report};

/// Learns the secrets that a command line gives to a server, in variables, headers, arguments and the
/// URL. What counts as one, the library defines.
pub(crate) fn known(connection: &Connection, host: &Environment) -> Redactor {
    let mut known = Redactor::new();
    let given = connection
        .env
        .iter()
        .filter_map(|word| word.split_once('='));
    learn_variables(given, &connection.env_passthrough, host, &mut known);
    let headers = connection.remote.header.iter();
    for (_, value) in headers.filter_map(|header| header.split_once(':')) {
        known.add_header(value);
    }
    // Where there is none, nothing is sent either.
    if let Some(Ok(url)) = connection.remote.url.as_deref().map(SafeUrl::parse) {
        known.add_url(&url);
    }
    let words = connection.stdio.as_deref().and_then(shlex::split);
    known.add_args(&words.unwrap_or_default());
    known
}

/// Takes the secrets out of a JSON value, and makes it safe to show.
pub(crate) fn safe_json(secrets: &Redactor, value: &Raw) -> String {
    write_json_safe(&redact_json(secrets, value)).into_owned()
}

/// A document of `--json` as one line: without these secrets, and safe to show.
///
/// # Errors
/// When it cannot be written as JSON, which is a fault of ours.
pub(crate) fn json_line(secrets: &Redactor, document: &impl Serialize) -> Result<String, Failure> {
    let document = Raw::of(document)
        .map_err(|error| Report::new(Exit::Internal, "internal", error.to_string()))?;
    Ok(format!("{}\n", safe_json(secrets, &document)))
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
}
