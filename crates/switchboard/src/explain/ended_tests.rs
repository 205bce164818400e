use std::sync::Arc;

use super::*;
use crate::session::{CallError, CloseCause, CloseReason, Delivery, OpenError};
use crate::transport::{Exit, NetworkVariables};

/// What is said of a server that ended in the handshake, with these variables.
fn ended(stderr: &[&str], set: &[&str], withheld: &[&str]) -> Diagnosis {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let network = NetworkVariables {
        set: names(set),
        withheld: names(withheld),
    };
    let reason = CloseReason {
        cause: CloseCause::ProcessEnded,
        exit: Some(Exit::Code(1)),
        cleanup: None,
        stderr: names(stderr),
        noise: Vec::new(),
        network,
        starts: 1,
    };
    explain(&Error::from(OpenError::Handshake {
        stage: "server/discover",
        error: Box::new(CallError::Closed {
            reason: Arc::new(reason),
            delivery: Delivery::MaybeProcessed,
        }),
        earlier: None,
        seen: Box::default(),
    }))
}

#[test]
fn a_certificate_error_names_the_variables_that_are_set() {
    let said = ["npm error code SELF_SIGNED_CERT_IN_CHAIN"];
    let known = ended(&said, &["NODE_EXTRA_CA_CERTS", "https_proxy"], &[]);
    assert!(
        known
            .facts
            .contains(&("set for it", "NODE_EXTRA_CA_CERTS, https_proxy".to_owned())),
        "{known:?}"
    );
    assert!(known.causes[0].contains("does not trust the certificate"));
    let bare = ended(&said, &[], &[]);
    let none = "no certificate or proxy variable".to_owned();
    assert!(bare.facts.contains(&("set for it", none)), "{bare:?}");
}

#[test]
fn a_proxy_that_was_not_passed_on_is_named_where_it_may_be_the_reason() {
    let network = ["npm error code ENOTFOUND registry.npmjs.org"];
    let diagnosis = ended(&network, &[], &["HTTPS_PROXY"]);
    let cause = "HTTPS_PROXY is not passed on to servers, because it contains a user name";
    assert!(
        diagnosis.causes.contains(&cause.to_owned()),
        "{diagnosis:?}"
    );
    let step = Step::PassVariable {
        name: "HTTPS_PROXY".to_owned(),
        entry: ServerEntry::default(),
    };
    assert!(diagnosis.steps.contains(&step), "{diagnosis:?}");
    let other = ended(&["API_KEY is not set"], &[], &["HTTPS_PROXY"]);
    let is_about_proxy = |step: &Step| step.to_string().contains("HTTPS_PROXY");
    assert!(!other.steps.iter().any(is_about_proxy));
}

#[test]
fn the_likely_cause_leads_pages_of_usage() {
    let cause = "Error: no configuration has been provided, try setting KUBERNETES_MASTER environment variable";
    let usage: Vec<String> = (0..29).map(|n| format!("  --flag-{n}")).collect();
    let mut said = vec![cause, "... 7 lines ..."];
    said.extend(usage.iter().map(String::as_str));
    let diagnosis = ended(&said, &[], &[]);
    let (title, lines) = &diagnosis.evidence[0];
    assert_eq!(*title, "likely cause, from stderr");
    assert_eq!(*lines, [cause]);
    assert_eq!(diagnosis.evidence[1].0, "first and last lines of stderr");
}
