//! Entries that lead back to the gateway itself.
//!
//! A client's config often lists the gateway, and the gateway may read the same file. An entry that starts
//! another gateway is left out by its command line; one that hides it in a script is noticed by its depth
//! ([`Environment::depth`](switchboard::transport::Environment)), which the gateway gives to its servers.

use std::path::Path;

/// The name of the program, without an extension.
const PROGRAM: &str = "switchboard";

/// Returns true if a command line starts a gateway of this program, also in a shell or by another program.
///
/// ```
/// use switchboard_gateway::starts_gateway;
///
/// assert!(starts_gateway(["/usr/bin/switchboard", "serve", "--profile", "work"]));
/// assert!(starts_gateway(["sh", "-c", "exec switchboard serve"]));
/// assert!(!starts_gateway(["switchboard", "test-server"]));
/// assert!(!starts_gateway(["vite", "serve", "switchboard"]));
/// ```
pub fn starts_gateway<'w>(words: impl IntoIterator<Item = &'w str>) -> bool {
    let words = words.into_iter().flat_map(str::split_whitespace);
    let mut is_program = false;
    for word in words {
        if is_program && word.trim_matches(['"', '\'', ';']) == "serve" {
            return true;
        }
        let stem = Path::new(word.trim_matches(['"', '\''])).file_stem();
        is_program = stem.is_some_and(|stem| stem.eq_ignore_ascii_case(PROGRAM));
    }
    false
}

/// Returns true if a URL leads to the gateway that listens on an address.
#[cfg(feature = "http")]
pub fn leads_to(url: &str, address: std::net::SocketAddr) -> bool {
    use std::net::IpAddr;

    let Ok(url) = url.parse::<hyper::Uri>() else {
        return false;
    };
    let port = url.port_u16().or(match url.scheme_str() {
        Some("https") => Some(443),
        Some("http") => Some(80),
        _ => None,
    });
    let host = url.host().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let is_near = |ip: IpAddr| ip.is_loopback() || ip.is_unspecified();
    let is_here = match host.parse::<IpAddr>() {
        Ok(ip) => ip == address.ip() || (is_near(ip) && is_near(address.ip())),
        Err(_) => host.eq_ignore_ascii_case("localhost") && is_near(address.ip()),
    };
    is_here && port == Some(address.port())
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::*;

    #[test]
    fn a_url_of_the_own_address_leads_to_the_gateway() {
        let address = "127.0.0.1:8808".parse().unwrap();
        for (url, is_own) in [
            ("http://127.0.0.1:8808/mcp", true),
            ("http://localhost:8808/mcp/p/work", true),
            ("http://[::1]:8808/mcp", true),
            ("http://127.0.0.1:8809/mcp", false),
            ("http://127.0.0.1/mcp", false),
            ("https://example.com:8808/mcp", false),
            ("not a url", false),
        ] {
            assert_eq!(leads_to(url, address), is_own, "{url}");
        }
        assert!(leads_to(
            "http://10.1.2.3:80/mcp",
            "10.1.2.3:80".parse().unwrap()
        ));
        assert!(leads_to(
            "http://localhost:1/mcp",
            "0.0.0.0:1".parse().unwrap()
        ));
    }
}
