//! A command line that can be shown.

use serde_json::Value;
use url::Url;

use super::classify::{is_path, is_secret_by_name, is_secret_header};
use super::name::names_secret;
use super::token::{has_known_prefix, is_secret_word, is_token_char, looks_mixed};
use super::{MASK, SafeUrl};

/// What begins a private key.
const PRIVATE_KEY: &str = "PRIVATE KEY-----";

/// Masks the secrets in the arguments of a command, as it is printed in a server's identifier.
///
/// Secret is what [`is_secret`](super::is_secret) says it is: the value of an option or variable with a
/// telling name (`--token x`, `--token=x`, `API_KEY=x`, `{"apiKey": "x"}`), a header (`Authorization:
/// x`, and whatever follows `--header`), parts of a URL (see [`SafeUrl`]), tokens of well-known issuers
/// wherever they stand, and long random words. An option that follows a telling one is taken for an
/// option, not for a value. Short options tell nothing, so `-p x` stays.
pub fn mask_args(args: &[String]) -> Vec<String> {
    walk(args, &mut Vec::new())
}

/// The secrets in the arguments of a command.
pub(super) fn find_in_args(args: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    walk(args, &mut found);
    found
}

/// The secrets in a text that no name makes one.
pub(super) fn find_in_value(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    mask_arg(text, &mut found);
    found
}

/// Masks the secrets in arguments, and collects them.
fn walk(args: &[String], found: &mut Vec<String>) -> Vec<String> {
    // The option before, which may name what follows.
    let mut option: Option<&str> = None;
    let masked = args.iter().map(|arg| {
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

/// Masks one argument that no option before it makes secret.
fn mask_arg(arg: &str, found: &mut Vec<String>) -> String {
    let mut out = String::with_capacity(arg.len());
    let mut rest = arg;
    // Several in a row are `--env=API_KEY=x`. A loop, because a project's config may hold thousands.
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
        return if mask_json(&mut document, None, found) {
            document.to_string()
        } else {
            text.to_owned()
        };
    }
    // Base64 has characters that end a word elsewhere.
    if text.contains(PRIVATE_KEY) || (looks_mixed(text) && !is_path(text)) {
        found.push(text.to_owned());
        return MASK.to_owned();
    }
    mask_words(text, found)
}

/// Masks the secret members and strings of a document; tells whether there were any. What is below a
/// telling name has that name too.
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
            // Every item is masked, not only up to the first that has a secret.
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

/// Masks the words of a text that are secret by their shape.
fn mask_words(text: &str, found: &mut Vec<String>) -> String {
    // Folders are often named by hashes, and no secrets.
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
