//! Adds the secrets of a server to a redactor, by the definition in `classify`.

use super::args::{find_in_args, find_in_value};
use super::classify::{is_secret_by_name, is_secret_header};
use super::{Redactor, SafeUrl};

impl Redactor {
    /// Adds the secrets of a variable: its whole value if the name says so, and otherwise the parts of it
    /// that are secrets of their own.
    pub fn add_named(&mut self, name: &str, value: &str) {
        if is_secret_by_name(name, value) {
            self.add(value);
        }
        // Also if the whole value is one: a server may print the password without its URL.
        for secret in find_in_value(value.trim()) {
            self.add(&secret);
        }
    }

    /// Adds the value of an HTTP header.
    pub fn add_header(&mut self, value: &str) {
        if is_secret_header(value) {
            self.add(value);
        }
    }

    /// Adds the secrets in the arguments of a command.
    pub fn add_args(&mut self, args: &[String]) {
        for secret in find_in_args(args) {
            self.add(&secret);
        }
    }

    /// Adds the secrets in a URL: user and password, query values with secret names, and random words.
    pub fn add_url(&mut self, url: &SafeUrl) {
        for secret in url.secrets() {
            self.add(&secret);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_a_url_is_a_secret_by_itself() {
        let url = "postgres://me:H1dden@example.com/db?sslkey=0ther-one&page=2";
        let mut by_args = Redactor::new();
        by_args.add_args(&[url.to_owned(), format!("DATABASE={url}")]);
        let mut by_name = Redactor::new();
        by_name.add_named("DATABASE", url);
        for known in [by_args, by_name] {
            assert_eq!(known.redact("H1dden or example.com"), "*** or example.com");
        }
    }

    #[test]
    fn settings_are_not_learned_and_secrets_are() {
        let mut known = Redactor::new();
        for (name, value) in [
            ("LOG_LEVEL", "WARNING"),
            ("REGION", "us-east-1"),
            ("DATA_DIR", "/srv/data"),
            ("HOME", "/home/me"),
            ("MAX_TOKENS", "4096"),
            ("API_KEY", "H1dden"),
            ("CONFIG", r#"{"apiKey": "H2dden", "mode": "thorough"}"#),
        ] {
            known.add_named(name, value);
        }
        let said = "WARNING us-east-1 /srv/data /home/me 4096 thorough";
        assert_eq!(known.redact(said), said);
        assert_eq!(known.redact("H1dden H2dden"), "*** ***");
    }

    #[test]
    fn every_header_is_learned() {
        let mut known = Redactor::new();
        known.add_header("Bearer H1dden");
        known.add_header("team-seven");
        known.add_header("1");
        assert_eq!(known.redact("H1dden team-seven 1"), "*** *** 1");
    }
}
