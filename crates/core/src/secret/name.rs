//! Recognises names of options and variables that hold secrets.

/// Returns true if an option, variable or header of this name is likely to hold a secret.
///
/// The name is split into words (`API_KEY`, `--api-key`, `apiKey`). A word such as `password`, `secret`
/// or `token` decides, also at the end of a longer one (`PGPASSWORD`), and `key` unless it is of another
/// kind (`primary_key`). Names that are only about a secret do not count: its number (`max_tokens`),
/// lifetime (`token_ttl`), location (`password_file`) or absence (`no_auth`).
pub fn looks_secret(name: &str) -> bool {
    let words = words(name);
    let (Some(first), Some(last)) = (words.first(), words.last()) else {
        return false;
    };
    // The shell's current and previous folder.
    if matches!(name, "PWD" | "OLDPWD") {
        return false;
    }
    // `--no-auth` switches something; `--no` alone says nothing.
    if SWITCHES.contains(&first.as_str()) && words.len() > 1 {
        return false;
    }
    if ABOUT.contains(&last.as_str()) {
        return false;
    }
    words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let before = before.map(String::as_str).unwrap_or_default();
        is_secret(word, before, at + 1 == words.len())
    })
}

/// Returns true if a variable, option or query parameter of this name may hold a secret.
///
/// These are names with TOKEN, KEY, SECRET, PASSWORD, PASS, CREDENTIAL or AUTH as a whole word anywhere,
/// and those that [`looks_secret`] recognises (`PGPASSWORD`, `JWT`). Digits after a word are ignored
/// (`KEY2`). Excluded are names about a secret (`TOKEN_URL`, `AUTH_TYPE`), switches (`NO_AUTH`) and keys
/// and tokens of another kind (`SORT_KEY`, `NEXT_TOKEN`).
pub(super) fn names_secret(name: &str) -> bool {
    let words: Vec<String> = words(name)
        .into_iter()
        .map(|word| {
            word.trim_end_matches(|c: char| c.is_ascii_digit())
                .to_owned()
        })
        .filter(|word| !word.is_empty())
        .collect();
    let (Some(first), Some(last)) = (words.first(), words.last()) else {
        return false;
    };
    // `TOKEN_LIMITS` is about a secret like `TOKEN_LIMIT`.
    let singular = last.strip_suffix('s').unwrap_or(last);
    let is_about = [last.as_str(), singular]
        .iter()
        .any(|last| ABOUT.contains(last) || ABOUT_ACCESS.contains(last));
    let is_switch = words.len() > 1 && SWITCHES.contains(&first.as_str());
    if is_about || is_switch {
        return false;
    }
    let around = |at: usize| words.get(at).map(String::as_str).unwrap_or_default();
    let mut each = words.iter().enumerate();
    each.any(|(at, word)| {
        let before = at.checked_sub(1).map(around).unwrap_or_default();
        match word.as_str() {
            "token" => !NOT_A_TOKEN.contains(&before),
            "key" => !NOT_A_KEY.contains(&before),
            "pass" => !matches!(around(at + 1), "through" | "thru"),
            "secret" | "password" | "credential" | "auth" => true,
            _ => false,
        }
    }) || looks_secret(name)
}

/// Judges one word, given the one before it.
fn is_secret(word: &str, before: &str, last: bool) -> bool {
    match word {
        // Not the tokens of a model or of a paginated list.
        "token" => !NOT_A_TOKEN.contains(&before),
        "key" => KEY.contains(&before) || (last && !NOT_A_KEY.contains(&before)),
        "tokens" | "keys" => KEY.contains(&before),
        "string" => before == "connection",
        "auth" | "pass" | "pwd" => last,
        _ => WORDS.contains(&word) || ENDINGS.iter().any(|ending| word.ends_with(ending)),
    }
}

/// Words that decide on their own.
const WORDS: &[&str] = &[
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "creds",
    "credential",
    "credentials",
    "dsn",
    "jwt",
    "otp",
    "pat",
    "passcode",
    "passwords",
    "secrets",
];

/// Words that decide even at the end of a longer word.
const ENDINGS: &[&str] = &[
    "accesskey",
    "apikey",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "token",
];

/// Words before `key`, `keys` or `tokens` that make it a credential.
const KEY: &[&str] = &[
    "access",
    "api",
    "app",
    "auth",
    "bearer",
    "encryption",
    "license",
    "master",
    "private",
    "refresh",
    "secret",
    "service",
    "signing",
    "ssh",
];

/// Words before `key` that make it something else.
const NOT_A_KEY: &[&str] = &[
    "cache",
    "column",
    "foreign",
    "group",
    "hot",
    "idempotency",
    "index",
    "json",
    "lookup",
    "map",
    "object",
    "partition",
    "primary",
    "public",
    "row",
    "shortcut",
    "sort",
    "unique",
];

/// Words before `token` that make it a piece of text or a position in a list.
const NOT_A_TOKEN: &[&str] = &[
    "bos",
    "continuation",
    "cursor",
    "end",
    "eos",
    "mask",
    "max",
    "min",
    "next",
    "num",
    "pad",
    "page",
    "pagination",
    "per",
    "progress",
    "stop",
    "sync",
    "unk",
];

/// Last words of names that are about a secret.
const ABOUT: &[&str] = &[
    "budget", "count", "dir", "endpoint", "expires", "expiry", "file", "format", "length", "limit",
    "max", "method", "min", "mode", "name", "path", "policy", "provider", "scheme", "size",
    "timeout", "ttl", "type", "uri", "url", "usage",
];

/// Last words of names that are about the way of logging in.
const ABOUT_ACCESS: &[&str] = &[
    "algorithm",
    "audience",
    "domain",
    "host",
    "issuer",
    "port",
    "prefix",
    "realm",
    "region",
    "scope",
    "server",
    "suffix",
];

/// First words of options that take no value.
const SWITCHES: &[&str] = &["disable", "enable", "no", "skip", "use", "without"];

/// Splits a name at everything but letters and digits, and before a capital after a small letter.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous = ' ';
    for c in name.chars() {
        let starts = c.is_ascii_uppercase() && previous.is_ascii_lowercase();
        if starts || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.push(c.to_ascii_lowercase());
        }
        previous = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known() {
        for name in [
            "--token",
            "API_KEY",
            "password",
            "--api-key",
            "apiKey",
            "APIKEY",
            "x-api-key",
            "--key",
            "OPENAI_API_KEY",
            "ANTHROPIC_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "GITHUB_TOKEN",
            "github_personal_access_token",
            "accessToken",
            "authtoken",
            "PGPASSWORD",
            "MYSQL_PWD",
            "DB_PASS",
            "--pass",
            "client_secret",
            "clientSecret",
            "Authorization",
            "--auth",
            "PRIVATE_KEY",
            "private-key",
            "SENTRY_DSN",
            "connection_string",
            "Cookie",
            "refresh_token",
            "API_TOKENS",
            "api_keys",
            "API_KEY_2",
            "passphrase",
            "credentials",
            "JWT",
        ] {
            assert!(looks_secret(name), "{name}");
        }
    }

    #[test]
    fn other_names_are_not() {
        for name in [
            "",
            "-",
            "max_tokens",
            "maxTokens",
            "--max-tokens",
            "tokens",
            "token_count",
            "token_limit",
            "tokenizer",
            "next_token",
            "next_page_token",
            "progressToken",
            "eos_token",
            "max_token",
            "primary_key",
            "sort_key",
            "public_key",
            "cache-key",
            "keyboard",
            "monkey",
            "keys",
            "key_count",
            "author",
            "authority",
            "oauth_url",
            "auth_method",
            "--no-auth",
            "--use-token",
            "passenger",
            "bypass",
            "compass",
            "pass_through",
            "secretary",
            "password_file",
            "token-path",
            "TOKEN_URL",
            "PWD",
            "OLDPWD",
            "path",
            "PATH",
            "--verbose",
            "url",
            "message",
            "patch",
            "pattern",
            "session",
        ] {
            assert!(!looks_secret(name), "{name}");
        }
    }
}
