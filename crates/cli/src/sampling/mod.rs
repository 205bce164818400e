//! Servers that ask the person's model, and the person, who is asked first.
//!
//! `show` puts into words what would be sent, `edit` lets the person change it.

mod edit;
mod person;
mod show;

use switchboard::config::{Config, Entry};
use switchboard::host::{HostBuilder, providers};
use switchboard::protocol::{CreateMessageParams, CreateMessageResult};
use switchboard::secret::Redactor;
use switchboard::session::Refusal;
use switchboard::spec::ServerName;
use switchboard::talk::sampling::Sampler;
use switchboard::talk::{Answering, Sample};

use crate::ask::{Terminal, unless_given_up};
use crate::hosting::HostSource;
use crate::report::Failure;
use crate::scope::places;

use person::Person;

/// Lets servers ask the models that the person's own file describes, where somebody can be asked or the
/// command line says that nobody has to be. Otherwise nothing is declared to any server.
///
/// # Errors
/// When there is no place to look for that file.
pub(crate) fn add(
    builder: HostBuilder,
    config: Option<&Config>,
    source: HostSource<'_>,
) -> Result<HostBuilder, Failure> {
    let HostSource {
        connection,
        environment,
        screen,
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
    let mut keys = Redactor::new();
    for provider in &config.providers().providers {
        if let Some(Ok(key)) = provider.key.as_ref().map(|key| key.read(environment)) {
            keys.add(key.expose());
        }
    }
    screen.learn(&keys);
    let builder = builder.secrets(&keys);
    let person = Person::new(is_unasked, screen, environment);
    Ok(match providers::sampler(config, environment, person) {
        Ok(Some(sampler)) => builder.sample(GivenUp(sampler)),
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
    })
}

/// Asks the models, unless the person gives up what it is for: nobody would read the answer.
struct GivenUp(Sampler);

impl Sample for GivenUp {
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
