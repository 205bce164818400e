//! Which values of a server's description must not be shown.

use crate::secret::{MASK, Redactor, SafeUrl, looks_secret, mask_args};
use crate::spec::{Endpoint, ServerSpec};
use crate::transport::Environment;

/// A setting is at most this long.
const LONGEST_SETTING: usize = 12;

/// Learns the secrets that a server is given: variables, headers, and what looks it in its arguments
/// and in its URL.
pub fn known(spec: &ServerSpec, host: &Environment, secrets: &mut Redactor) {
    match &spec.endpoint {
        Endpoint::Process(process) => {
            let given = process.env.iter();
            let given = given.map(|(name, value)| (name.as_str(), value.expose().as_str()));
            let passed = process.env_passthrough.iter().filter_map(|name| {
                let value = host.get(name)?.expose();
                Some((name.as_str(), value.as_str()))
            });
            for (name, value) in given.chain(passed) {
                named(name, value, secrets);
            }
            of_args(&process.args, secrets);
            for secret in &process.secrets {
                secrets.add(secret.expose());
            }
        }
        Endpoint::Remote(remote) => {
            for (name, value) in &remote.headers {
                named(name, value.expose(), secrets);
            }
            of_url(&remote.url, secrets);
            for secret in &remote.secrets {
                secrets.add(secret.expose());
            }
        }
    }
}

/// Learns a value that has a name, unless it is plainly a setting.
pub fn named(name: &str, value: &str, secrets: &mut Redactor) {
    if looks_secret(name.trim()) || !is_setting(value.trim()) {
        secrets.add(value);
    }
}

/// Learns what looks secret in the arguments of a command.
pub fn of_args(args: &[String], secrets: &mut Redactor) {
    for (word, masked) in args.iter().zip(mask_args(args)) {
        for secret in masked_parts(word, &masked) {
            secrets.add(secret);
        }
    }
}

/// Learns what a URL does not show.
pub fn of_url(url: &SafeUrl, secrets: &mut Redactor) {
    for secret in in_url(url) {
        secrets.add(&secret);
    }
}

/// Learns what the URLs of a proxy do not show.
#[cfg(feature = "http")]
pub(super) fn of_proxy(proxy: &crate::transport::Proxy, secrets: &mut Redactor) {
    if let crate::transport::Proxy::Of { https, http, .. } = proxy {
        for url in https.iter().chain(http) {
            if let Ok(url) = SafeUrl::parse(url.expose()) {
                of_url(&url, secrets);
            }
        }
    }
}

/// What the masks in a text stand for; nothing where they cannot be told apart.
fn masked_parts<'t>(text: &'t str, masked: &str) -> Vec<&'t str> {
    let mut literals = masked.split(MASK);
    let first = literals.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return Vec::new();
    };
    let mut parts = Vec::new();
    let mut literals = literals.peekable();
    while let Some(literal) = literals.next() {
        let is_last = literals.peek().is_none();
        let found = match is_last {
            true => rest.strip_suffix(literal).map(|part| (part, "")),
            false => rest.split_once(literal),
        };
        let Some((part, behind)) = found else {
            break;
        };
        parts.push(part);
        // A password is one without its user too.
        if literal.starts_with('@') {
            parts.extend(part.split_once(':').map(|(_, password)| password));
        }
        rest = behind;
    }
    parts
}

/// The parts of a URL that are not shown.
fn in_url(url: &SafeUrl) -> Vec<String> {
    let parts = |text: &str| -> Vec<String> {
        let text = text.split_once("://").map_or(text, |(_, rest)| rest);
        let parts = text.split(['/', '?', '&', '#', '@']);
        parts.map(str::to_owned).collect()
    };
    let (whole, shown) = (parts(url.expose().as_str()), parts(&url.to_string()));
    let pairs = whole.iter().zip(&shown);
    let hidden = pairs.flat_map(|(whole, shown)| masked_parts(whole, shown));
    // Whoever repeats a password does so without its user.
    let password = url.expose().password().into_iter();
    let is_secret = |part: &&str| !is_setting(part);
    let all = hidden.filter(is_secret).chain(password);
    all.map(str::to_owned).collect()
}

/// Whether a value is a short word or number, as in `LOG_LEVEL=debug`: masking every such word in
/// what a server says would make it unreadable and protect nothing.
fn is_setting(value: &str) -> bool {
    let is_word = value.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    value.len() <= LONGEST_SETTING && (is_word || (is_number && value.len() <= 5))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(url: &str) -> Vec<String> {
        in_url(&SafeUrl::parse(url).unwrap())
    }

    #[test]
    fn what_a_url_does_not_show_is_a_secret() {
        let url = "https://example.com/s/3f2c9a7e1b4d4c7e9f00aa11/mcp?key=H1dden&page=2";
        assert_eq!(hidden(url), ["3f2c9a7e1b4d4c7e9f00aa11", "H1dden"]);
        assert_eq!(hidden("https://example.com/mcp"), [""; 0]);
    }

    #[test]
    fn a_password_in_a_url_is_a_secret_by_itself() {
        let url = "postgres://me:H1dden@example.com/db?sslkey=0ther";
        assert_eq!(hidden(url), ["me:H1dden", "0ther", "H1dden"]);
        let mut known = Redactor::new();
        of_args(&[url.to_owned(), format!("DATABASE={url}")], &mut known);
        assert_eq!(known.redact("H1dden or 0ther"), "*** or ***");
    }

    #[test]
    fn settings_are_told_from_secrets() {
        for setting in ["debug", "production", "8080", "true"] {
            assert!(is_setting(setting), "{setting}");
        }
        for secret in ["hunter2", "Debug", "123456", "correcthorsebatterystaple"] {
            assert!(!is_setting(secret), "{secret}");
        }
    }
}
