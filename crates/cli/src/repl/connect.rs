//! `/mcp connect`, and which servers whoever types may know of.

use switchboard::policy::Audience;
use switchboard::spec::ServerName;

use super::serve::Prompt;
use crate::commands::{reach, servers};
use crate::exit::Exit;
use crate::hosting::{advise_adding, unknown_server};
use crate::report::Failure;
use crate::role;
use crate::screen::talk;

impl Prompt<'_> {
    pub(super) async fn connect(
        &mut self,
        name: &str,
        allow_all: bool,
        shared: bool,
    ) -> Result<Exit, Failure> {
        self.known(name)?;
        if allow_all {
            role::person_only("have questions left out with --allow-all")?;
        }
        if shared {
            role::person_only("share a server with --shared")?;
        }
        let statuses = reach::connect(Some(name), &self.hosting).await?;
        self.hosting.learn();
        let (host, caller) = (&self.hosting.host, &self.hosting.actor.caller);
        // What an agent connects for the person stays its own; at its own prompt there is nobody else, and
        // it changes no policy.
        let is_limited = (self.hosting.is_agent() && role::kept().is_none()) || shared;
        if let (true, Some(status)) = (is_limited, statuses.first()) {
            let audience = match shared {
                true => Audience::Everyone,
                false => Audience::Only(vec![caller.id().clone()]),
            };
            let policy = (*host.policy()).clone();
            host.set_policy(policy.audience(status.name.clone(), audience));
        }
        match (allow_all, self.hosting.is_agent()) {
            (true, true) => host.allow_all(caller, name)?,
            (true, false) => {
                talk(
                    "you are asked about nothing anyway; --allow-all is for agents (`as AGENT`)\n",
                );
            }
            (false, _) => {}
        }
        servers::table_of(&statuses, self.hosting.screen)?;
        Ok(Exit::Ok)
    }

    /// How many servers there are, as far as whoever acts may know of them.
    pub(super) fn known_servers(&self) -> usize {
        let statuses = self.hosting.host.servers();
        let known = statuses
            .iter()
            .filter(|status| self.hosting.knows(&status.name));
        known.count()
    }

    /// Makes sure that there is such a server, as far as whoever acts may know of it.
    pub(super) fn known(&self, name: &str) -> Result<(), Failure> {
        let statuses = self.hosting.host.servers().into_iter();
        let known = statuses.filter(|status| self.hosting.knows(&status.name));
        let known: Vec<_> = known.map(|status| status.name).collect();
        let names: Vec<&str> = known.iter().map(ServerName::as_str).collect();
        match names.contains(&name) {
            true => Ok(()),
            false => Err(advise_adding(unknown_server(name, &names), name)),
        }
    }
}
