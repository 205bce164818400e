//! The certificate and proxy variables of a server with network problems.

use super::place::Place;
use super::{Diagnosis, Step};
use crate::transport::NetworkVariables;
use crate::transport::stderr_hints::About;

/// Adds the server's variables, or proxies that it did not get, if the cause is about certificates or the
/// network.
pub(super) fn of_cause(
    about: About,
    network: &NetworkVariables,
    place: Place<'_>,
    diagnosis: &mut Diagnosis,
) {
    match about {
        About::Certificates => {
            let set = match network.set.as_slice() {
                [] => "no certificate or proxy variable".to_owned(),
                set => set.join(", "),
            };
            diagnosis.facts.push(("set for it", set));
            proxies(network, place, diagnosis);
        }
        About::Network | About::Service => proxies(network, place, diagnosis),
        _ => {}
    }
}

/// Adds a note if a proxy variable was not passed on to the server.
pub(super) fn proxies(network: &NetworkVariables, place: Place<'_>, diagnosis: &mut Diagnosis) {
    let Some(name) = network.withheld.first() else {
        return;
    };
    diagnosis.causes.push(format!(
        "{} is not passed on to servers, because it contains a user name",
        network.withheld.join(" and ")
    ));
    diagnosis.steps.push(Step::PassVariable {
        name: name.clone(),
        entry: place.entry(),
    });
}
