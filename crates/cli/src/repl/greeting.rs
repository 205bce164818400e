//! The greeting of the prompt, and its help.

use clap::{Args as _, CommandFactory as _};
use switchboard::host::Status;

use super::input::BUILT_IN;
use super::serve::OpenPrompt;
use crate::args::{Cli, Connection};
use crate::described::DEMO;
use crate::exit::Exit;
use crate::report::Failure;
use crate::role;
use crate::screen::{Screen, talk};
use crate::table::{columns, table};

/// Help text of `/mcp`.
pub(super) const SLASH_HELP: &str = "
/mcp connect NAME [--allow-all] [--shared]   connect to a server
/mcp disconnect NAME                         close its connection
/mcp retry NAME                              connect to it again
/mcp tools | resources | prompts [SERVER]    list what it offers
/mcp prompt SERVER/NAME [KEY=VALUE]          get a prompt
/mcp roots NAME [DIR]                        the folders that it may use
";

impl OpenPrompt<'_> {
    /// Prints the greeting, and starts to connect to the servers that need no approval.
    pub(super) fn greet(&mut self) {
        let statuses = self.hosting.host.servers();
        let names: Vec<&Status> = statuses
            .iter()
            .filter(|status| self.hosting.knows(&status.name))
            .collect();
        // Only the bundled server, which no file defines: a first visit.
        let is_bare = matches!(names.as_slice(), [one] if one.name.as_str() == DEMO && one.origin.file.is_none());
        let mut text = format!("switchboard {}\n", env!("CARGO_PKG_VERSION"));
        if is_bare {
            text.push_str(
                "No servers are configured yet. Try the bundled one, demo:\n  \
                 call demo/echo message=hello\n\
                 Add your own with `add NAME -- CMD ARGS` or `import`.\n",
            );
        } else {
            let waiting = names.iter().filter(|status| {
                matches!(
                    self.hosting.host.question(status.name.as_str()),
                    Ok(Some(_))
                )
            });
            let waiting: Vec<&str> = waiting.map(|status| status.name.as_str()).collect();
            text.push_str(&format!("{}\n", count(names.len())));
            if let Some(first) = waiting.first() {
                let way = match role::agent() {
                    Some(_) => "only the person can approve, at a prompt without --as".to_owned(),
                    None => format!("`/mcp connect {first}` asks"),
                };
                text.push_str(&format!("needs approval: {} ({way})\n", waiting.join(", ")));
            }
        }
        text.push_str(
            "Type `help` for commands, `/mcp` for servers. Tab completes, Ctrl-D exits.\n",
        );
        talk(&text);
        // After the greeting, so that news of the connections come below it.
        self.connect_early(|_| true);
    }
}

/// Formats a number of servers.
pub(super) fn count(servers: usize) -> String {
    match servers {
        1 => "1 server".to_owned(),
        many => format!("{many} servers"),
    }
}

/// Formats the help of one command: usage, arguments and its own options. Options that describe other servers
/// are for the command line, and only named there.
pub(super) fn help_text(words: &[&str]) -> Option<String> {
    let usual = Connection::augment_args(clap::Command::new("usual"));
    let is_usual = |arg: &clap::Arg| {
        let is_output = ["json", "quiet"].contains(&arg.get_id().as_str());
        !is_output
            && usual
                .get_arguments()
                .any(|known| known.get_id() == arg.get_id())
    };
    let mut command = Cli::command();
    command.build();
    for word in words {
        command = command.find_subcommand(word)?.clone();
    }
    let mut command = command.mut_args(|arg| if is_usual(&arg) { arg.hide(true) } else { arg });
    let text = command.render_help().to_string();
    Some(text.replace("Usage: switchboard ", "Usage: "))
}

/// Shows everything that can be typed.
pub(super) fn help(screen: &Screen) -> Result<Exit, Failure> {
    let row = |name: &str, about: &str| (name.to_owned(), about.to_owned());
    let mut rows: Vec<_> = BUILT_IN
        .iter()
        .map(|(name, about)| row(name, about))
        .collect();
    let all = Cli::command();
    let hidden = ["repl", "serve", "test-server", "up", "help"];
    let verbs = all
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set() && !hidden.contains(&verb.get_name()));
    rows.extend(verbs.map(|verb| {
        let about = verb.get_about().map(ToString::to_string);
        row(verb.get_name(), &about.unwrap_or_default())
    }));
    screen.result(&table(&rows, columns(), &screen.secrets()))?;
    Ok(Exit::Ok)
}
