//! Masks the secrets of a command line.

use serde_json::Value;
use url::Url;

use super::classify::{is_path, is_secret_by_name, is_secret_header};
use super::name::names_secret;
use super::token::{has_known_prefix, is_secret_word, is_token_char, looks_mixed};
use super::{MASK, SafeUrl};

/// The text that marks a private key.
const PRIVATE_KEY: &str = "PRIVATE KEY-----";

/// Masks the secrets in the arguments of a command, for showing it.
///
/// The definition is [`is_secret`](super::is_secret)'s: the value of an option or variable with a
/// secret name (`--token x`, `--token=x`, `API_KEY=x`, `{"apiKey": "x"}`), a header (`Authorization:
/// x`, and the value after `--header`), parts of a URL (see [`SafeUrl`]), tokens of well-known issuers
/// anywhere, and long random words. An option after one with a secret name is taken for an option, not
/// for a value. Short options are not names, so `-p x` stays.
pub fn mask_args(args: &[String]) -> Vec<String> {
    walk(args, &mut Vec::new())
}

/// Collects the secrets in the arguments of a command.
pub(super) fn find_in_args(args: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    walk(args, &mut found);
    found
}

/// Collects the secrets in a text whose name reveals nothing.
pub(super) fn find_in_value(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    mask_arg(text, &mut found);
    found
}

/// Masks the secrets in arguments, and collects them in `found`.
fn walk(args: &[String], found: &mut Vec<String>) -> Vec<String> {
    // The previous option, which may name the current argument.
    let mut option: Option<&str> = None;
    let masked = args.iter().map(|arg| {
        // A value follows its option directly; another option ends the wait for it.
        let name = option.take().filter(|_| !arg.starts_with("--"));
        if let Some(name) = name
            && is_secret_by_name(name, arg)
        {
            found.push(arg.clone());
            return MASK.to_owned();
        }
        if arg.starts_with('-') && is_name(arg) {
            option = Some(arg);
        }
        match arg.split_once(": ") {
            Some((header, value))
                if matches!(name, Some("--header" | "-H")) && is_secret_header(value) =>
            {
                found.push(value.to_owned());
                format!("{header}: {MASK}")
            }
            _ => mask_arg(arg, found),
        }
    });
    masked.collect()
}

/// Masks one argument that is not secret because of the previous option.
fn mask_arg(arg: &str, found: &mut Vec<String>) -> String {
    let mut out = String::with_capacity(arg.len());
    let mut rest = arg;
    // Several names in a row: `--env=API_KEY=x`. A loop, because a project's config may hold thousands.
    while let Some((name, value)) = rest.split_once('=')
        && is_name(name)
    {
        if is_secret_by_name(name, value) {
            found.push(value.to_owned());
            return out + name + "=" + MASK;
        }
        out = out + &mask_words(name, found) + "=";
        rest = value;
    }
    out + &mask_value(rest, found)
}

/// Masks a header, a URL, a JSON document or plain words.
fn mask_value(text: &str, found: &mut Vec<String>) -> String {
    // From specific to general: a header, a URL, a document, a key, then single words.
    if let Some((name, value)) = text.split_once(':')
        && is_name(name)
        && is_secret_by_name(name, value)
        && !value.starts_with("//")
    {
        found.push(value.to_owned());
        let space = if value.starts_with(' ') { " " } else { "" };
        return format!("{name}:{space}{MASK}");
    }
    if text.contains("://")
        && let Ok(url) = Url::parse(text)
    {
        let url = SafeUrl::from(url);
        found.extend(url.secrets());
        let shown = url.to_string();
        // Parsing may have normalised the spelling; show the original unless something is masked.
        return if shown.contains(MASK) {
            shown
        } else {
            text.to_owned()
        };
    }
    if text.starts_with(['{', '['])
        && let Ok(mut document) = serde_json::from_str(text)
    {
        return if mask_json(&mut document, None, found) {
            document.to_string()
        } else {
            text.to_owned()
        };
    }
    // Base64 contains characters that end a word elsewhere, so test the text as a whole.
    if text.contains(PRIVATE_KEY) || (looks_mixed(text) && !is_path(text)) {
        found.push(text.to_owned());
        return MASK.to_owned();
    }
    mask_words(text, found)
}

/// Masks the secret members and strings of a document; returns true if there were any. Everything below
/// a secret name is secret too.
fn mask_json(document: &mut Value, name: Option<&str>, found: &mut Vec<String>) -> bool {
    match document {
        Value::Object(members) => {
            let mut changed = false;
            for (key, value) in members {
                let own = names_secret(key).then_some(key.as_str());
                changed |= mask_json(value, own.or(name), found);
            }
            changed
        }
        Value::Array(items) => {
            let mut changed = false;
            // No short circuit: every item must be masked, not only the first.
            for item in items {
                changed |= mask_json(item, name, found);
            }
            changed
        }
        Value::String(text) => {
            let shown = if name.is_some_and(|name| is_secret_by_name(name, text)) {
                found.push(text.clone());
                MASK.to_owned()
            } else {
                mask_arg(text, found)
            };
            let changed = shown != *text;
            *text = shown;
            changed
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Masks the words of a text that look like secrets.
fn mask_words(text: &str, found: &mut Vec<String>) -> String {
    // Folders are often named by hashes, which are not secrets.
    let is_secret: fn(&str) -> bool = if is_path(text) {
        has_known_prefix
    } else {
        is_secret_word
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let is_word = is_token_char(c);
        let end = rest
            .find(|c| is_token_char(c) != is_word)
            .unwrap_or(rest.len());
        let (run, tail) = rest.split_at(end);
        if is_word && is_secret(run) {
            found.push(run.to_owned());
            out.push_str(MASK);
        } else {
            out.push_str(run);
        }
        rest = tail;
    }
    out
}

/// Returns true if a text can be the name of an option, a variable or a header.
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
        assert_eq!(masked(&["--auth", "basic"]), ["--auth", "basic"]);
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
                "--header",
                "X-Team: canary",
            ]),
            [
                "--token=***",
                "-e",
                "API_KEY=***",
                "--env=API_KEY=***",
                "--header",
                "Authorization: ***",
                "--header=X-Api-Key:***",
                "--header",
                "X-Team: ***",
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
                r#"{"tokens": {"api_key": ["canary", "canary", 5]}, "auth": "basic"}"#,
            ]),
            [
                r#"{"apiKey":"***","n":1,"in":["TOKEN=***"]}"#,
                r#"--config={"a":"{\"password\":\"***\"}"}"#,
                r#"{"tokens":{"api_key":["***","***",5]},"auth":"basic"}"#,
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
