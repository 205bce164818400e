//! Masks secrets in the entries of config files and leaves everything else visible.
//!
//! All code that shows an entry calls this module and names the reader with a [`MaskPolicy`]. A
//! reference such as `${TOKEN}` is never a secret. The definition of a secret is in
//! [`secret`](crate::secret). Foreign texts, such as a server's stderr, go through a
//! [`Redactor`](crate::secret::Redactor) instead.

mod entry;
mod learn;

use serde_json::Value;

use crate::secret::{MASK, SafeUrl, looks_secret, mask_args};

pub use entry::{COMMAND, ENV, Fact, HEADERS, URL, facts, is_of, mask_entry, mask_entry_with};
pub use learn::{learn_server, learn_variables};

/// Authentication schemes: words before a token that are not part of it.
const SCHEMES: &[&str] = &["Bearer", "Basic", "Token", "Digest"];

/// The reader of a masked text, which decides what is masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaskPolicy {
    /// A person who decides about the entry at a terminal: every literal is shown whole, because a mask
    /// could hide code.
    Terminal,
    /// A report of the same decision that may end up in a log: secrets are masked, unless they may be code.
    Report,
    /// A record or a lock file: everything that looks like a secret is masked.
    Lock,
    /// A log: like a lock file, and literal values of variables are masked too.
    Log,
    /// A listing of config files: like a lock file, but variables are also masked by their values, and a
    /// text with a secret in it shows nothing but its references.
    Listing,
}

/// Masks a value whose name says that it is secret, except for references and the authentication scheme.
pub fn secret(text: &str, policy: MaskPolicy) -> String {
    let pieces = pieces(text).into_iter();
    pieces
        .map(|piece| match piece {
            Piece::Reference { name, default } => hidden_default(name, default, policy),
            Piece::Literal(literal) => secret_literal(literal),
        })
        .collect()
}

fn secret_literal(literal: &str) -> String {
    if literal.trim().is_empty() {
        return literal.to_owned();
    }
    // Alone, a word such as `Token` may as well be a password.
    let Some(rest) = behind_scheme(literal) else {
        return MASK.to_owned();
    };
    let scheme = literal.strip_suffix(rest).unwrap_or_default();
    let rest = if rest.trim().is_empty() { rest } else { MASK };
    format!("{scheme}{rest}")
}

/// Writes a reference with its default masked. A listing may show that the default is empty.
fn hidden_default(name: &str, default: Option<&str>, policy: MaskPolicy) -> String {
    let is_shown = |default: &str| default.is_empty() && policy == MaskPolicy::Listing;
    let shown = default.map(|default| if is_shown(default) { "" } else { MASK });
    reference(name, shown)
}

/// The text after an authentication scheme: `x` in `Bearer x`.
fn behind_scheme(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once(' ')?;
    let mut schemes = SCHEMES.iter();
    schemes
        .any(|scheme| first.eq_ignore_ascii_case(scheme))
        .then_some(rest)
}

/// Masks the secrets in a text whose name reveals nothing.
fn plain(text: &str) -> String {
    arguments(&[text], MaskPolicy::Lock).concat()
}

/// Masks the secrets in the arguments of a command.
pub fn arguments(args: &[&str], policy: MaskPolicy) -> Vec<String> {
    if policy == MaskPolicy::Terminal {
        return args.iter().map(|arg| (*arg).to_owned()).collect();
    }
    let owned: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let mut before = "";
    let masked = args.iter().zip(mask_args(&owned));
    masked
        .map(|(arg, masked)| {
            // Code after `-c` and the like must stay visible in a report.
            let is_behind_flag = takes_code(std::mem::replace(&mut before, arg));
            if policy == MaskPolicy::Listing {
                let is_masked = masked != *arg && arg.contains("${");
                if is_masked {
                    secret(arg, policy)
                } else {
                    masked
                }
            } else if arg.contains("${")
                && arg.contains("://")
                && !arg.contains(char::is_whitespace)
            {
                url(arg, policy)
            } else if (masked == *arg && !has_secret_default(arg))
                || (policy == MaskPolicy::Report && may_be_code(arg, is_behind_flag))
            {
                (*arg).to_owned()
            } else if !arg.contains("${") {
                masked
            } else if masked == MASK {
                secret(arg, policy)
            } else {
                around_references(arg)
            }
        })
        .collect()
}

/// Returns true if a reference with a secret name has a default, which is then a secret itself.
fn has_secret_default(text: &str) -> bool {
    let mut pieces = pieces(text).into_iter();
    pieces.any(|piece| match piece {
        Piece::Reference { name, default } => default.is_some() && looks_secret(name),
        Piece::Literal(_) => false,
    })
}

/// Masks the secrets in a URL: user and password, values of the query, the fragment.
///
/// References stay visible in parts that are shown, and are masked together with parts that are not.
pub fn url(text: &str, policy: MaskPolicy) -> String {
    // A URL with references does not parse, so each reference is replaced by a unique word first and
    // restored at the end.
    let mut stand_ins: Vec<(String, String)> = Vec::new();
    let mut whole = String::new();
    let mut number = 1000_u32;
    for piece in pieces(text) {
        match piece {
            Piece::Literal(literal) => whole.push_str(literal),
            Piece::Reference { name, default } => {
                let is_port = whole.ends_with(':');
                // A word that is not in the text; after a colon a number, because it may be a port.
                let stand_in = loop {
                    number += 1;
                    let stand_in = if is_port {
                        number.to_string()
                    } else {
                        format!("reference-{number}")
                    };
                    if !text.contains(&stand_in) {
                        break stand_in;
                    }
                };
                whole.push_str(&stand_in);
                let shown = match policy {
                    MaskPolicy::Listing => hidden_default(name, default, policy),
                    _ => reference(name, default.map(plain).as_deref()),
                };
                stand_ins.push((stand_in, shown));
            }
        }
    }
    let restore = |masked: String| {
        let stand_ins = stand_ins.iter();
        stand_ins.fold(masked, |text, (stand_in, shown)| {
            text.replace(stand_in, shown)
        })
    };
    if policy == MaskPolicy::Listing {
        let safe = SafeUrl::parse(&whole);
        return safe.map_or_else(|_| secret(text, policy), |url| restore(url.to_string()));
    }
    // A URL that begins with a reference may get its scheme from it.
    let scheme = if whole.contains("://") { "" } else { "http://" };
    let masked = match url::Url::parse(&format!("{scheme}{whole}")) {
        Ok(_) => mask_args(&[format!("{scheme}{whole}")]).concat(),
        // Not a URL, so nothing tells its parts apart; but the text before the query is likely an address.
        Err(_) => match whole.split_once(['?', '#', '@']) {
            Some((before, _)) => format!("{scheme}{} {MASK}", plain(before)),
            None => format!("{scheme}{}", mask_args(&[whole]).concat()),
        },
    };
    restore(masked.strip_prefix(scheme).unwrap_or(&masked).to_owned())
}

/// Masks the literals between references, and the references' defaults, in a text that has a secret.
fn around_references(text: &str) -> String {
    let pieces = pieces(text).into_iter();
    pieces
        .map(|piece| match piece {
            Piece::Reference { name, default } => reference(name, default.map(|_| MASK)),
            Piece::Literal(literal) => mask_args(&[literal.to_owned()]).concat(),
        })
        .collect()
}

/// Masks the defaults of references.
pub fn references(references: &[String]) -> Vec<String> {
    let references = references.iter();
    references
        .map(|reference| {
            let masked = secret(reference, MaskPolicy::Lock);
            // Values of this list are references even if they do not look like one.
            if masked == MASK {
                plain(reference)
            } else {
                masked
            }
        })
        .collect()
}

/// Masks the value of a variable for a listing, judging by its name and by the value.
fn variable(name: &str, text: &str) -> String {
    if text.contains("${") {
        return secret(text, MaskPolicy::Listing);
    }
    let masked = mask_args(&[format!("{name}={text}")]).concat();
    let shown = masked.strip_prefix(name);
    let shown = shown.and_then(|rest| rest.strip_prefix('='));
    // The name itself was masked, so it was not a name.
    shown.map_or_else(|| secret(text, MaskPolicy::Listing), str::to_owned)
}

/// A part of a text before expansion.
enum Piece<'a> {
    Literal(&'a str),
    Reference {
        name: &'a str,
        default: Option<&'a str>,
    },
}

/// Splits a text into literals and `${NAME}` or `${NAME:-default}` references.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, from)) = rest.split_once("${") {
        let Some((inside, after)) = from.split_once('}') else {
            break;
        };
        found.push(Piece::Literal(before));
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        found.push(Piece::Reference { name, default });
        rest = after;
    }
    found.push(Piece::Literal(rest));
    found
}

fn reference(name: &str, default: Option<&str>) -> String {
    match default {
        Some(default) => format!("${{{name}:-{default}}}"),
        None => format!("${{{name}}}"),
    }
}

/// Returns true if the argument after this flag is code, for the common interpreters.
fn takes_code(flag: &str) -> bool {
    let lower = flag.to_ascii_lowercase();
    let letters = lower.strip_prefix('-').unwrap_or_default();
    let is_short = letters.len() <= 4 && letters.chars().all(|c| c.is_ascii_alphabetic());
    matches!(
        lower.as_str(),
        "--eval" | "--print" | "--exec" | "--execute" | "--command" | "-command" | "/c" | "/k"
    ) || (is_short && letters.ends_with(['c', 'e', 'p', 'r']))
        || (letters.len() > 1 && "encodedcommand".starts_with(letters))
}

/// Returns true if an argument may be code, so that a mask could hide its effect.
fn may_be_code(arg: &str, is_behind_flag: bool) -> bool {
    let literals = pieces(arg).into_iter().map(|piece| match piece {
        Piece::Literal(literal) => literal,
        Piece::Reference { default, .. } => default.unwrap_or_default(),
    });
    let literal: String = literals.collect();
    let is_name = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
    };
    // `API_KEY=x` and `Authorization: Bearer x` cannot run anything, as long as x is a plain word.
    let named = literal
        .split_once(": ")
        .map(|(name, value)| (name, behind_scheme(value).unwrap_or(value)))
        .or_else(|| literal.split_once('='));
    if let Some((name, value)) = named
        && is_name(name)
        && value.chars().all(is_harmless)
    {
        return false;
    }
    if is_behind_flag {
        return true;
    }
    if literal.contains("://")
        && literal
            .chars()
            .all(|c| is_harmless(c) || "&?#[]".contains(c))
    {
        return false;
    }
    let is_document =
        literal.starts_with(['{', '[']) && serde_json::from_str::<Value>(&literal).is_ok();
    !is_document && !literal.chars().all(is_harmless)
}

/// Returns true for characters that have no special meaning to any interpreter.
fn is_harmless(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.~+/=:@%,".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: MaskPolicy = MaskPolicy::Listing;

    #[test]
    fn references_are_shown_and_what_is_around_them_is_not() {
        for policy in [LISTING, MaskPolicy::Lock] {
            let secret = |text| secret(text, policy);
            assert_eq!(secret("hunter2"), "***");
            assert_eq!(secret(""), "");
            assert_eq!(secret("Bearer ${TOKEN}"), "Bearer ${TOKEN}");
            assert_eq!(secret("Bearer abc"), "Bearer ***");
            assert_eq!(secret("a${B:-c}d"), "***${B:-***}***");
            assert_eq!(secret("${unclosed"), "***");
        }
        assert_eq!(secret("${B:-}", LISTING), "${B:-}");
        assert_eq!(secret("${B:-}", MaskPolicy::Lock), "${B:-***}");
    }

    #[test]
    fn a_url_keeps_what_leads_somewhere() {
        let url = |text| url(text, LISTING);
        assert_eq!(url("https://example.com/mcp"), "https://example.com/mcp");
        assert_eq!(
            url("https://u:p@example.com/mcp?key=hunter2"),
            "https://***@example.com/mcp?key=***"
        );
        assert_eq!(
            url("https://${HOST}/mcp?key=${KEY}"),
            "https://${HOST}/mcp?key=***"
        );
        assert_eq!(url("${BASE}/mcp"), "${BASE}***");
    }

    #[test]
    fn variables_are_masked_where_they_are_secrets() {
        let entry = serde_json::json!({"env": {
            "API_KEY": "hunter2", "LOG_LEVEL": "WARNING", "DATA_DIR": "/srv/data", "N": 5,
            "DATABASE_URL": "postgres://me:hunter2@localhost/db", "T": "a${T:-hunter2}",
        }});
        let shown = serde_json::json!({"env": {
            "API_KEY": "***", "LOG_LEVEL": "WARNING", "DATA_DIR": "/srv/data", "N": 5,
            "DATABASE_URL": "postgres://***@localhost/db", "T": "***${T:-***}",
        }});
        assert_eq!(mask_entry(&entry, LISTING), shown);
    }

    #[test]
    fn each_policy_masks_what_its_readers_may_not_see() {
        let entry = serde_json::json!({
            "command": "sh",
            "args": ["-c", "curl -H 'X: ghp_canarycanarycanary' x", "--token", "hunter2"],
            "env": {"LANG": "C", "NODE_OPTIONS": "--require ./ghp_canarycanarycanary.js"},
            "headers": {"X-Team": "seven"},
        });
        let at = |policy: MaskPolicy, pointer: &str| {
            let masked = mask_entry(&entry, policy);
            masked.pointer(pointer).cloned().unwrap()
        };
        assert_eq!(mask_entry(&entry, MaskPolicy::Terminal), entry);
        let all = [
            MaskPolicy::Report,
            MaskPolicy::Lock,
            MaskPolicy::Log,
            MaskPolicy::Listing,
        ];
        for policy in all {
            assert_eq!(at(policy, "/args/3"), "***", "{policy:?}");
            assert_eq!(at(policy, "/headers/X-Team"), "***", "{policy:?}");
            // What may be code is whole in a report and nowhere else.
            let is_whole = policy == MaskPolicy::Report;
            for pointer in ["/args/1", "/env/NODE_OPTIONS"] {
                let shown = at(policy, pointer).to_string();
                assert_eq!(shown.contains("canary"), is_whole, "{policy:?} {shown}");
            }
            let lang = if policy == MaskPolicy::Log {
                "***"
            } else {
                "C"
            };
            assert_eq!(at(policy, "/env/LANG"), lang, "{policy:?}");
        }
    }

    #[test]
    fn the_secrets_of_a_login_are_masked_but_for_the_person_who_decides() {
        let entry = serde_json::json!({"oauth": {"client_secret": "hunter2"}});
        assert_eq!(mask_entry(&entry, MaskPolicy::Terminal), entry);
        for policy in [
            MaskPolicy::Report,
            MaskPolicy::Lock,
            MaskPolicy::Log,
            MaskPolicy::Listing,
        ] {
            for (secret, key) in [
                ("client_secret", "client_key"),
                ("clientSecret", "clientKey"),
            ] {
                let entry = serde_json::json!({"url": "https://example.com/mcp", "oauth": {
                    "client_id": "app", secret: "hunter2", key: "-----BEGIN PRIVATE KEY-----\nAAAA",
                    "issuer": "https://id.example.com",
                }});
                let shown = mask_entry(&entry, policy);
                let expected = serde_json::json!({"url": "https://example.com/mcp", "oauth": {
                    "client_id": "app", secret: "***", key: "***",
                    "issuer": "https://id.example.com",
                }});
                assert_eq!(shown, expected, "{policy:?}");
                let filled = serde_json::json!({"oauth": {secret: "${SECRET}"}});
                assert_eq!(mask_entry(&filled, policy), filled, "{policy:?}");
            }
        }
    }
}
