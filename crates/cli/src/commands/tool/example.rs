//! An example call of a tool, ready to paste.

use switchboard::host::ToolHandle;
use switchboard::protocol::Raw;
use switchboard::schema::parameters::{Parameters, example, to_object};
use switchboard::secret::mask_args;
use switchboard::text::{sanitise_line, shell_word};

use crate::args::ShowTool;
use crate::hosting::Hosting;
use crate::values;

/// Formats a call with all required arguments as one shell line. Returns `None` if the line would be changed
/// by masking or sanitising: pasting it would run something else.
pub(super) fn command(tool: &ToolHandle, args: &ShowTool, hosting: &Hosting<'_>) -> Option<String> {
    let mut words = vec!["switchboard".to_owned(), "call".to_owned()];
    match &hosting.described {
        // In the prompt with a server of `--stdio` or `--url`, tools are called by SERVER/TOOL.
        Some(_) if args.connection.describes_server() => {
            words.extend(server_options(args));
            words.push(word(tool.raw_name()));
        }
        _ => words.push(word(&tool.key().to_string())),
    }
    let schema = tool.tool().input_schema().raw();
    let made = example(schema);
    let parameters = Parameters::read(schema);
    let written: Option<Vec<String>> = made
        .iter()
        .map(|(name, value)| argument(name, value, &parameters))
        .collect();
    match written {
        Some(written) => words.extend(written.iter().map(|text| word(text))),
        // Some names cannot be written before a `=`: pass all arguments as JSON.
        None => words.extend(["--args".to_owned(), word(&to_object(&made))]),
    }
    let line = words.join(" ");
    // Shown only if the terminal shows exactly what would be pasted.
    let is_safe = sanitise_line(&line) == line && hosting.screen.redact(&line) == line;
    is_safe.then_some(line)
}

/// Returns the options that describe the server, without values that may be secret.
fn server_options(args: &ShowTool) -> Vec<String> {
    let connection = &args.connection;
    if let Some(url) = &connection.remote.url {
        return vec!["--url".to_owned(), word(url)];
    }
    let command = connection.stdio.as_deref().unwrap_or_default();
    let words = shlex::split(command).unwrap_or_default();
    let command = if mask_args(&words) == words {
        word(command)
    } else {
        "\"CMD ARGS\"".to_owned()
    };
    vec!["--stdio".to_owned(), command]
}

/// Formats an argument as `key=value` if that parses back to this value, otherwise as `key:=JSON`.
fn argument(name: &str, value: &Raw, parameters: &Parameters) -> Option<String> {
    if name.is_empty() || name.starts_with('-') || name.contains('=') || name.ends_with(':') {
        return None;
    }
    let text = value.as_text();
    let text = text.as_deref().unwrap_or(value.as_str());
    let plain = format!("{name}={text}");
    // `key=@text` would be read as the name of a file.
    let is_same = !text.starts_with('@') && {
        let read = values::read(None, std::slice::from_ref(&plain)).ok()?;
        values::apply_types(read, parameters) == [(name.to_owned(), value.clone())]
    };
    Some(if is_same {
        plain
    } else {
        format!("{name}:={}", value.as_str())
    })
}

/// Quotes a word for a shell where needed; `a/b` and `a=b` stay as they are.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.:+/=,".contains(c);
    let is_first = |c: char| c.is_ascii_alphanumeric() || "_./".contains(c);
    if text.starts_with(is_first) && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        shell_word(text).into_owned()
    }
}
