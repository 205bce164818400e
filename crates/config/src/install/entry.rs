//! The entry that starts the gateway, in the form of a client.

use std::path::Path;

use serde_json::{Map, Value, json};
use switchboard_core::spec::TransportKind;

use super::{GatewayCommand, InstallError};
use crate::Client;
use crate::export::Form;

/// The name of the program, without an extension.
const PROGRAM: &str = "switchboard";

/// The subcommand that starts a gateway.
const VERB: &str = "serve";

/// Writes the entry in the client's form.
pub(super) fn entry(
    client: Client,
    command: &GatewayCommand,
) -> Result<Map<String, Value>, InstallError> {
    let program = command.program.to_str();
    let program = program.ok_or(InstallError::NotUnicode("the program"))?;
    let words = std::iter::once(VERB).chain(command.arguments.iter().map(String::as_str));
    let args: Vec<&str> = words.collect();
    let ours = json!({ "command": program, "args": args });
    let ours = ours.as_object().cloned().unwrap_or_default();
    // A command and its arguments have a form in every client, without warnings.
    Form::of(client)
        .write(TransportKind::Stdio, ours, &mut Vec::new())
        .map_err(|_| InstallError::Client(client))
}

/// Returns true if `found` has everything that `entry` has. A client may have added settings of its own.
pub(super) fn covers(found: &Value, entry: &Map<String, Value>) -> bool {
    entry
        .iter()
        .all(|(key, value)| found.get(key) == Some(value))
}

/// Returns true if an entry starts a gateway of this program, wherever the program is.
pub(super) fn starts_gateway(found: &Value) -> bool {
    let command = found.get("command");
    let listed = command.and_then(Value::as_array).into_iter().flatten();
    let args = found.get("args").and_then(Value::as_array);
    let words = command.filter(|command| command.is_string()).into_iter();
    let words = words.chain(listed).chain(args.into_iter().flatten());
    let mut words = words.map(|word| word.as_str().unwrap_or_default());
    // Both separators: a file may come from another system.
    let name = words.next().unwrap_or_default();
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = Path::new(name).file_stem().and_then(|name| name.to_str());
    name == Some(PROGRAM) && words.next() == Some(VERB)
}
