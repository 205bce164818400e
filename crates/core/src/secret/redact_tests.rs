//! Secrets in every form that a text may hold them in.

use proptest::prelude::*;

use super::*;

fn redact(secrets: &[&str], text: &str) -> String {
    secrets
        .iter()
        .collect::<Redactor>()
        .redact(text)
        .into_owned()
}

/// Base64 as everybody writes it, bit by bit.
fn base64(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let bits: Vec<u8> = bytes
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1))
        .collect();
    bits.chunks(6)
        .map(|chunk| {
            let value = (0..6).fold(0, |sum, at| sum << 1 | chunk.get(at).copied().unwrap_or(0));
            char::from(alphabet[usize::from(value)])
        })
        .collect()
}

#[test]
fn the_beginning_of_a_secret_is_found_where_a_text_was_cut() {
    let secrets: Redactor = ["correct horse"].into_iter().collect();
    for (text, shown) in [
        (
            "it is correct h… (4 more bytes) of it",
            "it is ***… (4 more bytes) of it",
        ),
        ("it is correct hor", "it is ***"),
        ("it is corre", "it is corre"),
        ("it is correct h, or so", "it is correct h, or so"),
    ] {
        assert_eq!(secrets.redact(text), shown);
    }
}

#[test]
fn a_text_without_secrets_is_borrowed() {
    let redactor: Redactor = ["canary"].into_iter().collect();
    let text = r"100% plain \n C:\path %41";
    assert!(matches!(redactor.redact(text), Cow::Borrowed(same) if same == text));
    assert!(matches!(Redactor::new().redact("canary"), Cow::Borrowed(_)));
}

#[test]
fn every_occurrence_is_masked() {
    assert_eq!(
        redact(&["canary"], "canary, canary and acanaryb"),
        "***, *** and a***b"
    );
}

#[test]
fn the_longer_of_two_nested_secrets_is_masked_whole() {
    assert_eq!(
        redact(&["pass", "password-1"], "password-1 pass"),
        "*** ***"
    );
    assert_eq!(
        redact(&["password-1", "pass"], "password-1 pass"),
        "*** ***"
    );
}

#[test]
fn overlapping_secrets_are_masked_together() {
    assert_eq!(redact(&["abcdef", "defghi"], "-abcdefghi-"), "-***-");
    assert_eq!(redact(&["abab"], "-ababab-"), "-***-");
}

#[test]
fn percent_encoded_secrets_are_masked_in_any_spelling() {
    let secret = ["p/ss w&rd"];
    for text in [
        "p%2Fss%20w%26rd",
        "p%2fss+w%26rd",
        "%70%2Fss%20w&rd",
        "p%252Fss%2520w%2526rd",
    ] {
        assert_eq!(
            redact(&secret, &format!("?a={text}&b=1")),
            "?a=***&b=1",
            "{text}"
        );
    }
}

#[test]
fn json_escaped_secrets_are_masked_in_any_spelling() {
    let secret = ["a\"b\\c/é🙂"];
    for text in [
        r#"a\"b\\c/é🙂"#,
        r#"a\"b\\c\/\u00e9\ud83d\ude42"#,
        r#"\u0061\u0022b\u005Cc/\u00E9🙂"#,
        r#"a\\\"b\\\\c/é🙂"#,
    ] {
        assert_eq!(
            redact(&secret, &format!(r#"{{"k":"{text}"}}"#)),
            r#"{"k":"***"}"#,
            "{text}"
        );
    }
}

#[test]
fn secrets_in_html_are_masked_in_any_spelling() {
    let secret = ["a<b&'c\"/é"];
    for text in [
        "a&lt;b&amp;&#39;c&quot;/é",
        "a&lt;b&amp;&apos;c&#34;&#x2F;&#xE9;",
        "&#97;&#60;b&#38;&#x27;c&#x22;/&#233;",
        "a&amp;lt;b&amp;amp;&amp;#39;c&amp;quot;/é",
        "a%26lt%3Bb%26amp%3B%26%2339%3Bc%26quot%3B/%C3%A9",
    ] {
        assert_eq!(
            redact(&secret, &format!("<b>{text}</b>")),
            "<b>***</b>",
            "{text}"
        );
    }
}

#[test]
fn secrets_in_hexadecimal_are_masked() {
    let secret = ["hunter-2é"];
    for text in [
        "68756e7465722d32c3a9",
        "68756E7465722D32C3A9",
        r"\x68\x75\x6e\x74\x65\x72\x2d\x32\xc3\xa9",
    ] {
        assert_eq!(
            redact(&secret, &format!("got {text}.")),
            "got ***.",
            "{text}"
        );
    }
}

#[test]
fn a_stray_escape_character_does_not_hide_an_encoded_secret() {
    assert_eq!(redact(&["aa%b"], "%aa%25b"), "%***");
    assert_eq!(redact(&["\"abc"], r#"\\"abc"#), "***");
}

#[test]
fn secrets_in_base64_are_masked_at_every_offset() {
    for user in ["", "u", "us", "use", "user:"] {
        for alphabet in BASE64 {
            let secret = "c\u{3ff}nary>?~";
            let text = base64(format!("{user}{secret}:rest").as_bytes(), alphabet);
            let shown = redact(&[secret], &text);
            assert!(shown.contains(MASK), "{text}");
            // Nothing is left but the digits that the neighbours own.
            let owned = base64(user.as_bytes(), alphabet).len() + base64(b":rest", alphabet).len();
            assert!(shown.len() - MASK.len() <= owned, "{text} {shown}");
        }
    }
}

#[test]
fn values_are_known_by_their_telling_parts() {
    let key = "-----BEGIN KEY-----\nMIIBVgIBADANBgkqhkiG\nend\n";
    assert_eq!(
        redact(&[key], "line MIIBVgIBADANBgkqhkiG end"),
        "line *** end"
    );
    assert_eq!(redact(&["canary\n"], "[canary]"), "[***]");
    assert_eq!(redact(&["Bearer canary"], "got canary"), "got ***");
}

#[test]
fn short_values_are_not_looked_for() {
    assert_eq!(redact(&["", " ", "abc", "ab "], "abc ab"), "abc ab");
    assert_eq!(redact(&["abcd"], "abcd"), "***");
}

#[test]
fn a_mask_does_not_complete_another_secret() {
    assert_eq!(redact(&["canary", "a***b"], "acanaryb"), "***");
    assert_eq!(redact(&["****"], "*********"), "***");
}

#[test]
fn debug_shows_no_secret() {
    let redactor: Redactor = ["canary"].into_iter().collect();
    assert_eq!(format!("{redactor:?}"), "Redactor(***)");
}

proptest! {
    #[test]
    fn no_secret_remains(
        secrets in prop::collection::vec("[ab*+/ %\"\\\\é]{4,8}|[a-zA-Z0-9]{4,20}", 1..5),
        noise in prop::collection::vec("[ab*%\\\\\"+ é&]{0,6}", 30),
    ) {
        let redactor: Redactor = secrets.iter().collect();
        let mut noise = noise.into_iter();
        let mut text = String::new();
        for secret in &secrets {
            let form: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
            let json = serde_json::Value::from(secret.as_str()).to_string();
            let html: String = secret.chars().map(|c| format!("&#{};", u32::from(c))).collect();
            let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
            for piece in [secret, &form, &json, &html, &hex] {
                text.push_str(&noise.next().unwrap_or_default());
                text.push_str(piece);
            }
        }
        let shown = redactor.redact(&text);
        for secret in &secrets {
            let secret = secret.trim();
            let form: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
            let json = serde_json::Value::from(secret).to_string();
            if secret.len() >= SHORTEST {
                prop_assert!(!shown.contains(secret), "{shown}");
                prop_assert!(!shown.contains(&form), "{shown}");
                // A quote that belongs to the secret stays.
                let json = &json[1..json.len() - 1];
                prop_assert!(!shown.contains(json), "{shown}");
                let html: String = secret.chars().map(|c| format!("&#{};", u32::from(c))).collect();
                prop_assert!(!shown.contains(&html), "{shown}");
                let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
                prop_assert!(!shown.contains(&hex), "{shown}");
            }
        }
        prop_assert_eq!(redactor.redact(&shown), shown.as_ref());
    }

    #[test]
    fn no_secret_remains_in_base64(before in ".{0,5}", secret in "[!-~é]{8,20}", after in ".{0,5}") {
        let redactor: Redactor = [&secret].into_iter().collect();
        for alphabet in BASE64 {
            let text = base64(format!("{before}{secret}{after}").as_bytes(), alphabet);
            let shown = redactor.redact(&text);
            prop_assert!(shown.len() < text.len(), "{shown}");
            prop_assert!(shown.contains(MASK));
        }
    }
}
