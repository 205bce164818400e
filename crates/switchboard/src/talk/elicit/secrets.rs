//! Which fields ask for secrets.
//!
//! 2025-11-25 and later: servers must not ask for secrets with a form. The rule goes by words, so it can be wrong both ways;
//! it leans to the careful side, because whoever has typed a password cannot take it back.

use switchboard_protocol::Raw;

use super::field::{Field, Kind};
use crate::secret::looks_secret;

/// Whether a field asks for a secret.
///
/// By its format, by a name or a title that an option with a secret would have ([`looks_secret`]), or by words in any
/// of its texts: those that decide by themselves, and pairs such as `api key`; unless the next word says that it is about
/// something of the secret's, such as its length.
pub(super) fn asks(field: &Field, schema: &Raw) -> bool {
    // What can be told from a list, or is a yes, is nobody's secret.
    if matches!(field.kind, Kind::Truth | Kind::One(_) | Kind::Many { .. }) {
        return false;
    }
    let format = schema.member("format").and_then(|format| format.as_text());
    if format.is_some_and(|format| format.eq_ignore_ascii_case("password")) {
        return true;
    }
    let named = [Some(field.name.as_str()), field.title.as_deref()];
    let described = field.description.as_deref();
    let mut named = named.into_iter().flatten();
    named.any(|name| looks_secret(name) || mentions(name) || is_whole(name))
        || described.is_some_and(mentions)
}

/// Words that decide by themselves, wherever they stand.
const WORDS: &[&str] = &[
    "apikey",
    "credential",
    "credentials",
    "cvc",
    "cvv",
    "mnemonic",
    "otp",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "totp",
];

/// Pairs of words that do.
const PAIRS: &[(&str, &str)] = &[
    ("access", "key"),
    ("access", "token"),
    ("api", "key"),
    ("api", "secret"),
    ("api", "token"),
    ("auth", "token"),
    ("authentication", "code"),
    ("authentication", "token"),
    ("authorization", "code"),
    ("backup", "codes"),
    ("bearer", "token"),
    ("card", "number"),
    ("client", "secret"),
    ("encryption", "key"),
    ("github", "token"),
    ("license", "key"),
    ("login", "code"),
    ("mfa", "code"),
    ("oauth", "token"),
    ("one", "time"),
    ("pin", "code"),
    ("private", "key"),
    ("recovery", "code"),
    ("recovery", "phrase"),
    ("refresh", "token"),
    ("secret", "key"),
    ("security", "code"),
    ("seed", "phrase"),
    ("session", "cookie"),
    ("session", "token"),
    ("signing", "key"),
    ("ssh", "key"),
    ("verification", "code"),
    ("your", "pin"),
    ("your", "secret"),
    ("your", "token"),
];

/// What a secret may have that is none itself.
const ABOUT: &[&str] = &[
    "age",
    "expiry",
    "field",
    "file",
    "format",
    "hint",
    "id",
    "label",
    "length",
    "lifetime",
    "limit",
    "manager",
    "name",
    "path",
    "policy",
    "protected",
    "protection",
    "reset",
    "rotation",
    "rules",
    "scope",
    "scopes",
    "store",
    "strength",
    "ttl",
    "type",
    "url",
];

/// Names that are one word and mean a secret.
fn is_whole(name: &str) -> bool {
    matches!(
        name.trim().to_lowercase().as_str(),
        "pin" | "pin code" | "secret"
    )
}

fn mentions(text: &str) -> bool {
    let words = words(text);
    let is_about = |at: usize| {
        words
            .get(at)
            .is_some_and(|next| ABOUT.contains(&next.as_str()))
    };
    let alone = |(at, word): (usize, &String)| WORDS.contains(&word.as_str()) && !is_about(at + 1);
    let paired = |(at, pair): (usize, &[String])| {
        let [first, second] = pair else { return false };
        let is_one =
            |(a, b): &(&str, &str)| first == a && (second == b || *second == format!("{b}s"));
        PAIRS.iter().any(is_one) && !is_about(at + 2)
    };
    words.iter().enumerate().any(alone) || words.windows(2).enumerate().any(paired)
}

/// The words of a text in small letters, also those of `camelCase`.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous = ' ';
    for c in text.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && previous.is_lowercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        previous = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use switchboard_protocol::{ElicitParams, FromRaw};

    use super::*;
    use crate::talk::elicit::{Bounds, Form};

    fn asks_for_secret(name: &str, field: &str) -> bool {
        let name = serde_json::Value::from(name);
        let text = format!(
            r#"{{"message":"?","requestedSchema":{{"type":"object","properties":{{{name}:{field}}}}}}}"#
        );
        let question = ElicitParams::from_raw(&Raw::parse(&text).unwrap()).unwrap();
        let form = Form::read(&question, &Bounds::default()).unwrap();
        form.asks_for_secret().is_some()
    }

    #[test]
    fn fields_that_ask_for_secrets_are_known_by_name_title_description_and_format() {
        let text = r#"{"type":"string"}"#;
        for name in [
            "password",
            "api_key",
            "apiKey",
            "token",
            "access_token",
            "secret",
            "client_secret",
            "PIN",
            "cvv",
            "credit_card_number",
            "db_pass",
            "otp",
            "privateKey",
            "ssh-key",
        ] {
            assert!(asks_for_secret(name, text), "{name}");
        }
        for title in [
            "Your password",
            "API key",
            "Personal access token",
            "Seed phrase",
            "Card number",
            "Token",
        ] {
            let field = format!(r#"{{"type":"string","title":"{title}"}}"#);
            assert!(asks_for_secret("value", &field), "{title}");
        }
        for words in [
            "Paste your API token here",
            "The password of your account, at least 8 in length",
            "The one-time code that we have sent",
            "Your GitHub personal access token (classic)",
            "Three digits (CVV) on the back",
            "Your credentials",
            "Enter the verification code from your phone",
            "Give us your private keys",
        ] {
            let field = format!(r#"{{"type":"string","description":"{words}"}}"#);
            assert!(asks_for_secret("value", &field), "{words}");
        }
        assert!(asks_for_secret(
            "value",
            r#"{"type":"string","format":"password"}"#
        ));
        assert!(asks_for_secret("pin", r#"{"type":"integer"}"#));
    }

    #[test]
    fn fields_that_only_sound_like_it_are_not_taken_for_secrets() {
        for name in [
            "max_tokens",
            "maxTokens",
            "name",
            "username",
            "sort_key",
            "page_token",
            "password_length",
            "token_limit",
            "keyboard",
            "author",
            "monkey",
            "secretary",
            "passenger",
            "compass",
            "spinner",
            "opinion",
            "public_key",
        ] {
            assert!(!asks_for_secret(name, r#"{"type":"string"}"#), "{name}");
        }
        for words in [
            "The most tokens that the answer may have",
            "Number of tokens to generate",
            "The key to sort by",
            "Press any key",
            "How long a password reset link is good for",
            "The name of your secretary",
            "Password length",
            "Which card to draw",
            "The number on the card that you drew",
            "The path of the credentials file",
            "The verification method",
        ] {
            let field = format!(r#"{{"type":"string","description":"{words}"}}"#);
            assert!(!asks_for_secret("value", &field), "{words}");
        }
        assert!(!asks_for_secret("show_password", r#"{"type":"boolean"}"#));
        assert!(!asks_for_secret(
            "token",
            r#"{"type":"string","enum":["short","long"]}"#
        ));
    }
}
