//! Placeholders in the syntax of each client.

use serde_json::Value;

use crate::Client;

/// A client's syntax of placeholders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// Our own.
    Ours,
    /// `${VAR}` and `${VAR:-default}`.
    Dollar,
    /// `${env:VAR}`, `${workspaceFolder}`, `${userHome}`.
    Editor,
    /// `${VAR}`, and `$VAR` too.
    Shell,
    /// `{env:VAR}` and `{file:PATH}`.
    Braces,
    /// It expands none.
    None,
}

/// Translates the placeholders in every text of a field, and collects warnings without duplicates.
pub(super) fn translate(
    field: &str,
    value: &mut Value,
    syntax: Syntax,
    client: Client,
    warnings: &mut Vec<String>,
) {
    match value {
        Value::String(text) => {
            // A list may repeat the same warning for each of its items.
            let mut told = Vec::new();
            *text = translate_text(text, syntax, client, &mut told);
            for warning in told {
                let warning = format!("`{field}`: {warning}");
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                translate(field, item, syntax, client, warnings);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                translate(&format!("{field}.{name}"), member, syntax, client, warnings);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn translate_text(
    text: &str,
    syntax: Syntax,
    client: Client,
    warnings: &mut Vec<String>,
) -> String {
    if syntax == Syntax::Ours {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Literal text and references alternate; each is translated by its own rules.
    while let Some((before, from)) = rest.split_once("${")
        && let Some((inside, after)) = from.split_once('}')
    {
        out += &literal(before, syntax, client, warnings);
        out += &reference(inside, syntax, client, warnings);
        rest = after;
    }
    out + &literal(rest, syntax, client, warnings)
}

/// Returns a literal text, with a warning if the client would expand something in it.
fn literal(text: &str, syntax: Syntax, client: Client, warnings: &mut Vec<String>) -> String {
    let is_variable =
        |(_, after): (&str, &str)| after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_read = match syntax {
        Syntax::Shell => text
            .match_indices('$')
            .any(|(at, _)| is_variable(text.split_at_checked(at + 1).unwrap_or_default())),
        Syntax::Braces => text.contains("{env:") || text.contains("{file:"),
        Syntax::Ours | Syntax::Dollar | Syntax::Editor | Syntax::None => false,
    };
    if is_read {
        warnings.push(format!(
            "{client} would fill in what is meant as it is written"
        ));
    }
    text.to_owned()
}

fn reference(inside: &str, syntax: Syntax, client: Client, warnings: &mut Vec<String>) -> String {
    let as_written = format!("${{{inside}}}");
    let unknown = |what: &str, warnings: &mut Vec<String>| {
        warnings.push(format!("{client} does not fill in {what}"));
    };
    match inside {
        "workspaceFolder" | "workspaceFolderBasename" | "userHome" | "pathSeparator" | "/" => {
            if syntax != Syntax::Editor {
                unknown(&as_written, warnings);
            }
            return as_written;
        }
        _ => {}
    }
    if inside.starts_with("input:") {
        if client != Client::VsCode {
            unknown(&as_written, warnings);
        }
        return as_written;
    }
    if inside.starts_with("file:") {
        if syntax == Syntax::Braces {
            return format!("{{{inside}}}");
        }
        unknown("${file:...}", warnings);
        return as_written;
    }
    let variable = inside.strip_prefix("env:").unwrap_or(inside);
    let (name, default) = match variable.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (variable, None),
    };
    if default.is_some() && !matches!(syntax, Syntax::Dollar | Syntax::None) {
        // The warning does not show the default, which may be a secret.
        warnings.push(format!(
            "{client} cannot be told the default of ${{{name}}}"
        ));
    }
    match syntax {
        Syntax::Dollar => match default {
            Some(default) => format!("${{{name}:-{default}}}"),
            None => format!("${{{name}}}"),
        },
        Syntax::Editor => format!("${{env:{name}}}"),
        Syntax::Shell => format!("${{{name}}}"),
        Syntax::Braces => format!("{{env:{name}}}"),
        Syntax::Ours => as_written,
        Syntax::None => {
            unknown(&format!("${{{name}}}"), warnings);
            as_written
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_gets_its_own_way_of_writing() {
        let text = "a${K}b${env:L}c${M:-d}e";
        for (syntax, client, wanted, warned) in [
            (Syntax::Ours, Client::Switchboard, text, 0),
            (Syntax::Dollar, Client::ClaudeCode, "a${K}b${L}c${M:-d}e", 0),
            (
                Syntax::Editor,
                Client::Cursor,
                "a${env:K}b${env:L}c${env:M}e",
                1,
            ),
            (Syntax::Shell, Client::Gemini, "a${K}b${L}c${M}e", 1),
            (
                Syntax::Braces,
                Client::OpenCode,
                "a{env:K}b{env:L}c{env:M}e",
                1,
            ),
            (Syntax::None, Client::Zed, text, 3),
        ] {
            let mut warnings = Vec::new();
            let found = translate_text(text, syntax, client, &mut warnings);
            assert_eq!(
                (found.as_str(), warnings.len()),
                (wanted, warned),
                "{client}"
            );
            assert!(!warnings.concat().contains(":-d"), "{warnings:?}");
        }
    }

    #[test]
    fn what_only_some_clients_know_is_a_warning_elsewhere() {
        let warned = |text: &str, syntax, client| {
            let mut warnings = Vec::new();
            translate_text(text, syntax, client, &mut warnings);
            !warnings.is_empty()
        };
        assert!(!warned(
            "${workspaceFolder}",
            Syntax::Editor,
            Client::Cursor
        ));
        assert!(warned(
            "${workspaceFolder}",
            Syntax::Dollar,
            Client::ClaudeCode
        ));
        assert!(!warned("${input:key}", Syntax::Editor, Client::VsCode));
        assert!(warned("${input:key}", Syntax::Editor, Client::Cursor));
        assert!(!warned("${file:a}", Syntax::Braces, Client::OpenCode));
        assert!(warned("${file:a}", Syntax::Editor, Client::VsCode));
        // A literal here that the other client would expand.
        assert!(warned("pa$word", Syntax::Shell, Client::Gemini));
        assert!(!warned("5 $ 7", Syntax::Shell, Client::Gemini));
        assert!(warned("{env:X}", Syntax::Braces, Client::OpenCode));
    }
}
