//! Output of a command: results on stdout, messages on stderr, secrets on neither.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io;

use serde::Serialize;
use switchboard::protocol::Raw;
use switchboard::secret::Redactor;
use switchboard::text::sanitise_line;
use switchboard::transport::Environment;

use switchboard_console::board;
pub(crate) use switchboard_console::talk;
use switchboard_terminal::fold::stderr_columns;
use switchboard_terminal::pager::Pager;
use switchboard_terminal::wrap::wrap;

use crate::args::Connection;
use crate::ask::{self, Away};
use crate::blocking::run_blocking;
use crate::exit::Exit;
use crate::output::{self, Stream};
use crate::report::{Failure, Report};
use crate::secrets;
use crate::style::Style;

/// The output of a command and its settings. It redacts the secrets that it has learned.
pub(crate) struct Screen {
    json: bool,
    quiet: bool,
    /// True if facts that help few people are shown too.
    verbose: bool,
    /// True if long results may be shown by a pager.
    has_pager: bool,
    /// Results that wait for the pager.
    pages: RefCell<String>,
    secrets: RefCell<Redactor>,
}

impl Screen {
    /// Creates a screen that redacts the secrets of the connection options.
    pub(crate) fn new(connection: &Connection, host: &Environment) -> Self {
        Self {
            json: connection.json,
            quiet: connection.quiet,
            verbose: connection.verbose,
            has_pager: !connection.json && !connection.no_pager,
            pages: RefCell::default(),
            secrets: RefCell::new(secrets::of_connection(connection, host)),
        }
    }

    /// Creates a screen that knows no secrets.
    pub(crate) fn plain(json: bool) -> Self {
        Self {
            json,
            quiet: false,
            verbose: false,
            has_pager: false,
            pages: RefCell::default(),
            secrets: RefCell::default(),
        }
    }

    /// Adds secrets to redact.
    pub(crate) fn learn(&self, secrets: &Redactor) {
        self.secrets.borrow_mut().merge(secrets);
    }

    /// Returns the secrets that are known by now.
    pub(crate) fn secrets(&self) -> Redactor {
        self.secrets.borrow().clone()
    }

    /// Returns true with `--json`.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Returns true with `--quiet`: only results and errors are shown.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Returns true if progress lines are shown: a person watches at a capable terminal.
    pub(crate) fn is_live(&self) -> bool {
        !self.json && !self.quiet && board::is_possible()
    }

    /// Redacts the known secrets in a text.
    pub(crate) fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.secrets.borrow().redact(text)
    }

    /// Redacts the known secrets in a JSON value, and makes it safe to show.
    pub(crate) fn safe_json(&self, value: &Raw) -> String {
        switchboard_terminal::json::safe_json(&self.secrets.borrow(), value)
    }

    /// Formats a document of `--json` as one line, redacted and safe to show.
    ///
    /// # Errors
    /// Returns an internal error if the document has no JSON form.
    pub(crate) fn json_line(&self, document: &impl Serialize) -> Result<String, Failure> {
        secrets::json_line(&self.secrets.borrow(), document)
    }

    /// Prints a result, which is safe to show already.
    ///
    /// # Errors
    /// Fails if it cannot be written. A reader that is gone, as with `| head`, is not an error.
    pub(crate) fn result(&self, text: &str) -> Result<(), Failure> {
        self.result_bytes(text.as_bytes())
    }

    /// Prints a result for a person to read, through the pager if it is longer than the terminal. The pager
    /// starts with [`Screen::show_pages`], once the command has printed everything.
    ///
    /// # Errors
    /// As [`Screen::result`].
    pub(crate) fn page(&self, text: &str) -> Result<(), Failure> {
        // The prompt prints news meanwhile, which a pager would hide.
        if self.has_pager && !ask::has_prompt() && Pager::of_stdout(text).is_some() {
            self.pages.borrow_mut().push_str(text);
            return Ok(());
        }
        self.result(text)
    }

    /// Shows the results that wait for the pager, and waits until the person has left it.
    ///
    /// # Errors
    /// As [`Screen::result`].
    pub(crate) async fn show_pages(&self) -> Result<(), Failure> {
        let text = self.pages.take();
        let Some(pager) = Pager::of_stdout(&text) else {
            return if text.is_empty() {
                Ok(())
            } else {
                self.result(&text)
            };
        };
        // Warnings come before the pager takes the terminal.
        output::drain().await;
        // While the pager runs, Ctrl-C belongs to it.
        let _away = Away::begin();
        let (shown, text) = run_blocking(move || (pager.show(&text), text)).await;
        match shown {
            Ok(()) => Ok(()),
            Err(_) => self.result(&text),
        }
    }

    /// Prints bytes of a server as they are, for a program to read.
    ///
    /// # Errors
    /// As [`Screen::result`].
    pub(crate) fn result_bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        unless_gone(board::around(|| output::write(Stream::Out, bytes)))
    }

    /// Prints a report on stderr, and returns its exit code.
    pub(crate) fn fail(&self, report: &Report) -> Exit {
        let text = if self.json {
            report.json(&self.secrets.borrow(), self.verbose)
        } else {
            let text = report.text(&self.secrets.borrow(), Style::of_stderr(), self.verbose);
            wrap(&text, stderr_columns())
        };
        talk(&text);
        report.exit
    }

    /// Returns success, or prints the report and returns its exit code.
    pub(crate) fn finish(&self, done: Result<(), Failure>) -> Exit {
        match done {
            Ok(()) => Exit::Ok,
            Err(report) => self.fail(&report),
        }
    }

    /// Prints a warning on stderr, unless `--quiet` or `--json` is given: JSON results contain the warnings.
    pub(crate) fn warn(&self, text: &str) {
        if !self.json && !self.quiet {
            let label = Style::of_stderr().warning("warning:");
            let line = format!("{label} {}\n", sanitise_line(&self.redact(text)));
            talk(&wrap(&line, stderr_columns()));
        }
    }
}

/// Turns a write error into a report. A reader that is gone is not an error.
///
/// # Errors
/// Returns an internal error for any other write error.
pub(crate) fn unless_gone(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let title = "the result could not be written";
            let report = Report::new(Exit::Internal, "internal", title);
            Err(report.fact("the system says", error.to_string()))
        }
        _ => Ok(()),
    }
}
