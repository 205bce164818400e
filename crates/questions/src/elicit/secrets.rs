//! Detects fields that ask for secrets.
//!
//! 2025-11-25 and later: servers must not ask for secrets with a form. The check goes by words, so it can
//! be wrong both ways; it prefers false alarms, because a password that was typed cannot be taken back.

use super::field::{Field, Kind};
use switchboard_core::secret::looks_secret;
use switchboard_core::text::plain_letters;

/// Returns `true` if a field asks for a secret.
///
/// It does so by its format, by a name or a title that an option with a secret would have
/// ([`looks_secret`]), or by words in any of its texts: single words that are sufficient, and pairs such
/// as `api key`. A following word that makes it a property of the secret, such as its length, clears it.
/// Texts are checked both as written and as they look.
pub(super) fn asks(field: &Field, formats: &[String]) -> bool {
    // A value from a list, or a yes or no, is not a secret.
    if matches!(field.kind, Kind::Truth | Kind::One(_) | Kind::Many { .. }) {
        return false;
    }
    if formats
        .iter()
        .any(|format| format.trim().eq_ignore_ascii_case("password"))
    {
        return true;
    }
    // A name is judged more strictly than a description, which may mention passwords in passing.
    let named = [Some(field.name.as_str()), field.title.as_deref()];
    let mut named = named.into_iter().flatten();
    let mut described = field.description.as_deref().into_iter();
    let names = |name: &str| looks_secret(name) || mentions(name) || is_whole(name);
    named.any(|name| names(name) || names(&plain_letters(name)))
        || described.any(|text| mentions(text) || mentions(&plain_letters(text)))
}

/// Words that are sufficient, wherever they occur.
const WORDS: &[&str] = &[
    "adgangskode",
    "apikey",
    "contrasena",
    "contraseña",
    "credential",
    "credentials",
    "cvc",
    "cvv",
    "hasło",
    "kennwort",
    "lösenord",
    "mnemonic",
    "otp",
    "passcode",
    "passcodes",
    "passkey",
    "passwort",
    "salasana",
    "senha",
    "totp",
    "wachtwoord",
    "şifre",
];

/// Endings of words that are sufficient, alone or as the end of a longer word.
const ENDINGS: &[&str] = &[
    "passphrase",
    "passphrases",
    "passwd",
    "password",
    "passwords",
];

/// The same for languages without spaces between words, or with many endings.
const WITHIN: &[&str] = &[
    "парол",
    "口令",
    "密码",
    "密碼",
    "暗証番号",
    "パスワード",
    "비밀번호",
];

/// Pairs of words that do.
const PAIRS: &[(&str, &str)] = &[
    ("access", "key"),
    ("access", "token"),
    ("api", "key"),
    ("api", "secret"),
    ("api", "token"),
    ("auth", "code"),
    ("auth", "token"),
    ("authentication", "code"),
    ("authentication", "token"),
    ("authenticator", "code"),
    ("authorization", "code"),
    ("backup", "codes"),
    ("bearer", "token"),
    ("card", "number"),
    ("card", "pin"),
    ("client", "secret"),
    ("de", "passe"),
    ("encryption", "key"),
    ("factor", "code"),
    ("github", "token"),
    ("license", "key"),
    ("login", "code"),
    ("master", "key"),
    ("mfa", "code"),
    ("oauth", "token"),
    ("one", "time"),
    ("pass", "code"),
    ("pass", "key"),
    ("pass", "phrase"),
    ("pass", "word"),
    ("pin", "code"),
    ("pin", "number"),
    ("private", "key"),
    ("recovery", "code"),
    ("recovery", "key"),
    ("recovery", "phrase"),
    ("refresh", "token"),
    ("secret", "key"),
    ("secret", "phrase"),
    ("security", "code"),
    ("seed", "phrase"),
    ("session", "cookie"),
    ("session", "token"),
    ("signing", "key"),
    ("sms", "code"),
    ("ssh", "key"),
    ("verification", "code"),
    ("your", "pin"),
    ("your", "secret"),
    ("your", "token"),
];

/// Properties of a secret that are not secret themselves.
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
    // `password policy` or `token name` asks about a secret, not for one.
    let is_about = |at: usize| {
        words
            .get(at)
            .is_some_and(|next| ABOUT.contains(&next.as_str()))
    };
    let decides = |word: &str| {
        // A repeated field, as in `password2`.
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        WORDS.contains(&word)
            || ENDINGS.iter().any(|ending| word.ends_with(ending))
            || WITHIN.iter().any(|part| word.contains(part))
    };
    let alone = |(at, word): (usize, &String)| decides(word) && !is_about(at + 1);
    let paired = |(at, pair): (usize, &[String])| {
        let [first, second] = pair else { return false };
        let is_one =
            |(a, b): &(&str, &str)| first == a && (second == b || *second == format!("{b}s"));
        PAIRS.iter().any(is_one) && !is_about(at + 2)
    };
    words.iter().enumerate().any(alone) || words.windows(2).enumerate().any(paired)
}

/// The words of a text in small letters, also those of `camelCase` and those that are s p e l l e d.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut spelled = String::new();
    for word in split_words(text) {
        // Single letters in a row may spell a word: `p a s s w o r d`.
        if word.chars().nth(1).is_none() {
            spelled.push_str(&word);
            continue;
        }
        words.extend(together(&mut spelled));
        words.push(word);
    }
    words.extend(together(&mut spelled));
    words
}

/// Joins letters that were written separately: into one word if there are at least four.
fn together(spelled: &mut String) -> Vec<String> {
    let letters = std::mem::take(spelled);
    match letters.chars().count() {
        // Shorter runs are initials, not words in disguise.
        4.. => vec![letters],
        _ => letters.chars().map(String::from).collect(),
    }
}

fn split_words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous = ' ';
    for c in text.chars() {
        // At separators, and where camelCase begins a new word.
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
    use switchboard_wire::{ElicitParams, FromRaw, Raw};

    use crate::elicit::{ElicitLimits, Form};

    fn asks_for_secret(name: &str, field: &str) -> bool {
        let name = serde_json::Value::from(name);
        let text = format!(
            r#"{{"message":"?","requestedSchema":{{"type":"object","properties":{{{name}:{field}}}}}}}"#
        );
        let question = ElicitParams::from_raw(&Raw::parse(&text).unwrap()).unwrap();
        let form = Form::read(&question, &ElicitLimits::default()).unwrap();
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
            "PASSWORD",
            "PassWord",
            "pass_word",
            "passw0rd",
            "p@ssword",
            "password2",
            "new-password",
            "раsswоrd",
            "pass\u{200b}word",
            "ｐａｓｓｗｏｒｄ",
            "p_a_s_s_w_o_r_d",
            "𝐚𝐩𝐢_𝐤𝐞𝐲",
            "Passwort",
            "contraseña",
            "mot_de_passe",
            "пароль",
            "密码",
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
            "Type yourpassword",
            "P A S S W O R D",
            "Your pass phrase",
            "The code of your authenticator, that is the 2-factor code",
            "Ihr Passwort",
            "Введите пароль от почты",
            "パスワードを入力してください",
        ] {
            let field = format!(r#"{{"type":"string","description":"{words}"}}"#);
            assert!(asks_for_secret("value", &field), "{words}");
        }
        assert!(asks_for_secret(
            "value",
            r#"{"type":"string","format":"password"}"#
        ));
        let or_nothing = r#"{"anyOf":[{"type":"string","format":"password"},{"type":"null"}]}"#;
        assert!(asks_for_secret("value", or_nothing));
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
            "m4x_t0kens",
            "bypass_words",
            "size1",
            "a_b_c_d",
            "Größe",
            "имя",
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
