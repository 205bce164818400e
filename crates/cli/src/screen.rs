//! Where everything is printed: results on stdout, talk on stderr without secrets.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io;

use serde::Serialize;
use switchboard::protocol::Raw;
use switchboard::secret::Redactor;
use switchboard::text::sanitise_line;
use switchboard::transport::Environment;

use crate::args::Connection;
use crate::exit::Exit;
use crate::live;
use crate::output::{self, Stream};
use crate::report::{Failure, Report};
use crate::secrets;
use crate::style::Style;

/// Where everything is printed.
pub(crate) struct Screen {
    json: bool,
    quiet: bool,
    /// Whether what helps few people is shown, too.
    verbose: bool,
    secrets: RefCell<Redactor>,
}

impl Screen {
    /// A screen that shows no secret of that connection.
    pub(crate) fn new(connection: &Connection, host: &Environment) -> Self {
        Self {
            json: connection.json,
            quiet: connection.quiet,
            verbose: connection.verbose,
            secrets: RefCell::new(secrets::known(connection, host)),
        }
    }

    /// A screen that knows no secrets.
    pub(crate) fn plain(json: bool) -> Self {
        Self {
            json,
            quiet: false,
            verbose: false,
            secrets: RefCell::default(),
        }
    }

    /// Learns more secrets, as soon as they are known.
    pub(crate) fn learn(&self, secrets: &Redactor) {
        self.secrets.borrow_mut().merge(secrets);
    }

    /// The secrets that are known by now.
    pub(crate) fn secrets(&self) -> Redactor {
        self.secrets.borrow().clone()
    }

    /// Whether a program reads.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether nothing is to be said but results and errors.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether a person watches, who is to see what is waited for.
    pub(crate) fn is_live(&self) -> bool {
        !self.json && !self.quiet && live::is_possible()
    }

    /// Takes the known secrets out of a text.
    pub(crate) fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.secrets.borrow().redact(text)
    }

    /// Takes the known secrets out of a JSON value, and makes it safe to show.
    pub(crate) fn safe_json(&self, value: &Raw) -> String {
        secrets::safe_json(&self.secrets.borrow(), value)
    }

    /// A document of `--json` as one line: without secrets, and safe to show.
    ///
    /// # Errors
    /// When it cannot be written as JSON, which is a fault of ours.
    pub(crate) fn json_line(&self, document: &impl Serialize) -> Result<String, Failure> {
        secrets::json_line(&self.secrets.borrow(), document)
    }

    /// Prints a result, which is safe to show already.
    ///
    /// # Errors
    /// When it cannot be written. A reader that has gone, as with `| head`, wants no more, and is
    /// no error.
    pub(crate) fn result(&self, text: &str) -> Result<(), Failure> {
        self.result_bytes(text.as_bytes())
    }

    /// Prints a result that is none of our making, to be read by a program: nothing of it is made
    /// safe.
    ///
    /// # Errors
    /// As [`Screen::result`].
    pub(crate) fn result_bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        unless_gone(live::around(|| output::write(Stream::Out, bytes)))
    }

    /// Prints what went wrong, and says what the process is to return.
    pub(crate) fn fail(&self, report: &Report) -> Exit {
        let text = if self.json {
            report.json(&self.secrets.borrow(), self.verbose)
        } else {
            report.text(&self.secrets.borrow(), Style::of_stderr(), self.verbose)
        };
        talk(&text);
        report.exit
    }

    /// Returns the exit code of something that was done, and prints why it was not.
    pub(crate) fn finish(&self, done: Result<(), Failure>) -> Exit {
        match done {
            Ok(()) => Exit::Ok,
            Err(report) => self.fail(&report),
        }
    }

    /// Prints what a person should know although all went well, unless they want to know of errors
    /// alone. A program finds it in the result.
    pub(crate) fn warn(&self, text: &str) {
        if !self.json && !self.quiet {
            let label = Style::of_stderr().warning("warning:");
            talk(&format!("{label} {}\n", sanitise_line(&self.redact(text))));
        }
    }
}

/// Reports that a result could not be written. A reader that has gone wants no more, and is no error.
///
/// # Errors
/// When it could not.
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

/// Prints to stderr.
pub(crate) fn talk(text: &str) {
    // Where nobody listens, nothing is lost.
    live::around(|| output::write(Stream::Err, text.as_bytes()).ok());
}
