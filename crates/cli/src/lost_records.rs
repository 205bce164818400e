//! Warnings about records of approvals and pins whose files are gone.

use switchboard::files;
use switchboard::private_store;
use switchboard::text::{sanitise_line, shell_path, shell_word};
use switchboard::transport::Environment;

use crate::hosting::Hosting;
use crate::screen::Screen;
use crate::state;

/// Maximum number of server names in a warning; their total is always shown.
const SHOWN: usize = 5;

/// Command that ends the warning about lost approvals.
const END: &str = "switchboard trust revoke --lost";

/// The lost records. A store that cannot be read is ignored here: the command that needs it reports the
/// error.
#[derive(Debug, Default)]
pub(crate) struct LostRecords {
    trust: Option<private_store::Lost>,
    approvals: Option<private_store::Lost>,
    pins: Vec<private_store::Lost>,
}

impl LostRecords {
    /// Looks for lost records in all stores, which also note losses that they find for the first time.
    pub(crate) fn look(environment: &Environment) -> Self {
        Self {
            trust: state::trust(environment).lost_file().ok().flatten(),
            approvals: state::approvals(environment).lost_file().ok().flatten(),
            pins: state::pins(environment).lost_files().unwrap_or_default(),
        }
    }

    /// Returns the warning about lost approvals of project servers, and the command that ends it.
    pub(crate) fn trust(&self) -> Option<(String, String)> {
        let lost = self.trust.as_ref()?;
        let (count, names) = (count_of(lost.note.count(), "server"), names(lost));
        Some((
            format!(
                "{lost}: {count} had been approved ({names}); you will be asked again. `{END}` dismisses this warning"
            ),
            END.to_owned(),
        ))
    }

    /// Returns the warning about lost approvals of agents, and the command that ends it.
    pub(crate) fn approvals(&self) -> Option<(String, String)> {
        let lost = self.approvals.as_ref()?;
        let (count, names) = (count_of(lost.note.count(), "approval"), names(lost));
        Some((
            format!("{lost}: {count} for agents ({names}) will be asked for again"),
            "switchboard policy revoke --all".to_owned(),
        ))
    }

    /// Returns a warning for each server whose pins are lost, and the command that fixes it.
    pub(crate) fn pins(&self) -> impl Iterator<Item = (&str, (String, String))> {
        self.pins.iter().filter_map(|lost| {
            let server = lost.note.servers().first()?;
            let text = format!(
                "{lost}: the record of what you approved of {server} is lost; agents get nothing from \
                 it until you approve it again"
            );
            let fix = format!("switchboard pins approve {}", shell_word(server));
            Some((server.as_str(), (text, fix)))
        })
    }

    /// Returns all warnings, each with its command.
    pub(crate) fn warnings(&self) -> Vec<(String, String)> {
        let mut told: Vec<_> = self.trust().into_iter().chain(self.approvals()).collect();
        told.extend(self.pins().map(|(_, told)| told));
        told
    }
}

/// Warns of lost records: the person of those of their servers here, an agent of those that it may know of.
pub(crate) fn warn_of_loss(hosting: &Hosting<'_>, environment: &Environment) {
    let lost = LostRecords::look(environment);
    if !hosting.is_agent() {
        let approvals = lost.trust().into_iter().chain(lost.approvals());
        warn(approvals, hosting.screen);
        warn_of_folders(environment, hosting.screen);
    }
    let servers = hosting.host.servers();
    let is_here = |name: &str| {
        let mut servers = servers.iter();
        servers.any(|status| status.name.as_str() == name && hosting.knows(&status.name))
    };
    // Pins of servers that are not configured here do not matter now.
    let pins = lost.pins().filter(|(server, _)| is_here(server));
    warn(pins.map(|(_, told)| told), hosting.screen);
}

/// Warns of parent folders that members of a group may change. If everyone may change one, the stores refuse
/// to work.
fn warn_of_folders(environment: &Environment, screen: &Screen) {
    let Some(folder) = state::state(environment) else {
        return;
    };
    for loose in files::judge_folders(&folder).unwrap_or_default() {
        let name = loose.display().to_string();
        let text = format!("group members can write to {name} and could change your approvals");
        let fix = format!("chmod g-w {}", shell_path(&name));
        warn([(text, fix)], screen);
    }
}

/// Shows warnings, each with its command unless the text names it already.
pub(crate) fn warn(told: impl IntoIterator<Item = (String, String)>, screen: &Screen) {
    for (text, fix) in told {
        let text = if text.contains(&fix) {
            text
        } else {
            format!("{text} (`{fix}`)")
        };
        screen.warn(&sanitise_line(&text));
    }
}

fn count_of(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        many => format!("{many} {what}s"),
    }
}

fn names(lost: &private_store::Lost) -> String {
    let servers = lost.note.servers();
    let mut names: Vec<&str> = servers.iter().take(SHOWN).map(String::as_str).collect();
    if servers.len() > SHOWN {
        names.push("...");
    }
    names.join(", ")
}
