//! Reads the section `network`.

use std::path::{Path, PathBuf};

use switchboard_core::secret::{SafeUrl, Secret};
use switchboard_core::spec::AddressRange;

use super::placed::Placed;
use super::placed::texts;
use super::{get, unknown_keys, wrong};
use crate::keys::ValueType::{Text, Texts};
use crate::keys::{self, Key};
use crate::problem::{Problem, ProblemKind};
use crate::report::Report;
use crate::tree::{Member, Node};
use crate::{open, paths};

pub(crate) const KEYS: &[Key] = &[
    Key::new(
        "proxy",
        Text,
        "`\"env\"` for the proxy of `HTTPS_PROXY`, `http_proxy`, `ALL_PROXY` and \
         `NO_PROXY`, `\"none\"`, or the URL of a proxy; hosts of this machine are reached \
         without it",
    )
    .or("`\"none\"`"),
    Key::new(
        "no_proxy",
        Texts,
        "Hosts that are reached without the proxy of a URL: names, which include all below \
         them, addresses and ranges",
    )
    .or("`[]`"),
    Key::new(
        "ca_file",
        Text,
        "A PEM file of certificates to trust besides the system's; a relative path starts \
         at the folder of the config file",
    ),
    Key::new(
        "allowed_addresses",
        Texts,
        "Addresses, or ranges such as `fe80::/10`, that your own URLs may lead to although \
         they are refused otherwise: link-local, multicast, unspecified. Never a cloud's \
         metadata service, and never for an address that a server names",
    )
    .or("`[]`"),
];

/// The text that begins each certificate in a PEM file.
pub(super) const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----";

/// The network settings for servers at URLs, from the user's own file.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct NetworkSection {
    /// Addresses that may be connected to although they are refused by default.
    pub allowed_addresses: Vec<AddressRange>,
    /// The proxy, if one is set.
    pub proxy: Option<ProxySection>,
    /// Hosts that are contacted without a proxy.
    pub no_proxy: Vec<String>,
    /// A file of additional trusted certificates.
    pub ca_file: Option<CertificateFile>,
    /// The reason to contact no server at a URL: the section is invalid, so the intended route is unknown.
    pub unclear: Option<Problem>,
}

/// The proxy for servers at URLs.
#[derive(Debug, Clone)]
pub enum ProxySection {
    /// No proxy.
    None,
    /// The proxy in `HTTPS_PROXY` and similar variables.
    Environment,
    /// The proxy at this URL, which may contain a password.
    Url(Secret<String>),
}

/// A file of certificates.
#[derive(Debug, Clone)]
pub struct CertificateFile {
    written: Placed,
    path: PathBuf,
}

impl CertificateFile {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file.
    ///
    /// # Errors
    /// Fails if it cannot be read, or contains no certificate.
    pub fn read(&self) -> Result<Vec<u8>, Problem> {
        let expected =
            "a file of certificates in PEM; a relative path begins at this file's folder";
        let told = |why: &str| {
            let kind = ProblemKind::UnreadableReference;
            let message = format!("the file of `ca_file` cannot be used: {why}");
            self.written.problem(kind, &message, expected)
        };
        let text = open::reference(&self.path, None).map_err(|why| told(&why))?;
        if text.contains(CERTIFICATE) {
            Ok(text.into_bytes())
        } else {
            Err(told("it holds no certificate in PEM"))
        }
    }
}

pub(super) fn network(member: &Member, folder: &Path, report: &mut Report) -> NetworkSection {
    let node = &member.value;
    let mut section = NetworkSection::default();
    if node.object().is_none() {
        wrong(
            "`network`",
            node,
            "an object such as `{ \"proxy\": \"env\" }`",
            report,
        );
        section.unclear = Some(unclear(member, report));
        return section;
    }
    // A misspelled `proxy` would send traffic directly, so unknown keys make it unclear.
    let mut is_unclear = unknown_keys(node, "network", &keys::names(KEYS), report);
    section.allowed_addresses = addresses(node, report);
    match get(node, "proxy").map(|node| proxy(node, report)) {
        Some(None) => is_unclear = true,
        Some(proxy) => section.proxy = proxy,
        None => {}
    }
    if let Some(list) = get(node, "no_proxy") {
        let expected = "a list of names and addresses of hosts";
        let found = texts(list, "`no_proxy`", expected, report);
        is_unclear |= found.is_none();
        section.no_proxy = hosts(found.unwrap_or_default(), report);
    }
    section.ca_file = get(node, "ca_file").and_then(|node| match node.text() {
        Some(text) if !text.is_empty() => Some(CertificateFile {
            path: paths::join(folder, text),
            written: Placed::of(node, report),
        }),
        _ => {
            wrong(
                "`ca_file`",
                node,
                "the path of a file of certificates in PEM",
                report,
            );
            None
        }
    });
    if is_unclear {
        section.unclear = Some(unclear(member, report));
    }
    section
}

fn unclear(member: &Member, report: &Report) -> Problem {
    let message = "`network` is not right, so that no server at a URL is reached";
    let expected = "a section without problems: each of them is reported where it stands";
    let key = Placed::key(member, report);
    key.problem(ProblemKind::WrongType, message, expected)
}

fn addresses(node: &Node, report: &mut Report) -> Vec<AddressRange> {
    let expected = "a list of ranges such as \"169.254.7.0/24\"";
    let found = get(node, "allowed_addresses");
    let found = found.and_then(|list| texts(list, "`allowed_addresses`", expected, report));
    let mut ranges = Vec::new();
    for written in found.unwrap_or_default() {
        match written.text().parse() {
            Ok(range) => ranges.push(range),
            Err(error) => {
                let message = format!("this is no range of addresses: {error}");
                let expected = "\"169.254.7.0/24\", \"fe80::/10\", or one address";
                report.push(written.problem(ProblemKind::WrongType, &message, expected));
            }
        }
    }
    ranges
}

/// Validates hosts. An entry with a comma would be read as two hosts by HTTP clients.
fn hosts(written: Vec<Placed>, report: &mut Report) -> Vec<String> {
    let mut hosts = Vec::new();
    for written in written {
        let text = written.text();
        if text.is_empty() || text.contains(|c: char| c == ',' || c.is_whitespace()) {
            let expected = "one name or address, such as \"intranet.example\" or \"10.0.0.0/8\"";
            let message = "this is no host";
            report.push(written.problem(ProblemKind::WrongType, message, expected));
        } else {
            hosts.push(text.to_owned());
        }
    }
    hosts
}

/// Reads the proxy; `None` after reporting an error.
fn proxy(node: &Node, report: &mut Report) -> Option<ProxySection> {
    const EXPECTED: &str = "\"env\", \"none\", or a URL such as \"http://proxy.example:3128\"";
    let Some(text) = node.text() else {
        wrong("`proxy`", node, EXPECTED, report);
        return None;
    };
    match text {
        "env" => return Some(ProxySection::Environment),
        "none" => return Some(ProxySection::None),
        _ => {}
    }
    let url = SafeUrl::parse(text);
    let is_http = |url: &SafeUrl| matches!(url.expose().scheme(), "http" | "https");
    if url.as_ref().is_ok_and(is_http) {
        return Some(ProxySection::Url(Secret::new(text.to_owned())));
    }
    let message = match url {
        _ if text.contains("${") => "`proxy` has a placeholder, and none is filled here",
        Ok(_) => "`proxy` does not begin with `http://` or `https://`",
        Err(_) => "`proxy` is neither a word that is known nor a URL",
    };
    let written = Placed::of(node, report);
    report.push(written.problem(ProblemKind::BadUrl, message, EXPECTED));
    None
}
