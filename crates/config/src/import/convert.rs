//! Entries of other files in our format.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::Entry;

/// Fields whose values are paths.
const PATHS: &[&str] = &["cwd", "env_file", "roots"];

/// Converts an entry for a file whose relative paths are based on `folder`; without a folder all paths are
/// made absolute. Placeholders stay as they are.
pub fn convert(entry: &Entry, folder: Option<&Path>) -> Map<String, Value> {
    let mut out = entry.canonical();
    // Enabled is the default.
    if entry.is_enabled() {
        out.remove("enabled");
    }
    // The file is in the same folder: relative paths stay valid.
    if folder == Some(entry.folder()) {
        return out;
    }
    for (field, value) in &mut out {
        let is_path = PATHS.contains(&field.as_str());
        let is_command = field == "command"
            && value
                .as_str()
                .is_some_and(|text| text.contains(['/', '\\']));
        each(value, &|text| {
            let text = files(text, entry.folder());
            if is_path || is_command {
                absolute_path(&text, entry.folder())
            } else {
                text
            }
        });
    }
    out
}

fn each(value: &mut Value, change: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each(item, change)),
        Value::Object(members) => members.values_mut().for_each(|member| each(member, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Makes a path absolute, based on a folder, unless it is absolute already or begins with a reference.
fn absolute_path(path: &str, folder: &Path) -> String {
    if path.is_empty() || path.starts_with("${") || Path::new(path).is_absolute() {
        return path.to_owned();
    }
    let whole: PathBuf = folder.join(path).components().collect();
    // A folder that is not Unicode cannot be written down: the path stays as it was.
    let whole = whole.into_os_string().into_string();
    whole.unwrap_or_else(|_| path.to_owned())
}

/// Makes the paths in `${file:PATH}` absolute.
fn files(text: &str, folder: &Path) -> String {
    const OPEN: &str = "${file:";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, from)) = rest.split_once(OPEN)
        && let Some((path, after)) = from.split_once('}')
    {
        out = out + before + OPEN + &absolute_path(path, folder) + "}";
        rest = after;
    }
    out + rest
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use switchboard_core::spec::Layer;

    use super::*;
    use crate::{Client, read_client};

    #[test]
    fn paths_lead_where_they_led_and_references_stay() {
        let text = r#"{"servers": {"x": {"command": "./bin/x", "args": ["${A}", "./data"],
            "cwd": "sub", "envFile": ".env", "env": {"K": "${file:key}${B:-c}"}}}}"#;
        let file = Path::new("/p/.vscode/mcp.json");
        let config = read_client(text, file, Layer::Project, Client::VsCode);
        let entry = config.get("x").unwrap();
        assert_eq!(
            Value::from(convert(entry, None)).to_string(),
            concat!(
                r#"{"type":"stdio","command":"/p/bin/x","args":["${A}","./data"],"#,
                r#""env":{"K":"${file:/p/key}${B:-c}"},"env_file":"/p/.env","cwd":"/p/sub"}"#
            )
        );
        assert_eq!(
            Value::from(convert(entry, Some(Path::new("/p")))).to_string(),
            concat!(
                r#"{"type":"stdio","command":"./bin/x","args":["${A}","./data"],"#,
                r#""env":{"K":"${file:key}${B:-c}"},"env_file":".env","cwd":"sub"}"#
            )
        );
    }
}
