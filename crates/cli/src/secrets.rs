//! Secrets of the command line.

use serde::Serialize;
use switchboard::mask::learn_variables;
use switchboard::protocol::Raw;
use switchboard::secret::{Redactor, SafeUrl};
use switchboard::transport::Environment;

use crate::args::Connection;
use crate::exit::Exit;
use crate::report::{Failure, Report};
use switchboard_terminal::json::safe_json;

/// Collects the secrets that a command line gives to a server: in variables, headers, arguments and the URL.
/// The library defines which values count as secret.
pub(crate) fn of_connection(connection: &Connection, host: &Environment) -> Redactor {
    let mut known = Redactor::new();
    let given = connection
        .env
        .iter()
        .filter_map(|word| word.split_once('='));
    learn_variables(given, &connection.env_passthrough, host, &mut known);
    let headers = connection.remote.header.iter();
    for (_, value) in headers.filter_map(|header| header.split_once(':')) {
        known.add_header(value);
    }
    // An invalid URL is never sent to.
    if let Some(Ok(url)) = connection.remote.url.as_deref().map(SafeUrl::parse) {
        known.add_url(&url);
    }
    // Arguments that look like secrets are masked in reports, too.
    let words = connection.stdio.as_deref().and_then(shlex::split);
    known.add_args(&words.unwrap_or_default());
    known
}

/// Formats a document of `--json` as one line, redacted and safe to show.
///
/// # Errors
/// Returns an internal error if the document has no JSON form.
pub(crate) fn json_line(secrets: &Redactor, document: &impl Serialize) -> Result<String, Failure> {
    let document = Raw::of(document)
        .map_err(|error| Report::new(Exit::Internal, "internal", error.to_string()))?;
    Ok(format!("{}\n", safe_json(secrets, &document)))
}
