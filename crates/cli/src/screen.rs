//! Where everything is printed: results on stdout, talk on stderr, secrets on neither.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, Write as _};

use switchboard::protocol::Raw;
use switchboard::secret::Redactor;
use switchboard::text::{sanitise_line, write_json_safe};
use switchboard::transport::Environment;

use crate::args::Connection;
use crate::exit::Exit;
use crate::report::{Failure, Report};
use crate::secrets;
use crate::style::Style;

/// Where everything is printed.
pub(crate) struct Screen {
    json: bool,
    secrets: RefCell<Redactor>,
}

impl Screen {
    /// A screen that shows no secret of that connection.
    pub(crate) fn new(connection: &Connection, host: &Environment) -> Self {
        Self {
            json: connection.json,
            secrets: RefCell::new(secrets::known(connection, host)),
        }
    }

    /// A screen that knows no secrets.
    pub(crate) fn plain(json: bool) -> Self {
        Self {
            json,
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

    /// Takes the known secrets out of a text.
    pub(crate) fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.secrets.borrow().redact(text)
    }

    /// Takes the known secrets out of a JSON value, and makes it safe to show.
    pub(crate) fn safe_json(&self, value: &Raw) -> String {
        write_json_safe(&secrets::redact_json(&self.secrets.borrow(), value)).into_owned()
    }

    /// Prints a result, which is safe to show already.
    ///
    /// # Errors
    /// When it cannot be written. A reader that has gone, as with `| head`, wants no more, and is
    /// no error.
    pub(crate) fn result(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        let written = stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush());
        match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let report = Report::new(
                    Exit::Internal,
                    "internal",
                    "the result could not be written",
                );
                Err(report.fact("the system says", error.to_string()))
            }
            _ => Ok(()),
        }
    }

    /// Prints what a server answered: all of it as JSON for a program, `text` for a person.
    ///
    /// # Errors
    /// As [`Screen::result`].
    pub(crate) fn answer(&self, whole: &Raw, text: impl FnOnce() -> String) -> Result<(), Failure> {
        match self.json {
            true => self.result(&format!("{}\n", self.safe_json(whole))),
            false => self.result(&text()),
        }
    }

    /// Prints what went wrong, and says what the process is to return.
    pub(crate) fn fail(&self, report: &Report) -> Exit {
        let text = if self.json {
            report.json(&self.secrets.borrow())
        } else {
            report.text(&self.secrets.borrow(), Style::of_stderr())
        };
        talk(&text);
        report.exit
    }

    /// Prints what a person should know although all went well. A program finds it in the result.
    pub(crate) fn warn(&self, text: &str) {
        if !self.json {
            let label = Style::of_stderr().warning("warning:");
            talk(&format!("{label} {}\n", sanitise_line(&self.redact(text))));
        }
    }
}

/// Prints to stderr.
pub(crate) fn talk(text: &str) {
    // Where nobody listens, nothing is lost.
    io::stderr().write_all(text.as_bytes()).ok();
}
