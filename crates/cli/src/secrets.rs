//! Secrets of the command line, and their removal from JSON.

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

/// Collects the secrets that a command line gives to a server: in variables, headers, arguments and the URL.
/// The library defines which values count as secret.
pub(crate) fn of_connection(connection: &Connection, host: &Environment) -> Redactor {
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
    // An invalid URL is never sent to.
    if let Some(Ok(url)) = connection.remote.url.as_deref().map(SafeUrl::parse) {
        known.add_url(&url);
    }
    // Arguments that look like secrets are masked in reports, too.
    let words = connection.stdio.as_deref().and_then(shlex::split);
    known.add_args(&words.unwrap_or_default());
    known
}

/// Redacts secrets in a JSON value, and makes it safe to show.
pub(crate) fn safe_json(secrets: &Redactor, value: &Raw) -> String {
    write_json_safe(&redact_json(secrets, value)).into_owned()
}

/// Formats a document of `--json` as one line, redacted and safe to show.
///
/// # Errors
/// Returns an internal error if the document has no JSON form.
pub(crate) fn json_line(secrets: &Redactor, document: &impl Serialize) -> Result<String, Failure> {
    let document = Raw::of(document)
        .map_err(|error| Report::new(Exit::Internal, "internal", error.to_string()))?;
    Ok(format!("{}\n", safe_json(secrets, &document)))
}

/// Redacts secrets in a JSON value, which stays valid JSON. Borrows if there are none.
pub(crate) fn redact_json<'a>(secrets: &Redactor, value: &'a Raw) -> Cow<'a, str> {
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
