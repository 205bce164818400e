//! Sampling: servers use the person's model, after asking them.
//!
//! `show` formats the request, `edit` lets the person change it.

mod edit;
mod person;
mod show;

use std::sync::Arc;

use switchboard::config::{Config, Entry};
use switchboard::host::{HostBuilder, providers};
use switchboard::protocol::{CreateMessageParams, CreateMessageResult};
use switchboard::secret::Redactor;
use switchboard::session::Refusal;
use switchboard::spec::ServerName;
use switchboard::talk::sampling::Sampler;
use switchboard::talk::{Answering, Sample};

use crate::ask::{Attendant, Terminal, unless_given_up};
use crate::hosting::HostSource;
use crate::report::Failure;
use crate::scope::places;

pub(crate) use person::Person;

/// Enables sampling with the providers of the person's own file, if a person can be asked or
/// `--allow-sampling` says that none needs to be. Otherwise the capability is not declared to any server.
///
/// # Errors
/// Fails if the current folder is unknown.
pub(crate) fn add(
    builder: HostBuilder,
    config: Option<&Config>,
    source: HostSource<'_>,
    attendant: &Arc<Attendant>,
) -> Result<HostBuilder, Failure> {
    let HostSource {
        connection,
        environment,
        screen,
        ..
    } = source;
    let is_unasked = connection.allow_sampling;
    let may_ask = |entry: &Entry| entry.settings().sampling;
    let is_wanted = is_unasked || config.is_some_and(|config| config.entries().iter().any(may_ask));
    if !is_wanted || !(is_unasked || Terminal::is_available(screen)) {
        return Ok(builder);
    }
    let own;
    let config = match config {
        Some(config) => config,
        None => {
            own = Config::load(&places(None, environment)?);
            &own
        }
    };
    // API keys must be masked before a provider's error can quote them.
    let mut keys = Redactor::new();
    for provider in &config.providers().providers {
        if let Some(Ok(key)) = provider.key.as_ref().map(|key| key.read(environment)) {
            keys.add(key.expose());
        }
    }
    screen.learn(&keys);
    let builder = builder.secrets(&keys);
    // Only now: what is shown must not have the keys that were just learned.
    attendant.attend_sampling(Person::new(is_unasked, screen, environment));
    Ok(
        match providers::sampler(config, environment, Arc::clone(attendant)) {
            Ok(Some(sampler)) => builder.sample(CancellableSampler(sampler)),
            Ok(None) => {
                if is_unasked {
                    screen.warn("no server can ask a model: your config file has no `providers`");
                }
                builder
            }
            Err(problem) => {
                screen.warn(&format!("no server can ask a model: {problem}"));
                builder
            }
        },
    )
}

/// A sampler that is cancelled when the person gives up the command that it serves.
struct CancellableSampler(Sampler);

impl Sample for CancellableSampler {
    fn takes_tools(&self) -> bool {
        self.0.takes_tools()
    }

    fn sample<'a>(
        &'a self,
        server: &'a ServerName,
        request: &'a CreateMessageParams,
    ) -> Answering<'a, CreateMessageResult> {
        Box::pin(async move {
            let asked = unless_given_up(self.0.sample(server, request)).await;
            asked.unwrap_or(Err(Refusal::ByThePerson))
        })
    }
}
