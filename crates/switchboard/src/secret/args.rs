//! A command line that can be shown.

use serde_json::Value;
use url::Url;

use super::token::{has_known_prefix, is_token_char, looks_like_a_key};
use super::{MASK, SafeUrl, looks_secret};

/// Masks what looks secret in the arguments of a command, as it is printed in a server's identifier.
///
/// That is the value of an option, variable or header with a telling name (`--token x`, `--token=x`,
/// `API_KEY=x`, `Authorization: x`, `{"apiKey": "x"}`, see [`looks_secret`]), the telling parts of a URL (see
/// [`SafeUrl`]), tokens of well-known issuers wherever they stand, and words of at least 24 letters
/// and digits. An option that follows a telling one is taken for an option, not for a value. Short
/// options tell nothing, so `-p x` stays.
pub fn mask_args(args: &[String]) -> Vec<String> {
    let mut named = false;
    args.iter()
        .map(|arg| {
            let is_value = named && !arg.starts_with("--");
            named = !is_value && arg.starts_with('-') && is_name(arg) && looks_secret(arg);
            if is_value {
                MASK.to_owned()
            } else {
                mask_arg(arg)
            }
        })
        .collect()
}

/// Masks one argument that no option before it makes secret.
fn mask_arg(arg: &str) -> String {
    let mut out = String::with_capacity(arg.len());
    let mut rest = arg;
    // Several in a row are `--env=API_KEY=x`. A loop, because a project's config may hold thousands.
    while let Some((name, value)) = rest.split_once('=')
        && is_name(name)
    {
        if looks_secret(name) && !value.is_empty() {
            return out + name + "=" + MASK;
        }
        out = out + &mask_words(name) + "=";
        rest = value;
    }
    out + &mask_value(rest)
}

/// Masks a header, a URL, a JSON document or plain words.
fn mask_value(text: &str) -> String {
    if let Some((name, value)) = text.split_once(':')
        && is_name(name)
        && looks_secret(name)
        && !value.is_empty()
        && !value.starts_with("//")
    {
        let space = if value.starts_with(' ') { " " } else { "" };
        return format!("{name}:{space}{MASK}");
    }
    if text.contains("://")
        && let Ok(url) = Url::parse(text)
    {
        let shown = SafeUrl::from(url).to_string();
        // Parsing may have changed the spelling; without a secret there is no reason to show that.
        return if shown.contains(MASK) {
            shown
        } else {
            text.to_owned()
        };
    }
    if text.starts_with(['{', '['])
        && let Ok(mut document) = serde_json::from_str(text)
    {
        return if mask_json(&mut document) {
            document.to_string()
        } else {
            text.to_owned()
        };
    }
    mask_words(text)
}

/// Masks the telling members and strings of a document; tells whether there were any.
fn mask_json(document: &mut Value) -> bool {
    match document {
        Value::Object(members) => members.iter_mut().fold(false, |changed, (name, value)| {
            let secret = looks_secret(name) && !value.is_null();
            if secret {
                *value = MASK.into();
            }
            changed | (secret || mask_json(value))
        }),
        Value::Array(items) => items
            .iter_mut()
            .fold(false, |changed, item| changed | mask_json(item)),
        Value::String(text) => {
            let shown = mask_arg(text);
            let changed = shown != *text;
            *text = shown;
            changed
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Masks the words of a text that are secret by their shape.
fn mask_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let is_word = is_token_char(c);
        let end = rest
            .find(|c| is_token_char(c) != is_word)
            .unwrap_or(rest.len());
        let (run, tail) = rest.split_at(end);
        let secret = is_word && (has_known_prefix(run) || looks_like_a_key(run));
        out.push_str(if secret { MASK } else { run });
        rest = tail;
    }
    out
}

/// Tells whether a text can be the name of an option, a variable or a header.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_token_char)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(args: &[&str]) -> Vec<String> {
        mask_args(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_value_after_a_telling_option_is_masked() {
        assert_eq!(
            masked(&["run", "--token", "canary", "x"]),
            ["run", "--token", "***", "x"]
        );
        assert_eq!(masked(&["--password", "-canary"]), ["--password", "***"]);
        assert_eq!(
            masked(&["--token", "--auth", "canary"]),
            ["--token", "--auth", "***"]
        );
        assert_eq!(masked(&["--token"]), ["--token"]);
        assert_eq!(
            masked(&["--token", "--key=canary"]),
            ["--token", "--key=***"]
        );
    }

    #[test]
    fn assignments_and_headers_are_masked_behind_their_name() {
        assert_eq!(
            masked(&[
                "--token=canary",
                "-e",
                "API_KEY=canary=",
                "--env=API_KEY=canary",
                "--header",
                "Authorization: Bearer canary",
                "--header=X-Api-Key:canary",
            ]),
            [
                "--token=***",
                "-e",
                "API_KEY=***",
                "--env=API_KEY=***",
                "--header",
                "Authorization: ***",
                "--header=X-Api-Key:***",
            ]
        );
    }

    #[test]
    fn tokens_are_known_by_their_shape() {
        let tokens = [
            "sk-canarycanarycanary",
            "ghp_canarycanarycanary",
            "github_pat_canarycanary",
            "xoxb-canary-canary",
            "AKIACANARYCANARY0000",
            "eyJjYW5hcnkiOiJjYW5hcnkifQ",
            "0123456789abcdef0123456789abcdef",
        ];
        for token in tokens {
            assert_eq!(masked(&[token]), ["***"]);
            assert_eq!(masked(&[&format!("--x={token},y")]), ["--x=***,y"]);
        }
    }

    #[test]
    fn urls_are_masked_like_urls() {
        assert_eq!(
            masked(&[
                "postgres://me:canary@localhost:5432/db",
                "--url=https://x.example/?k=canary"
            ]),
            [
                "postgres://***@localhost:5432/db",
                "--url=https://x.example/?k=***"
            ]
        );
    }

    #[test]
    fn json_is_masked_by_its_names_and_strings() {
        assert_eq!(
            masked(&[
                r#"{"apiKey": "canary", "n": 1, "in": ["TOKEN=canary"]}"#,
                r#"--config={"a": "{\"password\": \"canary\"}"}"#,
            ]),
            [
                r#"{"apiKey":"***","n":1,"in":["TOKEN=***"]}"#,
                r#"--config={"a":"{\"password\":\"***\"}"}"#,
            ]
        );
    }

    #[test]
    fn an_argument_of_many_assignments_is_walked_to_its_end() {
        let args = format!("{}token=canary", "a=".repeat(100_000));
        let shown = format!("{}token=***", "a=".repeat(100_000));
        assert_eq!(masked(&[&args]), [shown]);
    }

    #[test]
    fn an_ordinary_command_line_stays_as_it_is() {
        let args = [
            "-y",
            "@modelcontextprotocol/server-filesystem@2026.1.14",
            "/home/me/My Documents",
            "C:\\Users\\me",
            "--max-tokens=4096",
            "--max-tokens",
            "4096",
            "--no-auth",
            "https://example.com",
            "--port=8080",
            "DEBUG=1",
            "sk-learn",
            "größe=東京",
            "a=b=c",
            r#"{ "a": [1.50, "b"] }"#,
            "[not json",
            "",
            "-",
            "--",
        ];
        assert_eq!(masked(&args), args);
    }
}
