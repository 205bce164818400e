//! Explains problems with a server's certificate.

use super::{lines, place, try_url};
use crate::explain::{Diagnosis, Step};
use crate::text::shell_path;
use crate::transport::Fault;

/// Explains a server that could not prove who it is.
pub(super) fn unproven(fault: &Fault, what: &str) -> Diagnosis {
    let place = place(&fault.url);
    let (title, cause, step) = match of_tls(what) {
        Proof::UnknownIssuer => (
            format!("{place} has a certificate of an authority that this machine does not know"),
            "the authority is often one of a company's own, or the certificate was made by the server itself",
            Step::TrustAuthority {
                url: fault.url.clone(),
            },
        ),
        Proof::None => (
            format!("{place} does not use TLS, but the URL begins with https"),
            "the program that listens there uses plain HTTP",
            try_url(&fault.url.replacen("https://", "http://", 1)),
        ),
        Proof::Expired => (
            format!("the certificate of {place} has expired"),
            "it was not renewed, or this machine's clock is wrong",
            "see what time it is here: `date`".into(),
        ),
        Proof::OtherName => (
            format!("the certificate of {place} is for another name"),
            "the URL has another name than the server, or something else answers in its place",
            "write the name that the certificate has into the URL".into(),
        ),
        Proof::Unclear => (
            format!("{place} could not prove who it is"),
            "the server and this machine have no version of TLS in common, or something between \
             them took the connection",
            format!("`curl -v {}`", shell_path(&fault.url)).into(),
        ),
    };
    Diagnosis {
        title,
        facts: vec![("problem", what.to_owned())],
        causes: lines(&[cause]),
        steps: vec![step],
        ..Diagnosis::default()
    }
}

/// The problem with a server's certificate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proof {
    UnknownIssuer,
    Expired,
    OtherName,
    None,
    Unclear,
}

/// Returns `true` if another URL would solve the problem.
pub(super) fn is_about_url(what: &str) -> bool {
    matches!(of_tls(what), Proof::None | Proof::OtherName)
}

fn of_tls(what: &str) -> Proof {
    let words = what.to_ascii_lowercase();
    let has = |any: &[&str]| any.iter().any(|word| words.contains(word));
    if has(&["unknownissuer", "unknown issuer", "causedasendentity"]) {
        Proof::UnknownIssuer
    } else if has(&["invalidcontenttype", "corrupt message"]) {
        Proof::None
    } else if has(&["expired", "notvalidyet", "not valid yet"]) {
        Proof::Expired
    } else if has(&["not valid for name", "notvalidforname"]) {
        Proof::OtherName
    } else {
        Proof::Unclear
    }
}
