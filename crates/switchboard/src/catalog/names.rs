//! The names that models see.
//!
//! # Why two tools never have the same name
//! A plain name can be read one way only. In `mcp__server__tool` the server has no `__` and does not
//! end in `_`, so the first `__` after the head is the one that separates. In `mcp_server_tool` the
//! server has no `_` at all, so the first `_` separates; and what follows the head is no `_`, so it is
//! never a name of the other style. Whatever cannot be written like that ends in `_` and 16 digits of
//! a hash over both names, and a plain name that looks like that is given one too: the two kinds never
//! meet. What is left is a collision of the hashes, which the snapshot looks for.

use std::ops::RangeInclusive;

use sha2::{Digest, Sha256};

use crate::spec::NameStyle;

/// The longest name that every model API takes.
const MOST: usize = 64;

/// Digits of the hash.
const DIGITS: usize = 16;

/// The most characters of a tool's name that a long server name leaves room for.
const TOOL: usize = 24;

/// The form of the names that a host gives to tools and prompts, in place of those for models.
///
/// All servers of a host have it: without a prefix, names of two styles could not be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub struct ExposedNames {
    most: usize,
}

impl ExposedNames {
    /// The length that leaves clients room for a prefix of their own.
    pub const DEFAULT_LENGTH: usize = 46;

    /// The lengths that names can be given. A shorter one has no room for a hash and for letters.
    pub const LENGTHS: RangeInclusive<usize> = 24..=128;

    /// `server__tool`, without a prefix.
    pub fn unprefixed() -> Self {
        Self {
            most: Self::DEFAULT_LENGTH,
        }
    }

    /// Sets the most characters of a name; `None` if it is not among [`ExposedNames::LENGTHS`].
    pub fn length(self, most: usize) -> Option<Self> {
        Self::LENGTHS.contains(&most).then_some(Self { most })
    }
}

/// The form of a name: `head`, server, separator, tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameForm {
    head: &'static str,
    style: NameStyle,
    most: usize,
}

impl NameForm {
    /// The names that a host gives to the items of a server with that style.
    pub(crate) fn of(style: NameStyle, names: Option<ExposedNames>) -> Self {
        match names {
            None => Self::for_models(style),
            Some(ExposedNames { most }) => Self {
                head: "",
                style: NameStyle::Double,
                most,
            },
        }
    }

    fn for_models(style: NameStyle) -> Self {
        let head = match style {
            NameStyle::Double => "mcp__",
            NameStyle::Single => "mcp_",
        };
        let most = MOST;
        Self { head, style, most }
    }
}

/// Names a server's tool, or prompt, for models.
///
/// The name has at most 64 letters, digits, `_` and `-`. It depends on nothing but what is given, and
/// different pairs have different names.
///
/// ```
/// use switchboard::{catalog::exposed, spec::NameStyle};
///
/// assert_eq!(exposed("git", "log", NameStyle::Double), "mcp__git__log");
/// assert_eq!(exposed("git", "log", NameStyle::Single), "mcp_git_log");
/// assert_eq!(exposed("git", "log.all", NameStyle::Double), "mcp__git__log_all_475fcd5f254aa45e");
/// ```
#[doc(hidden)]
pub fn exposed(server: &str, tool: &str, style: NameStyle) -> String {
    exposed_as(server, tool, NameForm::for_models(style))
}

/// Names a server's tool, or prompt, in a form.
pub(crate) fn exposed_as(server: &str, tool: &str, form: NameForm) -> String {
    if is_plain(server, tool, form.style) {
        let plain = [form.head, server, separator(form.style), tool].concat();
        // A plain name that ends like a hash is hashed as well, so that the two kinds cannot be
        // confused.
        if plain.len() <= form.most && !looks_hashed(&plain) {
            return plain;
        }
    }
    hashed(server, tool, form)
}

/// Splits a name for models back into the server and the tool, without a catalog.
///
/// Works for every plain name, in both styles. A name that was shortened ends in a hash and leads to its tool
/// only through the [`Catalog`](super::Catalog) that has it.
///
/// ```
/// use switchboard::catalog::{SplitNameError, split_exposed};
///
/// assert_eq!(split_exposed("mcp__git__log"), Ok(("git", "log")));
/// assert_eq!(split_exposed("mcp_git_log"), Ok(("git", "log")));
/// assert_eq!(split_exposed("mcp__git__log_all_475fcd5f254aa45e"), Err(SplitNameError::Shortened));
/// assert_eq!(split_exposed("log"), Err(SplitNameError::NotExposed));
/// ```
///
/// # Errors
/// Fails if the name was shortened, or is not one that [`exposed`] makes.
pub fn split_exposed(name: &str) -> Result<(&str, &str), SplitNameError> {
    // The double style first: `mcp__` also begins with the head of the single style.
    let styles = [NameStyle::Double, NameStyle::Single].into_iter();
    let split = styles.map(|style| split_as(name, NameForm::for_models(style)));
    let mut found = split.filter(|found| *found != Err(SplitNameError::NotExposed));
    found.next().unwrap_or(Err(SplitNameError::NotExposed))
}

/// Splits a name of a form.
pub(crate) fn split_as(name: &str, form: NameForm) -> Result<(&str, &str), SplitNameError> {
    let rest = name.strip_prefix(form.head);
    let rest = rest.ok_or(SplitNameError::NotExposed)?;
    if looks_hashed(name) {
        return Err(SplitNameError::Shortened);
    }
    let pair = rest.split_once(separator(form.style));
    // Only a pair that is named like this again is the pair that was named.
    pair.filter(|(server, tool)| exposed_as(server, tool, form) == name)
        .ok_or(SplitNameError::NotExposed)
}

/// The reason why a name for models cannot be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitNameError {
    /// The name ends in a hash: only the catalog that has it knows its tool.
    #[error("the name was shortened, so only the catalog knows its server and tool")]
    Shortened,
    /// The name is not of the form `mcp__server__tool` or `mcp_server_tool`.
    #[error("not a name of the form mcp__server__tool or mcp_server_tool")]
    NotExposed,
}

fn separator(style: NameStyle) -> &'static str {
    match style {
        NameStyle::Double => "__",
        NameStyle::Single => "_",
    }
}

/// Checks that server and tool can be joined as they are and split again without doubt.
fn is_plain(server: &str, tool: &str, style: NameStyle) -> bool {
    // Only where the separator can be found again is the name reversible.
    let is_clear = match style {
        NameStyle::Double => !server.contains("__") && !server.ends_with('_'),
        NameStyle::Single => !server.contains('_'),
    };
    let is_usable = |name: &str| !name.is_empty() && name.bytes().all(is_allowed);
    is_clear && !tool.starts_with('_') && is_usable(server) && is_usable(tool)
}

fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Checks whether a name ends in a dash and a hash, as shortened names do.
fn looks_hashed(name: &str) -> bool {
    // From the end: the digits come last, after an underscore.
    let mut last = name.bytes().rev();
    let is_digit = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    last.by_ref().take(DIGITS).all(is_digit) && last.next() == Some(b'_')
}

/// The name with a hash: as much of both names as there is room for, then the digits.
fn hashed(server: &str, tool: &str, form: NameForm) -> String {
    let separator = separator(form.style);
    let mut name = String::with_capacity(form.most);
    name.push_str(form.head);
    // The number of characters left for the readable part.
    let head = form.most - DIGITS - 1;
    // The tool's name says more than the server's, so a long server leaves it some room.
    let both = head - name.len() - separator.len();
    let kept = tool.chars().take(TOOL.min(both * 3 / 5)).count();
    push_allowed(&mut name, server, both - kept);
    name.push_str(separator);
    let room = head.saturating_sub(name.len());
    push_allowed(&mut name, tool, room);
    name.push('_');
    let mut hash = Sha256::new();
    hash.update(server.as_bytes());
    // No server name has a NUL, so the two cannot be parted in two ways.
    hash.update([0]);
    hash.update(tool.as_bytes());
    for byte in hash.finalize().iter().take(DIGITS / 2) {
        let digits = [byte >> 4, byte & 0xf].map(|digit| char::from_digit(digit.into(), 16));
        name.extend(digits.into_iter().flatten());
    }
    name
}

/// Adds at most `most` characters, with `_` for each that is not allowed.
fn push_allowed(name: &mut String, text: &str, most: usize) {
    let allowed = |c: char| u8::try_from(c).is_ok_and(is_allowed);
    name.extend(
        text.chars()
            .take(most)
            .map(|c| if allowed(c) { c } else { '_' }),
    );
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn double(server: &str, tool: &str) -> String {
        exposed(server, tool, NameStyle::Double)
    }

    fn single(server: &str, tool: &str) -> String {
        exposed(server, tool, NameStyle::Single)
    }

    #[test]
    fn what_can_be_written_plainly_is() {
        assert_eq!(double("git", "log"), "mcp__git__log");
        assert_eq!(double("my_git", "a__b_"), "mcp__my_git__a__b_");
        assert_eq!(double("_git", "log"), "mcp___git__log");
        assert_eq!(single("git-2", "read_all"), "mcp_git-2_read_all");
        let (at, over) = ("t".repeat(64 - 8), "t".repeat(64 - 7));
        assert_eq!(double("s", &at), format!("mcp__s__{at}"));
        assert_eq!(double("s", &over).len(), 64);
        assert!(looks_hashed(&double("s", &over)));
    }

    #[test]
    fn a_plain_name_splits_into_the_pair_that_it_was_made_of() {
        let parts = [
            "a", "_", "a_", "_a", "a__b", "a-b", "a_b", "mcp", "9", "a___b", "é",
        ];
        let long = "t".repeat(60);
        for server in parts {
            for tool in parts.into_iter().chain([long.as_str()]) {
                for style in [NameStyle::Double, NameStyle::Single] {
                    let name = exposed(server, tool, style);
                    let expected = if looks_hashed(&name) {
                        Err(SplitNameError::Shortened)
                    } else {
                        Ok((server, tool))
                    };
                    assert_eq!(split_exposed(&name), expected, "{server} {tool} {name}");
                }
            }
        }
    }

    #[test]
    fn a_name_of_another_form_is_not_split() {
        for name in [
            "",
            "mcp",
            "mcp__",
            "mcp__a",
            "mcp__a__",
            "mcp____a",
            "echo",
            "a/b",
            "MCP__a__b",
        ] {
            assert_eq!(
                split_exposed(name),
                Err(SplitNameError::NotExposed),
                "{name}"
            );
        }
    }

    #[test]
    fn what_could_be_read_two_ways_gets_a_hash() {
        for (server, tool) in [
            ("a__b", "c"),
            ("a_", "b"),
            ("a", "_b"),
            ("a", "b_0123456789abcdef"),
            ("a", "b.c"),
            ("ä", "b"),
            ("a", ""),
            ("a", "b c"),
        ] {
            assert!(looks_hashed(&double(server, tool)), "{server} {tool}");
            assert!(looks_hashed(&single(server, tool)), "{server} {tool}");
        }
        assert!(looks_hashed(&single("a_b", "c")));
        assert!(!looks_hashed(&double("a_b", "c")));
        assert!(!looks_hashed(&double("a", "b_0123456789ABCDEF")));
        assert!(!looks_hashed(&double("a", "0123456789abcdef0")));
    }

    #[test]
    fn a_tool_whose_whole_name_is_digits_looks_hashed() {
        assert!(is_plain("a", "0123456789abcdef", NameStyle::Double));
        let name = double("a", "0123456789abcdef");
        assert_eq!(name.len(), "mcp__a__0123456789abcdef_".len() + DIGITS);
    }

    #[test]
    fn a_name_without_a_prefix_is_the_server_and_the_tool() {
        let form = NameForm::of(NameStyle::Single, Some(ExposedNames::unprefixed()));
        assert_eq!(exposed_as("my_git", "log", form), "my_git__log");
        assert_eq!(exposed_as("mcp", "a__b", form), "mcp__a__b");
        let (at, over) = ("t".repeat(46 - 3), "t".repeat(46 - 2));
        assert_eq!(exposed_as("s", &at, form), format!("s__{at}"));
        assert_eq!(
            exposed_as("s", &over, form),
            "s__tttttttttttttttttttttttttt_f020b17394785d7f"
        );
        let long = "x".repeat(200);
        assert_eq!(
            exposed_as(&long, "search_everything_there_is", form),
            "xxxxxxxxxxx__search_everythin_fa76407b3a79162b"
        );
        assert_eq!(split_as("my_git__log", form), Ok(("my_git", "log")));
        assert_eq!(split_as("log", form), Err(SplitNameError::NotExposed));
    }

    #[test]
    fn names_are_given_lengths_that_have_room_for_a_hash() {
        let names = ExposedNames::unprefixed();
        for (most, is_taken) in [(23, false), (24, true), (128, true), (129, false)] {
            assert_eq!(names.length(most).is_some(), is_taken, "{most}");
        }
    }

    /// Parts of names that are odd in every way that the rule speaks of.
    fn odd_name() -> impl Strategy<Value = String> {
        let parts = [
            "a",
            "b",
            "_",
            "__",
            "-",
            ".",
            "/",
            " ",
            "é",
            "\u{1f600}",
            "mcp",
            "0123456789abcdef",
            "_0123456789abcdef",
            "longer_than_most_names_are",
        ];
        prop::collection::vec(prop::sample::select(parts.to_vec()), 1..6)
            .prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn different_pairs_have_different_names_within_the_length(
            pairs in prop::collection::hash_set((odd_name(), odd_name()), 2..40),
            most in ExposedNames::LENGTHS,
        ) {
            let names = ExposedNames::unprefixed().length(most);
            let form = NameForm::of(NameStyle::Double, names);
            let exposed: HashSet<String> = pairs
                .iter()
                .map(|(server, tool)| exposed_as(server, tool, form))
                .collect();
            prop_assert_eq!(exposed.len(), pairs.len());
            for name in &exposed {
                prop_assert!(name.len() <= most && name.bytes().all(is_allowed), "{}", name);
            }
            for (server, tool) in &pairs {
                let name = exposed_as(server, tool, form);
                let split = split_as(&name, form);
                prop_assert!(split == Ok((server, tool)) || split == Err(SplitNameError::Shortened));
            }
        }
    }

    #[test]
    fn names_never_change_from_one_version_to_the_next() {
        let long = "x".repeat(200);
        assert_eq!(
            [
                double("a__b", "c"),
                single("a_b", "c"),
                double("日本", "天気"),
                double(&long, "search_everything_there_is"),
                double("s", &long),
                double(&long, &long),
            ],
            [
                "mcp__a__b__c_a92700ced282f8ea",
                "mcp_a_b_c_0c1d18f5e74d2786",
                "mcp_________75991c54e8b659c0",
                "mcp__xxxxxxxxxxxxxxxx__search_everything_there__fa76407b3a79162b",
                "mcp__s__xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_6982b69d21233f6f",
                "mcp__xxxxxxxxxxxxxxxx__xxxxxxxxxxxxxxxxxxxxxxxx_33946a1a501b8ea1",
            ]
        );
    }
}
