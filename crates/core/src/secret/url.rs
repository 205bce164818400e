//! URLs that can be shown without their credentials.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use url::{ParseError, Url};

use super::classify::{is_plain, is_secret};
use super::encode::Decoded;
use super::token::looks_random;
use super::{MASK, looks_secret};

/// A URL whose text shows its destination but none of its credentials.
///
/// It shows scheme, host, port and path. It masks user name and password, the values of the query (not
/// the names), the fragment, path segments that look random (at least 20 letters, digits or `_-.~+=`
/// including a digit, 32 letters in one piece, or a token of a well-known issuer) and the segment after
/// one with a secret name (`/token/x`). A URL without a host, such as `data:`, shows its scheme only. It
/// does not implement `Serialize`: a document needs either the whole URL or nothing.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct SafeUrl(Url);

impl SafeUrl {
    /// Parses a URL.
    ///
    /// # Errors
    /// Fails if `text` is not an absolute URL. The error does not quote it.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Url::parse(text).map(Self)
    }

    /// Returns the whole URL, for using it rather than showing it.
    pub fn expose(&self) -> &Url {
        &self.0
    }

    /// The parts that a redactor should look for, as they stand in the URL. `Display` masks more than these:
    /// a URL stays understandable without its query, but other text would lose its words.
    pub(super) fn secrets(&self) -> Vec<String> {
        let url = &self.0;
        let mut found = Vec::new();
        let (user, password) = (url.username(), url.password());
        if let Some(password) = password {
            found.push(format!("{user}:{password}"));
            found.push(password.to_owned());
        }
        // Some services take a token as the user name. Ordinary user names are lower-case words.
        if !user.bytes().all(|byte| byte.is_ascii_lowercase()) {
            found.push(user.to_owned());
        }
        // A segment after one with a secret name is a value: `/token/x`.
        let mut named = false;
        for segment in url.path_segments().into_iter().flatten() {
            if is_random(segment) || (named && !is_plain(segment)) {
                found.push(segment.to_owned());
            }
            named = looks_secret(segment);
        }
        for pair in url.query().unwrap_or_default().split('&') {
            match pair.split_once('=') {
                Some((name, value)) => {
                    let (plain_name, plain_value) = (percent_decode(name), percent_decode(value));
                    if is_secret(&plain_name, &plain_value) || is_random(value) {
                        found.push(value.to_owned());
                    }
                    if is_random(name) {
                        found.push(name.to_owned());
                    }
                }
                None if is_random(pair) => found.push(pair.to_owned()),
                None => {}
            }
        }
        found.extend(
            url.fragment()
                .filter(|part| is_random(part))
                .map(str::to_owned),
        );
        found
    }
}

impl From<Url> for SafeUrl {
    fn from(url: Url) -> Self {
        Self(url)
    }
}

impl fmt::Display for SafeUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = &self.0;
        if url.cannot_be_a_base() {
            return write!(f, "{}:{MASK}", url.scheme());
        }
        write!(f, "{}://", url.scheme())?;
        if !url.username().is_empty() || url.password().is_some() {
            write!(f, "{MASK}@")?;
        }
        f.write_str(url.host_str().unwrap_or_default())?;
        if let Some(port) = url.port() {
            write!(f, ":{port}")?;
        }
        let mut named = false;
        for segment in url.path_segments().into_iter().flatten() {
            f.write_char('/')?;
            let hide = !segment.is_empty() && (named || is_random(segment));
            f.write_str(if hide { MASK } else { segment })?;
            named = looks_secret(segment);
        }
        if let Some(query) = url.query() {
            f.write_char('?')?;
            fmt_query(query, f)?;
        }
        if url.fragment().is_some() {
            write!(f, "#{MASK}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for SafeUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SafeUrl({self})")
    }
}

/// Writes the names of a query, and a mask for each value.
fn fmt_query(query: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (at, pair) in query.split('&').enumerate() {
        if at > 0 {
            f.write_char('&')?;
        }
        match pair.split_once('=') {
            Some((name, _)) if !is_random(name) => write!(f, "{name}={MASK}")?,
            // A name without a value may as well be a value without a name.
            _ => f.write_str(MASK)?,
        }
    }
    Ok(())
}

/// Undoes the percent-encoding of a part of a URL, if the result is text.
fn percent_decode(part: &str) -> Cow<'_, str> {
    let decoded = Decoded::identity(part).percent();
    let text = decoded.and_then(|decoded| String::from_utf8(decoded.bytes.into_owned()).ok());
    text.map_or(Cow::Borrowed(part), Cow::Owned)
}

/// Returns true if a part of a URL looks random after undoing its percent-encoding.
fn is_random(part: &str) -> bool {
    looks_random(&percent_decode(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        SafeUrl::parse(text).unwrap().to_string()
    }

    #[test]
    fn an_innocent_url_is_shown_whole() {
        for url in [
            "https://example.com/",
            "https://example.com:8443/mcp/v1/streamable-http-transport/",
            "http://[::1]:3000/mcp",
            "file:///readme.txt",
            "https://example.com/api/%E6%9D%B1%E4%BA%AC%E6%9D%B1%E4%BA%AC",
        ] {
            assert_eq!(shown(url), url);
        }
    }

    #[test]
    fn user_query_and_fragment_are_masked() {
        assert_eq!(
            shown("https://me:canary@example.com/mcp?token=canary&x=&canary#canary"),
            "https://***@example.com/mcp?token=***&x=***&***#***"
        );
        assert_eq!(
            shown("https://canary@example.com"),
            "https://***@example.com/"
        );
        assert_eq!(
            shown("https://:canary@example.com"),
            "https://***@example.com/"
        );
    }

    #[test]
    fn secrets_in_the_path_are_masked() {
        assert_eq!(
            shown("https://example.com/s/3f2c9a7e1b4d4c7e9f00aa11/mcp"),
            "https://example.com/s/***/mcp"
        );
        assert_eq!(
            shown("https://example.com/token/canary/mcp"),
            "https://example.com/token/***/mcp"
        );
        assert_eq!(
            shown("https://example.com/%73k-canarycanarycanary"),
            "https://example.com/***"
        );
        assert_eq!(
            shown("https://example.com/?3f2c9a7e1b4d4c7e9f00aa11=1"),
            "https://example.com/?***"
        );
    }

    #[test]
    fn secret_are_user_password_named_values_and_what_looks_random() {
        let secrets = |text: &str| SafeUrl::parse(text).unwrap().secrets();
        let url = "https://example.com/s/3f2c9a7e1b4d4c7e9f00aa11/mcp?key=H1dden&page=two-or-three";
        assert_eq!(secrets(url), ["3f2c9a7e1b4d4c7e9f00aa11", "H1dden"]);
        let url = "postgres://me:H1dden@example.com/db?region=us-east-1&api%5Fkey=0ther-one";
        assert_eq!(secrets(url), ["me:H1dden", "H1dden", "0ther-one"]);
        assert_eq!(secrets("https://T0ken@example.com/#top"), ["T0ken"]);
        assert_eq!(secrets("https://example.com/token/H1dden/mcp"), ["H1dden"]);
        for none in [
            "https://example.com/mcp",
            "ssh://git@example.com/repository",
            "https://example.com/?auth=basic&max_tokens=4096",
        ] {
            assert_eq!(secrets(none), [""; 0], "{none}");
        }
    }

    #[test]
    fn a_url_without_a_host_part_shows_its_scheme() {
        assert_eq!(shown("data:text/plain,canary"), "data:***");
        assert_eq!(shown("mailto:canary@example.com"), "mailto:***");
    }

    #[test]
    fn debug_shows_what_display_shows_and_expose_gives_all() {
        let url = SafeUrl::parse("https://u:canary@example.com/?a=canary").unwrap();
        assert_eq!(
            format!("{url:?}"),
            "SafeUrl(https://***@example.com/?a=***)"
        );
        assert_eq!(
            url.expose().as_str(),
            "https://u:canary@example.com/?a=canary"
        );
        let error = SafeUrl::parse("https://canary:port").unwrap_err();
        assert!(!format!("{error} {error:?}").contains("canary"));
    }
}
