//! The open host of a prompt, and the commands that are run on it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use switchboard::ErrorKind;
use switchboard::host::State;
use switchboard::policy::CallerId;
use switchboard::session::CancelReason;
use switchboard::spec::ServerName;
use switchboard::text::sanitise_line;
use switchboard_console::editor::Editor;
use switchboard_terminal::path::shorten;
use tokio::task::JoinSet;

use super::complete::Names;
use super::input::Input;
use super::news::{News, NewsReader};
use crate::args::{Acting, Cli, Command, Connection};
use crate::ask;
use crate::cache;
use crate::commands::{self, servers};
use crate::exit::Exit;
use crate::hosting::{HostSource, Hosting, Opened, Selector, with_hint};
use crate::journal::{Journal, JournalWriter};
use crate::login::explained;
use crate::reloading::{FileNews, Reloading, changes, describe};
use crate::report::{Failure, Report};
use crate::role;
use crate::scope;
use crate::screen::{Screen, talk};

/// An open prompt: its host and everything that lives as long as that. `reload` replaces the host, the
/// journal and the news; the editor and the completer stay.
pub(super) struct OpenPrompt<'a> {
    source: HostSource<'a>,
    editor: Editor,
    names: Names,
    pub(super) hosting: Hosting<'a>,
    writing: JournalWriter,
    news: News,
    /// The caller that events are shown to.
    reader: NewsReader,
    /// True while a command runs, which reports its own failures.
    is_busy: Arc<AtomicBool>,
    /// Connections that are being opened without a request for them.
    pub(super) opening: JoinSet<()>,
    /// Follows the config files, at a terminal.
    reloading: Option<Reloading>,
}

impl<'a> OpenPrompt<'a> {
    /// Opens the host. Nothing is started.
    ///
    /// # Errors
    /// Fails if the servers of the command line are described wrongly.
    pub(super) fn open(
        source: HostSource<'a>,
        editor: &Editor,
        names: &Names,
    ) -> Result<Self, Failure> {
        let Opened { hosting, trace } = source.open(Selector::All)?;
        show_broken_files(&hosting)?;
        let events = source.connection.events.as_deref();
        // The journal is opened before anything connects, so that it has every event.
        let writing = Journal::open(events, trace, &hosting)?.begin();
        let is_busy = Arc::default();
        let reader = NewsReader::of(hosting.actor.caller.clone());
        names.set(hosting.host.clone(), hosting.view());
        let reloading = reloading(&hosting, source.connection)?;
        Ok(Self {
            source,
            editor: editor.clone(),
            names: names.clone(),
            news: News::start(&hosting, editor.printer(), &is_busy, &reader),
            reader,
            hosting,
            writing,
            is_busy,
            opening: JoinSet::new(),
            reloading,
        })
    }

    /// Returns the text of the prompt.
    pub(super) fn text(&self) -> String {
        if self.hosting.is_agent() {
            format!("switchboard ({})> ", self.hosting.actor.caller)
        } else {
            "switchboard> ".to_owned()
        }
    }

    /// Returns the reason that servers get for a cancelled request.
    pub(super) fn reason(&self) -> CancelReason {
        self.hosting.reason.clone()
    }

    /// Shows a report.
    pub(super) fn fail(&self, report: Failure) -> Exit {
        self.hosting.learn();
        self.hosting
            .screen
            .fail(&self.hosting.with_location(report).at_prompt())
    }

    /// Closes all connections, and waits until every server has ended.
    pub(super) async fn close(&mut self) {
        // Their end is expected, and not shown.
        self.is_busy.store(true, Ordering::Release);
        self.opening.abort_all();
        // Before the shutdown: only lists of servers that are connected are cached.
        cache::remember(&self.hosting);
        // Only saves time in the next run, so errors are ignored.
        self.hosting.host.save_eras().ok();
        self.hosting.host.shutdown().await;
        std::mem::take(&mut self.writing).end().await;
    }

    /// Connects in the background to the wanted servers that need no approval.
    pub(super) fn connect_early(&mut self, wanted: impl Fn(&str) -> bool) {
        for status in self.hosting.host.servers() {
            let name = status.name.to_string();
            let needs_no_approval = matches!(self.hosting.host.question(&name), Ok(None));
            if status.is_disabled()
                || !needs_no_approval
                || !self.hosting.knows(&status.name)
                || !wanted(&name)
            {
                continue;
            }
            let host = self.hosting.host.clone();
            let printer = self.editor.printer().clone();
            self.opening.spawn(async move {
                // Other outcomes are shown as news; an entry that cannot be used makes none.
                if let Err(error) = host.connect(&name).await
                    && error.kind() == ErrorKind::Configuration
                {
                    let title = explained(&error).title;
                    let line = format!("{name}: {title} (`servers {name}` shows details)");
                    let line = host.secrets().redact(&line).into_owned();
                    printer.print(format!("* {}", sanitise_line(&line)));
                }
            });
        }
    }

    /// Waits until the config files have changed, and the host has taken them. Cancel safe.
    pub(super) async fn file_news(&mut self) -> FileNews {
        match &mut self.reloading {
            Some(reloading) => reloading.next().await,
            None => std::future::pending().await,
        }
    }

    /// Shows a change of the config files above the line that is being typed, and connects to the servers
    /// that it is about.
    pub(super) fn take_files(&mut self, news: FileNews) {
        let host = self.hosting.host.clone();
        let print = |line: &str| {
            let line = host.secrets().redact(line).into_owned();
            (self.editor.printer()).print(format!("* {}", sanitise_line(&line)));
        };
        match news {
            FileNews::Taken {
                files,
                done,
                warnings,
            } => {
                if self.hosting.is_agent() {
                    // Warnings may name what is hidden from it.
                    print(&describe(&done, |name| self.hosting.knows(name)));
                } else {
                    warnings.iter().for_each(|warning| print(warning));
                    print(&describe(&done, |_| true));
                }
                self.hosting.files = files;
                let new = [&done.added, &done.changed, &done.approved];
                let new: Vec<&ServerName> = new.into_iter().flatten().collect();
                self.connect_early(|name| new.iter().any(|new| new.as_str() == name));
            }
            FileNews::Refused { problems, done } => {
                if self.hosting.is_agent() {
                    print("a config file cannot be read: the servers stay as they are");
                } else {
                    for problem in &problems {
                        let problem = with_hint(problem);
                        print(&format!("{problem}: the servers stay as they are"));
                    }
                }
                let knows =
                    |name: &ServerName| !self.hosting.is_agent() || self.hosting.knows(name);
                if let Some(changes) = changes(&done, knows) {
                    print(&changes);
                }
            }
        }
    }

    /// Returns true if a line opens servers of its own, and handles signals itself.
    pub(super) fn has_own_servers(&self, input: &Input) -> bool {
        match input {
            Input::Verb(cli) => cli
                .command
                .as_ref()
                .is_some_and(|command| !is_on_open(command)),
            _ => false,
        }
    }

    /// Runs a parsed line, and shows its outcome.
    pub(super) async fn obey(&mut self, input: Input) -> Exit {
        ask::begin();
        self.is_busy.store(true, Ordering::Release);
        let _busy = Busy(Arc::clone(&self.is_busy));
        let done = match input {
            Input::Nothing | Input::Leave => Ok(Exit::Ok),
            Input::Said(text) => {
                talk(&text);
                Ok(Exit::Ok)
            }
            Input::Help => super::greeting::help(self.hosting.screen),
            Input::Mcp => self.overview(),
            Input::Reload => self.reload().await,
            Input::As(agent) => self.act_as(agent.as_deref()),
            Input::Slash(verb) => self.slash(verb).await,
            Input::Verb(cli) => Ok(self.verb(cli).await),
        };
        let done = done.unwrap_or_else(|report| self.fail(report));
        // Let the news task see the command's events while it still counts as busy.
        tokio::task::yield_now().await;
        done
    }

    fn overview(&self) -> Result<Exit, Failure> {
        let statuses = self.hosting.host.check_approvals().into_iter();
        let known = statuses.filter(|status| self.hosting.knows(&status.name));
        servers::table_of(&known.collect::<Vec<_>>(), &self.hosting)?;
        self.hosting.screen.result(super::greeting::SLASH_HELP)?;
        Ok(Exit::Ok)
    }

    /// Loads the config files again. Servers that were connected are connected again.
    async fn reload(&mut self) -> Result<Exit, Failure> {
        let Opened { mut hosting, trace } = self.source.open(Selector::All)?;
        show_broken_files(&hosting)?;
        // Only the caller is taken over: the note of a refusal belongs to the new host.
        hosting.actor.caller = self.hosting.actor.caller.clone();
        let were_used = self.hosting.host.servers().into_iter();
        let were_used = were_used.filter(|status| !matches!(status.state, State::Idle));
        let were_used: Vec<String> = were_used.map(|status| status.name.to_string()).collect();
        let before: Vec<ServerName> = self
            .hosting
            .host
            .servers()
            .into_iter()
            .map(|status| status.name)
            .collect();
        // The old host ends before the new one starts anything: two processes of one server could clash.
        self.close().await;
        let events = self.source.connection.events.as_deref();
        self.writing = Journal::open(events, trace, &hosting)?.begin();
        let (is_busy, reader) = (&self.is_busy, &self.reader);
        self.news = News::start(&hosting, self.editor.printer(), is_busy, reader);
        self.names.set(hosting.host.clone(), hosting.view());
        self.reloading = reloading(&hosting, self.source.connection)?;
        self.hosting = hosting;
        self.connect_early(|name| {
            were_used.iter().any(|used| used == name)
                || !before.iter().any(|old| old.as_str() == name)
        });
        talk(&format!(
            "{}\n",
            super::greeting::count(self.known_servers())
        ));
        Ok(self.files_exit())
    }

    /// Returns the exit code if nothing failed but reading a config file.
    pub(super) fn files_exit(&self) -> Exit {
        if self.hosting.files.broken_files().is_empty() {
            Exit::Ok
        } else {
            Exit::Configuration
        }
    }

    fn act_as(&mut self, agent: Option<&str>) -> Result<Exit, Failure> {
        if agent.is_none() || agent != role::agent().map(CallerId::as_str) {
            role::person_only("act as someone else")?;
        }
        let agent = agent.map(CallerId::parse).transpose();
        let agent = agent.map_err(|error| Report::usage(error.to_string()))?;
        if let Some(agent) = &agent
            && self.hosting.host.policy().of(agent).is_none()
        {
            self.hosting.screen.warn(&format!(
                "no policy for agent {agent:?}: nothing is allowed. Add it under `agents` in {}, such as \
                 \"agents\": {{\"{agent}\": {{\"level\": \"trusted\"}}}}, then type `reload`",
                self.own_file()
            ));
        }
        self.hosting.actor = self
            .hosting
            .actor
            .become_one(&Acting { agent, level: None });
        // News and completion follow the caller at once.
        self.reader.set(self.hosting.actor.caller.clone());
        self.names
            .set(self.hosting.host.clone(), self.hosting.view());
        Ok(Exit::Ok)
    }

    /// Returns the file that policies are read from, for people.
    fn own_file(&self) -> String {
        let named = self.source.connection.config.clone();
        let own = || {
            let places = scope::places(None, self.source.environment).ok()?;
            places.user_file().map(Path::to_owned)
        };
        match named.or_else(own) {
            Some(file) => shorten(&file.display().to_string()),
            None => "your own config file".to_owned(),
        }
    }

    /// Runs a command of the command line: on the open servers, or on servers of its own if it says how to
    /// reach others.
    pub(super) async fn verb(&mut self, cli: Box<Cli>) -> Exit {
        let Some(command) = &cli.command else {
            return Exit::Usage;
        };
        if matches!(
            command,
            Command::Repl(_) | Command::Serve(_) | Command::TestServer(_) | Command::Up(_)
        ) {
            let report = Report::usage("this command does not run at the prompt");
            return self.fail(report);
        }
        if let (true, Some(connection)) = (is_on_open(command), commands::connection(command)) {
            let screen = Screen::new(connection, self.source.environment);
            let hosting = self.hosting.shown_on(&screen);
            hosting.learn();
            let done = match commands::selector(command) {
                Ok(Selector::Server(name)) if hosting.described.is_none() => self.check_known(name),
                Ok(_) => Ok(()),
                Err(report) => Err(report),
            };
            let done = match done {
                Ok(()) => {
                    let _hushed = match command {
                        Command::Logs(_) => Some(self.news.hush_logs()),
                        _ => None,
                    };
                    commands::run_on(command, &hosting).await
                }
                Err(report) => Err(report),
            };
            return done.unwrap_or_else(|report| {
                hosting.learn();
                screen.fail(&hosting.with_location(report).at_prompt())
            });
        }
        // Any other command acts for the person: it reads and changes their files, or starts servers of its
        // own.
        if let Err(report) = role::person_only("do this") {
            return self.fail(report);
        }
        // Commands that change the config take effect at once.
        let is_edit = matches!(
            command,
            Command::Add(_)
                | Command::Remove(_)
                | Command::Enable(_)
                | Command::Disable(_)
                | Command::Import(_)
                | Command::Trust(_)
        );
        // On another thread: such a command builds a runtime of its own.
        let done = tokio::task::spawn_blocking(move || {
            cli.command.as_ref().map_or(Exit::Usage, commands::run)
        });
        let done = done.await.unwrap_or(Exit::Internal);
        if is_edit
            && done == Exit::Ok
            && let Err(report) = self.reload().await
        {
            return self.fail(report);
        }
        done
    }
}

/// Prepares to follow the config files, at a terminal: a script reads them when it says so.
///
/// # Errors
/// Fails if the current folder cannot be determined.
fn reloading(hosting: &Hosting<'_>, connection: &Connection) -> Result<Option<Reloading>, Failure> {
    if !ask::is_attended() || hosting.described.is_some() {
        return Ok(None);
    }
    let mut reloading = Reloading::new(hosting, connection.config.as_deref())?;
    if let Some(warning) = reloading.watch() {
        hosting.screen.warn(&warning);
    }
    Ok(Some(reloading))
}

/// Shows the files that cannot be used.
///
/// # Errors
/// Returns the report if the others have no server.
fn show_broken_files(hosting: &Hosting<'_>) -> Result<(), Failure> {
    hosting.check_files()?;
    let report = hosting.files.broken_report(hosting.is_agent());
    if let Some(report) = report.filter(|_| hosting.screen.is_json()) {
        hosting.screen.fail(&report);
    }
    Ok(())
}

/// Returns true if a command runs on the open servers.
fn is_on_open(command: &Command) -> bool {
    commands::connection(command).is_some_and(Connection::is_plain)
}

/// Marks a command as running until it is dropped.
struct Busy(Arc<AtomicBool>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}
