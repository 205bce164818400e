//! Links that a server wants the user to open.

use std::fmt;
use std::net::IpAddr;

use url::{Host, Position, Url, quirks};

use super::limits::ElicitLimits;
use switchboard_core::secret::SafeUrl;

/// An address that the user may be sent to: `https`, or `http` on this machine, without a user name in
/// it. This crate never fetches it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    url: SafeUrl,
    unicode: Option<String>,
    warnings: Vec<Warning>,
}

/// A warning to show before the user opens a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The host's name has letters beyond those of ASCII, which can look like others.
    NotAscii,
    /// A part of the host's name has letters of several alphabets.
    Mixed,
    /// The host is a number, not a name.
    Number,
    /// It leads to this machine.
    Here,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAscii => "the host's name has letters that can look like others",
            Self::Mixed => "the host's name mixes letters of several alphabets, as names do that imitate others",
            Self::Number => "the host is an address, not a name",
            Self::Here => "it leads to a program on this machine",
        })
    }
}

/// The reason why a link is refused. It does not quote the address.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseLinkError {
    /// It is not an absolute URL.
    NoUrl,
    /// It is too long.
    Long {
        /// The most bytes that are taken.
        most: usize,
    },
    /// It has white space, control characters or backslashes, which programs read in different ways.
    Odd,
    /// It is of another scheme than `https`, such as `javascript`.
    Scheme(String),
    /// It is `http` to another machine.
    Plain,
    /// It has a user name or a password before the host.
    User,
}

impl fmt::Display for ParseLinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoUrl => f.write_str("the url is no absolute URL"),
            Self::Long { most } => write!(f, "the url has more than {most} bytes"),
            Self::Odd => {
                f.write_str("the url has white space, control characters or backslashes in it")
            }
            Self::Scheme(scheme) => write!(f, "people are sent to https alone, not to {scheme:?}"),
            Self::Plain => f.write_str("people are sent to http on their own machine alone"),
            Self::User => f.write_str("the url has a user name in it"),
        }
    }
}

impl std::error::Error for ParseLinkError {}

impl Link {
    /// Reads an address.
    ///
    /// # Errors
    /// Fails if the user should not be sent to this address.
    pub fn parse(text: &str, limits: &ElicitLimits) -> Result<Self, ParseLinkError> {
        // The length first, so that the parser's work is bounded.
        if text.len() > limits.url_bytes {
            let most = limits.url_bytes;
            return Err(ParseLinkError::Long { most });
        }
        // URL parsers of browsers drop or replace these characters: the user would see another URL than
        // was sent.
        if text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\') {
            return Err(ParseLinkError::Odd);
        }
        let url = Url::parse(text).map_err(|_| ParseLinkError::NoUrl)?;
        let host = url.host().map(|host| host.to_owned());
        // Plain http only to this machine, where no one can listen on the way.
        match (url.scheme(), &host) {
            ("https", Some(_)) => {}
            ("http", Some(host)) if is_here(host) => {}
            ("http", _) => return Err(ParseLinkError::Plain),
            ("https", None) => return Err(ParseLinkError::NoUrl),
            (scheme, _) => {
                return Err(ParseLinkError::Scheme(switchboard_core::text::excerpt(
                    scheme, 40,
                )));
            }
        }
        // Browsers accept any number of slashes before the host; other parsers take the rest for a path.
        let authority = text.split_once("://").map(|(_, rest)| rest);
        let before = authority.and_then(|rest| rest.split(['/', '?', '#']).next());
        let before = before
            .filter(|it| !it.is_empty())
            .ok_or(ParseLinkError::NoUrl)?;
        // `https://bank.example@evil.example` reads as the bank. An empty user name is dropped by
        // the parser, so the text is searched too.
        if !url.username().is_empty() || url.password().is_some() || before.contains('@') {
            return Err(ParseLinkError::User);
        }
        let host = host.ok_or(ParseLinkError::NoUrl)?;
        let name = match &host {
            Host::Domain(name) => Some(quirks::domain_to_unicode(name)),
            _ => None,
        };
        // Shown beside the ASCII form, which alone says where the link leads.
        let unicode = name.filter(|name| !name.is_ascii());
        let mut warnings = Vec::new();
        if let Some(name) = &unicode {
            let is_mixed = name.split('.').any(is_mixed);
            warnings.push(if is_mixed {
                Warning::Mixed
            } else {
                Warning::NotAscii
            });
        }
        if is_here(&host) {
            warnings.push(Warning::Here);
        // A numeric address hides who owns it; this machine has a warning of its own.
        } else if !matches!(host, Host::Domain(_)) {
            warnings.push(Warning::Number);
        }
        Ok(Self {
            url: url.into(),
            unicode,
            warnings,
        })
    }

    /// Returns the whole URL in ASCII: the host as it is looked up, everything else percent-encoded.
    pub fn whole(&self) -> &str {
        self.url.expose().as_str()
    }

    /// Returns the host as it is looked up.
    pub fn host(&self) -> &str {
        self.url.expose().host_str().unwrap_or_default()
    }

    /// Returns the host in Unicode, if that differs from its ASCII form.
    pub fn unicode_host(&self) -> Option<&str> {
        self.unicode.as_deref()
    }

    /// Returns the URL in three parts: the part before the host, the host, and the rest.
    pub fn parts(&self) -> (&str, &str, &str) {
        let url = self.url.expose();
        (
            &url[..Position::BeforeHost],
            &url[Position::BeforeHost..Position::AfterHost],
            &url[Position::AfterHost..],
        )
    }

    /// Returns the warnings to show.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

fn is_here(host: &Host<String>) -> bool {
    match host {
        Host::Domain(name) => {
            // A fully qualified name may end with a dot.
            let name = name.strip_suffix('.').unwrap_or(name);
            name == "localhost" || name.ends_with(".localhost")
        }
        Host::Ipv4(address) => IpAddr::from(*address).is_loopback(),
        Host::Ipv6(address) => IpAddr::from(*address).to_canonical().is_loopback(),
    }
}

/// Returns `true` if a label mixes ASCII letters with others, or two alphabets that look alike.
fn is_mixed(label: &str) -> bool {
    let alphabet = |c: char| match c {
        'a'..='z' | 'A'..='Z' => Some(0),
        '\u{370}'..='\u{3ff}' => Some(1),
        '\u{400}'..='\u{52f}' => Some(2),
        '\u{530}'..='\u{58f}' => Some(3),
        // Many languages use Latin letters with and without marks side by side.
        '\u{c0}'..='\u{24f}' => Some(0),
        c if c.is_alphabetic() => Some(4),
        _ => None,
    };
    let mut seen = label.chars().filter_map(alphabet);
    let first = seen.next();
    seen.any(|alphabet| Some(alphabet) != first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(text: &str) -> Result<Link, ParseLinkError> {
        Link::parse(text, &ElicitLimits::default())
    }

    #[test]
    fn an_address_is_shown_whole_with_its_host_apart() {
        let link = link("https://login.example.com:8443/a/b?c=d&e#f").unwrap();
        assert_eq!(link.whole(), "https://login.example.com:8443/a/b?c=d&e#f");
        assert_eq!(link.host(), "login.example.com");
        let parts = ("https://", "login.example.com", ":8443/a/b?c=d&e#f");
        assert_eq!(link.parts(), parts);
        assert_eq!((link.unicode_host(), link.warnings()), (None, &[][..]));
        assert!(!format!("{link:?}").contains("c=d"), "{link:?}");
    }

    #[test]
    fn other_schemes_and_user_names_are_refused() {
        for (text, scheme) in [
            ("javascript:alert(1)", "javascript"),
            ("JaVaScRiPt://example.com/%0aalert(1)", "javascript"),
            ("file:///etc/passwd", "file"),
            ("data:text/html,x", "data"),
            ("ftp://example.com/", "ftp"),
            ("vbscript:x", "vbscript"),
            ("ms-settings:x", "ms-settings"),
        ] {
            assert_eq!(
                link(text),
                Err(ParseLinkError::Scheme(scheme.to_owned())),
                "{text}"
            );
        }
        for text in [
            "https://github.com@evil.example/",
            "https://a:b@evil.example/",
            "https://@evil.example/",
            "https://:@evil.example/",
        ] {
            assert_eq!(link(text), Err(ParseLinkError::User), "{text}");
        }
        for text in [
            "",
            "example.com",
            "/a",
            "https://",
            "https:///",
            "https:evil.example",
            "https:/evil.example/",
            "https:///evil.example/",
            "https:///@evil.example/",
            "https://a..b:x/",
        ] {
            assert!(link(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_programs_read_in_different_ways_is_refused() {
        for text in [
            "https://good.example\\@evil.example/",
            "https://good.example/\n",
            " https://good.example/",
            "https://good.example/a b",
            "java\tscript:alert(1)",
            "https://good.example/\u{7f}",
        ] {
            assert_eq!(link(text), Err(ParseLinkError::Odd), "{text:?}");
        }
    }

    #[test]
    fn http_leads_to_this_machine_or_nowhere() {
        for text in [
            "http://localhost:8080/x",
            "http://127.0.0.1/",
            "http://[::1]:80/",
            "http://a.localhost/",
            "http://localhost./",
            "http://[::ffff:127.0.0.1]/",
            "http://2130706433/",
            "http://0x7f.1/",
        ] {
            assert_eq!(link(text).unwrap().warnings(), [Warning::Here], "{text}");
        }
        for text in [
            "http://example.com/",
            "http://10.0.0.1/",
            "http://127.0.0.1.evil.example/",
            "http://localhost.evil.example/",
        ] {
            assert_eq!(link(text), Err(ParseLinkError::Plain), "{text}");
        }
        let number = link("https://192.0.2.7/").unwrap();
        assert_eq!(number.warnings(), [Warning::Number]);
    }

    #[test]
    fn a_host_that_imitates_another_is_shown_both_ways() {
        // The first letter is Cyrillic.
        let mixed = link("https://\u{430}pple.com/login").unwrap();
        assert_eq!(mixed.host(), "xn--pple-43d.com");
        assert_eq!(mixed.unicode_host(), Some("\u{430}pple.com"));
        assert_eq!(mixed.warnings(), [Warning::Mixed]);
        assert_eq!(mixed.whole(), "https://xn--pple-43d.com/login");
        assert_eq!(link(mixed.whole()).unwrap(), mixed);
        let honest = link("https://b\u{fc}cher.example/").unwrap();
        assert_eq!(honest.unicode_host(), Some("b\u{fc}cher.example"));
        assert_eq!(honest.warnings(), [Warning::NotAscii]);
        let cyrillic = link("https://\u{430}\u{440}\u{440}\u{4cf}\u{435}.com/").unwrap();
        assert_eq!(cyrillic.warnings(), [Warning::NotAscii]);
        // What hides beyond the host is encoded.
        assert_eq!(
            link("https://a.example/\u{202e}x").unwrap().whole(),
            "https://a.example/%E2%80%AEx"
        );
    }

    #[test]
    fn an_address_may_be_so_long_and_no_longer() {
        let most = ElicitLimits::default().url_bytes;
        let of = |bytes: usize| format!("https://a.example/{}", "x".repeat(bytes - 18));
        assert!(link(&of(most)).is_ok());
        assert_eq!(link(&of(most + 1)), Err(ParseLinkError::Long { most }));
    }
}
