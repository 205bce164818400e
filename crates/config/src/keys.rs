//! The keys of config files: the name, type, default and meaning of each, one table for each object.
//!
//! Readers take names and ranges from these tables, and the JSON Schema and the reference of the
//! documentation are generated from them, so that neither can say something else than what is read.

/// A key of an object in a config file.
pub(super) struct Key {
    /// The name that we write.
    pub(super) name: &'static str,
    /// Names in other clients; `camelCase` forms of all names are understood without listing them.
    pub(super) aliases: &'static [&'static str],
    /// The kind of server that it applies to.
    pub(super) of: Of,
    pub(super) value: ValueType,
    /// The value without the key, for the documentation.
    pub(super) default: &'static str,
    /// The meaning, for the documentation and for editors: a fragment in Markdown.
    pub(super) about: &'static str,
}

/// The kind of server that a key applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Any,
    Process,
    Remote,
}

/// The values that a key accepts.
#[derive(Clone, Copy)]
pub(super) enum ValueType {
    Text,
    /// A text that starts with `http://` or `https://`.
    Url,
    Flag,
    /// A whole number, both ends included.
    Count(u64, u64),
    /// A number of bytes, or a text such as `"16 MiB"`; both ends included.
    Size(u64, u64),
    /// A number of seconds, or a text such as `"30s"`; in milliseconds, both ends included. From 0
    /// means: more than nothing.
    Time(u64, u64),
    /// A number from 0 to 1.
    Fraction,
    /// One of these words.
    Words(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// A list of texts, or one text with spaces between them.
    SpacedTexts,
    /// A list of names of tools, or `true` for all of them.
    TextsOrAll,
    /// An object with a text for each name: variables.
    Variables,
    /// An object with a text for each name: headers.
    Headers,
    /// A program: a text, or a list with its arguments.
    Program,
    /// An object with these keys.
    Object(&'static [Key]),
    /// An object with these keys, or `false`.
    ObjectOrOff(&'static [Key]),
    /// An object with names that the author chose, and an object with these keys for each.
    Named(&'static [Key]),
}

impl Key {
    pub(super) const fn new(name: &'static str, value: ValueType, about: &'static str) -> Self {
        Self {
            name,
            aliases: &[],
            of: Of::Any,
            value,
            default: "",
            about,
        }
    }

    /// Sets the default that the documentation names.
    pub(super) const fn or(mut self, default: &'static str) -> Self {
        self.default = default;
        self
    }

    /// Sets the names in other clients.
    pub(super) const fn also(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Restricts the key to servers that are started.
    pub(super) const fn of_processes(mut self) -> Self {
        self.of = Of::Process;
        self
    }

    /// Restricts the key to servers at a URL.
    pub(super) const fn of_remotes(mut self) -> Self {
        self.of = Of::Remote;
        self
    }

    /// Returns true if a word of a file is this key, in any of its spellings.
    pub(super) fn is_called(&self, word: &str) -> bool {
        let mut names = std::iter::once(&self.name).chain(self.aliases);
        names.any(|name| is_called(word, name))
    }
}

/// The names of keys, for messages.
pub(super) fn names(keys: &[Key]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).collect()
}

/// The range of a number; the whole range of numbers for a key of another type.
pub(super) fn range(keys: &[Key], name: &str) -> std::ops::RangeInclusive<u64> {
    let key = keys.iter().find(|key| key.name == name);
    match key.map(|key| key.value) {
        Some(
            ValueType::Count(least, most)
            | ValueType::Size(least, most)
            | ValueType::Time(least, most),
        ) => least..=most,
        _ => 0..=u64::MAX,
    }
}

/// Returns true if a key equals a name, also in camel case: `envPassthrough` for `env_passthrough`.
pub(super) fn is_called(key: &str, name: &str) -> bool {
    if key == name {
        return true;
    }
    // Compare with the camel case of `name` byte by byte, without building it.
    let mut key = key.bytes();
    let mut is_first = false;
    for byte in name.bytes() {
        if byte == b'_' {
            is_first = true;
            continue;
        }
        let wanted = if is_first {
            byte.to_ascii_uppercase()
        } else {
            byte
        };
        if key.next() != Some(wanted) {
            return false;
        }
        is_first = false;
    }
    key.next().is_none()
}
