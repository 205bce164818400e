//! What `conformance-client` does: the official suite's client scenarios, played with our library.
//!
//! The suite starts a server for a scenario and then this client, which it tells where the server is
//! and which scenario is on. The suite judges by what arrives at its server; a client that ends with
//! an error fails too. So each scenario does what a program would do with such a server, and fails
//! where the library's answer is not the one that a program would need.

mod login;
mod person;
mod scenarios;
mod task;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use switchboard::protocol::{Implementation, Version};
use switchboard::spec::{Protocol, ServerName};
use switchboard::transport::Http;
use switchboard::{Limits, Server, SessionOptions};

pub use person::person;
pub use task::{Task, TaskError};

/// Plays the scenario that the task names.
///
/// # Errors
/// When the library reports an error, or something that the scenario does not allow.
pub async fn play(task: &Task) -> Result<(), Box<dyn Error>> {
    let mut limits = Limits::default();
    // The suite's servers do answer, but all of them run at once.
    limits.listen = Duration::from_secs(10);
    let name = ServerName::parse("suite")?;
    let mut http = Http::new(&task.url)?.limits(&limits);
    let authorizer = if task.scenario.starts_with("auth/") {
        Some(login::authorizer(task, &limits)?)
    } else {
        None
    };
    if let Some(authorizer) = &authorizer {
        http = http.authorization(Arc::new(authorizer.clone()));
    }
    let server = Server::new(
        name.clone(),
        http,
        SessionOptions::default()
            .client(Implementation::new(
                "conformance-client",
                env!("CARGO_PKG_VERSION"),
            ))
            .protocol(protocol(task.version))
            .limits(limits)
            .respond(person(name)),
    );
    let played = match &authorizer {
        Some(authorizer) => Box::pin(scenarios::play_authorized(&server, authorizer)).await,
        None => Box::pin(scenarios::play(&server, task)).await,
    };
    server.close().await;
    played
}

/// The suite's servers speak the era of the version that is asked for, and no other.
fn protocol(version: Version) -> Protocol {
    match version {
        Version::V2026_07_28 => Protocol::Modern,
        _ => Protocol::Legacy,
    }
}
