//! Parser for `WWW-Authenticate`.

use super::scope;

/// Maximum length of the header, all lines together.
const HEADER_BYTES: usize = 16 * 1024;
/// Maximum number of challenges, and of parameters of each.
const PARTS: usize = 64;

/// One challenge of a `WWW-Authenticate` header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    /// In lower case.
    scheme: String,
    /// Names in lower case.
    parameters: Vec<(String, String)>,
}

impl Challenge {
    /// Parses the challenges of all lines of the header. Malformed parts are left out.
    ///
    /// ```
    /// use switchboard_client::auth::Challenge;
    ///
    /// let header = r#"Basic realm="x", Bearer error="invalid_token", scope="read write""#;
    /// let challenges = Challenge::parse_all([header]);
    /// assert_eq!(challenges.len(), 2);
    /// assert_eq!(challenges[1].scopes(), Some(vec!["read".to_owned(), "write".to_owned()]));
    /// ```
    pub fn parse_all<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<Self> {
        let mut found = Vec::new();
        let mut room = HEADER_BYTES;
        for line in lines {
            let Some(left) = room.checked_sub(line.len()) else {
                break;
            };
            room = left;
            ChallengeParser { rest: line }.challenges(&mut found);
        }
        found.truncate(PARTS);
        found
    }

    /// The scheme, in lower case.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// A parameter by its name in lower case.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let mut found = self.parameters.iter().filter(|(known, _)| known == name);
        found.next().map(|(_, value)| value.as_str())
    }

    /// The error code, such as `insufficient_scope`.
    pub fn error(&self) -> Option<&str> {
        self.parameter("error")
    }

    /// The scopes that the server demands, if it names any.
    pub fn scopes(&self) -> Option<Vec<String>> {
        let scopes = scope::parse(self.parameter("scope")?);
        (!scopes.is_empty()).then_some(scopes)
    }

    /// Returns true if an OAuth token answers it.
    pub(crate) fn is_oauth(&self) -> bool {
        matches!(self.scheme.as_str(), "bearer" | "dpop")
    }
}

struct ChallengeParser<'a> {
    rest: &'a str,
}

impl<'a> ChallengeParser<'a> {
    fn challenges(&mut self, found: &mut Vec<Challenge>) {
        let mut parts = 0;
        while parts < PARTS {
            parts += 1;
            self.skip(|c| matches!(c, ' ' | '\t' | ','));
            let word = self.take(is_token);
            if word.is_empty() {
                return;
            }
            self.skip(is_blank);
            if self.rest.starts_with('=') && !found.is_empty() && !self.is_padding() {
                // A parameter of the previous challenge.
                self.bump();
                self.skip(is_blank);
                let Some(value) = self.value() else { return };
                if let Some(challenge) = found.last_mut()
                    && challenge.parameters.len() < PARTS
                {
                    challenge
                        .parameters
                        .push((word.to_ascii_lowercase(), value));
                }
                continue;
            }
            found.push(Challenge {
                scheme: word.to_ascii_lowercase(),
                parameters: Vec::new(),
            });
            // A scheme may be followed by one word that is not a parameter (`token68`); it is
            // skipped.
            let before = self.rest;
            let word = self.take(is_token68);
            self.skip(|c| c == '=');
            self.skip(is_blank);
            let is_word = !word.is_empty() && (self.rest.is_empty() || self.rest.starts_with(','));
            if !is_word {
                self.rest = before;
            }
        }
    }

    /// Returns true if the equals signs that follow are padding of a word, not the start of a
    /// value.
    fn is_padding(&self) -> bool {
        let after = self.rest.trim_start_matches('=');
        let after = after.trim_start_matches([' ', '\t']);
        after.is_empty() || after.starts_with(',')
    }

    fn value(&mut self) -> Option<String> {
        if !self.rest.starts_with('"') {
            return Some(self.take(|c| !matches!(c, ',' | ' ' | '\t')).to_owned());
        }
        self.bump();
        let mut value = String::new();
        let mut is_escaped = false;
        let mut characters = self.rest.char_indices();
        while let Some((_, character)) = characters.next() {
            match character {
                _ if is_escaped => {
                    value.push(character);
                    is_escaped = false;
                }
                '\\' => is_escaped = true,
                '"' => {
                    self.rest = characters.as_str();
                    return Some(value);
                }
                _ => value.push(character),
            }
        }
        // The quote never ends, so the rest cannot be parsed.
        None
    }

    fn take(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !fits(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn skip(&mut self, fits: impl Fn(char) -> bool) {
        self.take(fits);
    }

    fn bump(&mut self) {
        let mut characters = self.rest.chars();
        characters.next();
        self.rest = characters.as_str();
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

fn is_token68(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._~+/".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(header: &str) -> Challenge {
        let mut all = Challenge::parse_all([header]);
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    #[test]
    fn parameters_are_read_quoted_or_plain_in_any_case() {
        let challenge =
            one(r#"BEARER Realm=x, error = "invalid_token",scope="a b", extra="q\"uo,te""#);
        assert_eq!(challenge.scheme(), "bearer");
        assert_eq!(challenge.parameter("realm"), Some("x"));
        assert_eq!(challenge.error(), Some("invalid_token"));
        assert_eq!(challenge.parameter("extra"), Some("q\"uo,te"));
        assert_eq!(challenge.scopes().map(|scopes| scopes.len()), Some(2));
    }

    #[test]
    fn several_challenges_in_one_line_are_told_apart() {
        let header = r#"Negotiate abc==, Basic realm="a", DPoP algs="ES256", Bearer"#;
        let all = Challenge::parse_all([header, r#"Bearer error="x""#]);
        let schemes: Vec<&str> = all.iter().map(Challenge::scheme).collect();
        assert_eq!(schemes, ["negotiate", "basic", "dpop", "bearer", "bearer"]);
        assert_eq!(all[2].parameter("algs"), Some("ES256"));
        assert_eq!(all[4].error(), Some("x"));
    }

    #[test]
    fn odd_headers_are_read_without_harm() {
        for header in [
            "",
            ",,,",
            "=",
            "Bearer =",
            "Bearer a=\"",
            "\"x\"",
            "Bearer \u{7f}",
            "a=b",
        ] {
            let all = Challenge::parse_all([header]);
            assert!(all.len() <= 2, "{header}: {all:?}");
        }
        let long = format!("Bearer a=\"{}\"", "x".repeat(HEADER_BYTES));
        assert!(Challenge::parse_all([long.as_str()]).is_empty());
        let many = "Bearer a=b, ".repeat(1000);
        assert!(Challenge::parse_all([many.as_str()]).len() <= PARTS);
    }

    #[test]
    fn scopes_that_are_none_are_left_out() {
        assert_eq!(one(r#"Bearer scope="""#).scopes(), None);
        let challenge = one("Bearer scope=\"ok b\u{e9}d ok\"");
        assert_eq!(challenge.scopes(), Some(vec!["ok".to_owned()]));
    }
}
