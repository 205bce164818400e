//! The subcommands of `/mcp`, which act on the servers of a prompt.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use switchboard::host::State;
use switchboard::policy::Audience;
use switchboard::spec::ServerName;
use switchboard::text::sanitise_line;

use super::input::{self, Input};
use super::serve::OpenPrompt;
use crate::commands::{listing, servers};
use crate::exit::Exit;
use crate::hosting::{Hosting, advise_adding, unknown_server};
use crate::report::{Failure, Report};
use crate::role;
use crate::screen::talk;

/// Connect to servers, and list what they offer.
#[derive(Debug, Parser)]
#[command(name = "/mcp", no_binary_name = true, disable_version_flag = true)]
pub(super) struct Slash {
    #[command(subcommand)]
    pub(super) verb: Option<SlashVerb>,
}

/// The subcommands of `/mcp`.
#[derive(Debug, Subcommand)]
pub(super) enum SlashVerb {
    /// Connect to a server.
    Connect {
        /// Name of the server.
        name: String,
        /// Don't ask about uses that the agent was granted, while this prompt is open.
        #[arg(long)]
        allow_all: bool,
        /// Show it to all agents with a grant, not only to the one that connects.
        #[arg(long)]
        shared: bool,
    },
    /// Close the connection to a server.
    Disconnect {
        /// Name of the server.
        name: String,
    },
    /// List tools.
    Tools {
        /// Server; all if omitted.
        server: Option<String>,
    },
    /// List resources.
    Resources {
        /// Server; all if omitted.
        server: Option<String>,
    },
    /// List prompts.
    Prompts {
        /// Server; all if omitted.
        server: Option<String>,
    },
    /// Get a prompt, filled in with arguments.
    Prompt {
        /// Prompt: SERVER/PROMPT.
        name: String,
        /// Arguments of the prompt: key=value.
        #[arg(value_name = "KEY=VALUE")]
        values: Vec<String>,
    },
    /// Show or set the roots of a server.
    Roots {
        /// Name of the server.
        name: String,
        /// Folders that replace the current roots.
        #[arg(value_name = "DIR")]
        folders: Vec<PathBuf>,
    },
    /// Reconnect to a server, and read its lists again.
    Retry {
        /// Name of the server.
        name: String,
    },
}

impl OpenPrompt<'_> {
    /// Runs a subcommand of `/mcp`.
    pub(super) async fn slash(&mut self, verb: SlashVerb) -> Result<Exit, Failure> {
        let words: Vec<String> = match verb {
            SlashVerb::Connect {
                name,
                allow_all,
                shared,
            } => {
                return self.connect(&name, allow_all, shared).await;
            }
            SlashVerb::Disconnect { name } => {
                self.check_known(&name)?;
                self.hosting.host.disconnect(&name).await?;
                talk(&format!("{name}: disconnected\n"));
                return Ok(Exit::Ok);
            }
            SlashVerb::Retry { name } => {
                self.check_known(&name)?;
                // On a live connection the lists are read again; a server that is warming up keeps its process.
                let host = &self.hosting.host;
                let status = match host.server(&name)?.state {
                    State::Connected => host.refresh(&name).await?,
                    _ => host.restart(&name).await?,
                };
                self.hosting.learn();
                servers::table_of(&[status], &self.hosting)?;
                return Ok(Exit::Ok);
            }
            SlashVerb::Roots { name, folders } => {
                self.check_known(&name)?;
                if !folders.is_empty() {
                    role::person_only("change the roots of a server")?;
                }
                return roots(&self.hosting, &name, &folders);
            }
            // The lists are those of the command line, and run as typed there.
            SlashVerb::Tools { server } => ["tools".to_owned()].into_iter().chain(server).collect(),
            SlashVerb::Resources { server } => {
                ["resources".to_owned()].into_iter().chain(server).collect()
            }
            SlashVerb::Prompts { server } => {
                ["prompts".to_owned()].into_iter().chain(server).collect()
            }
            SlashVerb::Prompt { name, values } => ["prompt".to_owned(), "--".to_owned(), name]
                .into_iter()
                .chain(values)
                .collect(),
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match input::verb(&words) {
            Input::Verb(cli) => Ok(self.verb(cli).await),
            Input::Said(text) => Err(Report::usage(text)),
            _ => Ok(Exit::Ok),
        }
    }

    async fn connect(
        &mut self,
        name: &str,
        allow_all: bool,
        shared: bool,
    ) -> Result<Exit, Failure> {
        self.check_known(name)?;
        if allow_all {
            role::person_only("use --allow-all")?;
        }
        if shared {
            role::person_only("use --shared")?;
        }
        let statuses = listing::connect(Some(name), &self.hosting).await?;
        self.hosting.learn();
        let (host, caller) = (&self.hosting.host, &self.hosting.actor.caller);
        // A server that the person connects as an agent is visible to that agent alone. At an agent's own
        // prompt there is no other caller, and it must not change the policy.
        let is_limited = (self.hosting.is_agent() && role::agent().is_none()) || shared;
        if let (true, Some(status)) = (is_limited, statuses.first()) {
            let audience = if shared {
                Audience::Everyone
            } else {
                Audience::Only(vec![caller.id().clone()])
            };
            let policy = (*host.policy()).clone();
            host.set_policy(policy.audience(status.name.clone(), audience));
        }
        match (allow_all, self.hosting.is_agent()) {
            (true, true) => host.allow_all(caller, name)?,
            (true, false) => {
                talk("--allow-all is for agents (`as AGENT`): you are never asked\n");
            }
            (false, _) => {}
        }
        servers::table_of(&statuses, &self.hosting)?;
        Ok(Exit::Ok)
    }

    /// Returns the number of servers that the caller may know of.
    pub(super) fn known_servers(&self) -> usize {
        let statuses = self.hosting.host.servers();
        let known = statuses
            .iter()
            .filter(|status| self.hosting.knows(&status.name));
        known.count()
    }

    /// Checks that there is such a server, and that the caller may know of it.
    pub(super) fn check_known(&self, name: &str) -> Result<(), Failure> {
        let statuses = self.hosting.host.servers().into_iter();
        let known = statuses.filter(|status| self.hosting.knows(&status.name));
        let known: Vec<_> = known.map(|status| status.name).collect();
        let names: Vec<&str> = known.iter().map(ServerName::as_str).collect();
        if names.contains(&name) {
            Ok(())
        } else {
            let report = unknown_server(name, &names);
            // An agent cannot add servers.
            Err(if self.hosting.is_agent() {
                report
            } else {
                advise_adding(report, name)
            })
        }
    }
}

/// Runs `/mcp roots`: sets the folders of a server if any are named, and shows the current ones.
fn roots(hosting: &Hosting<'_>, server: &str, folders: &[PathBuf]) -> Result<Exit, Failure> {
    if let Some(missing) = folders.iter().find(|folder| !folder.is_dir()) {
        let report = Report::usage("there is no such folder");
        return Err(report.fact("folder", missing.display().to_string()));
    }
    if !folders.is_empty() {
        hosting.host.set_roots(server, folders)?;
    }
    let roots = hosting.host.roots(server)?;
    if roots.is_empty() {
        talk(&format!(
            "{server} has no roots; `/mcp roots {server} DIR` sets one\n"
        ));
    }
    for root in roots {
        let line = hosting.screen.redact(&root.uri).into_owned();
        hosting
            .screen
            .result(&format!("{}\n", sanitise_line(&line)))?;
    }
    // A server connected without the roots capability cannot be told until it reconnects.
    let is_told = hosting.host.may_ask_for_roots(server)?;
    if !folders.is_empty() && is_told == Some(false) {
        talk(&format!(
            "{server} was connected without roots; `/mcp retry {server}` reconnects it\n"
        ));
    }
    Ok(Exit::Ok)
}
