//! A call of a tool that can be pasted.

use switchboard::host::ToolHandle;
use switchboard::protocol::Raw;
use switchboard::secret::mask_args;
use switchboard::text::{sanitise_line, shell_word};

use crate::args::ShowTool;
use crate::hosting::Hosting;
use crate::schema::{Parameters, example};
use crate::values;

/// Writes a call of a tool with all that it must be given, as one line for a shell. Nothing where that
/// line could not be shown as it is: what would be pasted is then something else.
pub(super) fn command(tool: &ToolHandle, args: &ShowTool, hosting: &Hosting<'_>) -> Option<String> {
    let mut words = vec!["switchboard".to_owned(), "call".to_owned()];
    match &hosting.described {
        // A prompt has a server of its own, and its tools are called there.
        Some(_) if args.connection.describes_server() => {
            words.extend(described(args));
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
        // Names that cannot be written before a "=".
        None => words.extend(["--args".to_owned(), word(&values::object(&made))]),
    }
    let line = words.join(" ");
    let is_safe = sanitise_line(&line) == line && hosting.screen.redact(&line) == line;
    is_safe.then_some(line)
}

/// How the command line describes the server, without what may be secret.
fn described(args: &ShowTool) -> Vec<String> {
    let connection = &args.connection;
    if let Some(url) = &connection.remote.url {
        return vec!["--url".to_owned(), word(url)];
    }
    let command = connection.stdio.as_deref().unwrap_or_default();
    let words = shlex::split(command).unwrap_or_default();
    let command = match mask_args(&words) == words {
        true => word(command),
        false => "\"CMD ARGS\"".to_owned(),
    };
    vec!["--stdio".to_owned(), command]
}

/// `key=value` where that is read as this value, else `key:=JSON`.
fn argument(name: &str, value: &Raw, parameters: &Parameters) -> Option<String> {
    if name.is_empty() || name.starts_with('-') || name.contains('=') || name.ends_with(':') {
        return None;
    }
    let text = value.as_text();
    let text = text.as_deref().unwrap_or(value.as_str());
    let plain = format!("{name}={text}");
    // A text that begins with an @ would be read as the name of a file.
    let is_same = !text.starts_with('@') && {
        let read = values::read(None, std::slice::from_ref(&plain)).ok()?;
        values::typed(read, parameters) == [(name.to_owned(), value.clone())]
    };
    Some(match is_same {
        true => plain,
        false => format!("{name}:={}", value.as_str()),
    })
}

/// A word of a shell's line, without quotes where no shell needs them: also in `a/b` and `a=b`.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.:+/=,".contains(c);
    let is_first = |c: char| c.is_ascii_alphanumeric() || "_./".contains(c);
    match text.starts_with(is_first) && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => shell_word(text).into_owned(),
    }
}
