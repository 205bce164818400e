//! Recognises credentials by their shape alone.

/// Prefixes of tokens of well-known issuers, with the length of the shortest token. The lengths exclude
/// ordinary words: `sk-learn` and `npm_config` are not tokens.
const PREFIXES: &[(&str, usize)] = &[
    ("sk-", 16),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("whsec_", 16),
    ("gsk_", 16),
    ("xai-", 20),
    ("pplx-", 20),
    ("tvly-", 16),
    ("hf_", 16),
    ("r8_", 16),
    ("ghp_", 16),
    ("gho_", 16),
    ("ghu_", 16),
    ("ghs_", 16),
    ("ghr_", 16),
    ("github_pat_", 16),
    ("glpat-", 16),
    ("xoxa-", 12),
    ("xoxb-", 12),
    ("xoxc-", 12),
    ("xoxd-", 12),
    ("xoxe-", 12),
    ("xoxp-", 12),
    ("xoxr-", 12),
    ("xoxs-", 12),
    ("xapp-", 12),
    ("npm_", 36),
    ("pypi-", 36),
    ("dckr_pat_", 20),
    ("dop_v1_", 20),
    ("GOCSPX-", 20),
    ("hvs.", 20),
    ("sbp_", 20),
    ("shpat_", 20),
    ("lin_api_", 16),
    ("ntn_", 20),
    ("figd_", 16),
    ("SG.", 24),
    ("ya29.", 20),
    ("AIza", 30),
    ("AKIA", 20),
    ("ASIA", 20),
    ("eyJ", 16),
];

/// Returns true if a character can be part of a token.
pub(super) fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Returns true if a word is a token of a well-known issuer.
pub(super) fn has_known_prefix(word: &str) -> bool {
    PREFIXES
        .iter()
        .any(|(prefix, shortest)| word.len() >= *shortest && word.starts_with(prefix))
}

/// Returns true if a segment of a URL's path looks random rather than chosen by a person.
///
/// It has a known prefix; or at least 20 characters from letters, digits and `_ - . ~ + =`, including a
/// digit; or at least 32 letters without any separator. Dates and long versioned names may match too,
/// which only makes a log line less readable.
pub(super) fn looks_random(word: &str) -> bool {
    let in_alphabet = |c: char| is_token_char(c) || matches!(c, '~' | '+' | '=');
    if has_known_prefix(word) {
        return true;
    }
    if word.len() < 20 || !word.chars().all(in_alphabet) {
        return false;
    }
    word.contains(|c: char| c.is_ascii_digit())
        || (word.len() >= 32 && word.chars().all(|c| c.is_ascii_alphabetic()))
}

/// Returns true if a word of a command line looks random. Stricter than [`looks_random`], because
/// package names and folders are often long: at least 24 letters and digits, both, and nothing else.
pub(super) fn looks_like_a_key(word: &str) -> bool {
    word.len() >= 24
        && word.chars().all(|c| c.is_ascii_alphanumeric())
        && word.contains(|c: char| c.is_ascii_digit())
        && word.contains(|c: char| c.is_ascii_alphabetic())
}

/// Returns true if a word alternates between upper case, lower case and digits as only random words do:
/// at least 20 characters of base64, all three kinds, a change at nearly every second position.
pub(super) fn looks_mixed(word: &str) -> bool {
    let class = |byte: u8| match byte {
        b'A'..=b'Z' => Some(0),
        b'a'..=b'z' => Some(1),
        b'0'..=b'9' => Some(2),
        _ => None,
    };
    let in_alphabet = |byte: u8| class(byte).is_some() || b"+/=_-".contains(&byte);
    if word.len() < 20 || !word.bytes().all(in_alphabet) {
        return false;
    }
    let has_all = (0..3).all(|kind| word.bytes().any(|byte| class(byte) == Some(kind)));
    // Separators are ignored: versions and dates are full of them.
    let pairs = word.as_bytes().windows(2).filter_map(|pair| match pair {
        [first, second] => Some((class(*first)?, class(*second)?)),
        _ => None,
    });
    let changes = pairs.filter(|(first, second)| first != second).count();
    has_all && changes * 20 >= word.len() * 9
}

/// Returns true if a word is a secret by its shape alone.
pub(super) fn is_secret_word(word: &str) -> bool {
    has_known_prefix(word) || looks_like_a_key(word) || looks_mixed(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_known_issuers_are_known() {
        for token in [
            "sk-proj-abcdefghijkl",
            "ghp_abcdefghijklmnop",
            "github_pat_11AAAAAAA0",
            "xoxb-1234-5678-abcd",
            "AKIAIOSFODNN7EXAMPLE",
            "eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
        ] {
            assert!(has_known_prefix(token), "{token}");
        }
    }

    #[test]
    fn words_that_begin_like_tokens_are_not() {
        for word in [
            "sk-learn",
            "npm_config_registry",
            "AKIA",
            "SG.json",
            "eyJ",
            "hf_hub",
            "pypi-server",
        ] {
            assert!(!has_known_prefix(word), "{word}");
        }
    }

    #[test]
    fn long_words_with_digits_look_random_in_a_path() {
        assert!(looks_random("3f2c9a7e-1b4d-4c7e-9f00-aa11bb22cc33"));
        assert!(looks_random("abcdefghij1234567890"));
        assert!(looks_random(&"aB".repeat(16)));
        assert!(!looks_random("abcdefghij123456789"));
        assert!(!looks_random("streamable-http-transport"));
        assert!(!looks_random("mcp"));
        assert!(!looks_random(
            "日本語日本語日本語日本語12345678901234567890"
        ));
    }

    #[test]
    fn only_random_words_change_their_kind_at_every_second_place() {
        for random in [
            "wJ8lrXUt2FEm9/K7MdENg/bPxRf3CYq0Zk5vLt1e",
            "Zk3-9aQ_x7Lm2PvT0cRe",
            "kP9+vX2/qL7mNc4Td8Wz==",
        ] {
            assert!(looks_mixed(random), "{random}");
        }
        for chosen in [
            "v1.2.3-Beta.4-20260101",
            "GoogleAppEngine-Google2026-Project1",
            "America/Argentina/Buenos_Aires",
            "mcp-server-everything-2026-01-26",
            "Zk39aQx7Lm2PvT0cRe",
        ] {
            assert!(!looks_mixed(chosen), "{chosen}");
        }
    }

    #[test]
    fn a_command_line_word_must_be_long_and_mixed() {
        assert!(looks_like_a_key("0123456789abcdef01234567"));
        assert!(!looks_like_a_key("0123456789abcdef0123456"));
        assert!(!looks_like_a_key("mcp-server-everything-2026-01-26"));
        assert!(!looks_like_a_key("012345678901234567890123456789"));
        assert!(!looks_like_a_key("averylongwordmadeoflettersonly"));
    }
}
