//! Replaces the secrets of an entry with references to variables.

use serde_json::{Map, Value};
use switchboard_core::mask::{self, MaskPolicy};
use switchboard_core::secret::{MASK, Secret, is_secret, is_secret_header, mask_args};
use switchboard_core::spec::ServerName;

/// The variables that replace secrets, with their values.
pub type SecretVariables = Vec<(String, Secret<String>)>;

/// Replaces every secret that an entry in our own format has in clear with a reference such as
/// `${GITHUB_TOKEN}`, and returns the variables.
///
/// A variable of the server keeps its name; others are named after the server and their header or option.
pub fn secrets_as_variables(
    server: &ServerName,
    entry: &mut Map<String, Value>,
) -> SecretVariables {
    let mut found = SecretVariables::new();
    for field in ["env", "headers", "oauth"] {
        let members = entry.get_mut(field).and_then(Value::as_object_mut);
        for (name, value) in members.into_iter().flatten() {
            let Some(text) = value.as_str().filter(|text| !text.contains("${")) else {
                continue;
            };
            let is_header = field == "headers" && is_secret_header(text);
            if !is_header && !is_secret(name, text) {
                continue;
            }
            // The scheme of a header is not a part of the token.
            let (scheme, secret) = match text.split_once(' ') {
                Some((scheme, token)) if is_header && !token.contains(' ') => (scheme, token),
                _ => ("", text),
            };
            let variable = match field {
                "env" => name.clone(),
                _ if !scheme.is_empty() => variable_name(server, "token"),
                _ => variable_name(server, name),
            };
            let blank = if scheme.is_empty() { "" } else { " " };
            let reference = format!("{scheme}{blank}${{{variable}}}");
            found.push((variable, secret.to_owned().into()));
            *value = reference.into();
        }
    }
    let args = entry.get_mut("args").and_then(Value::as_array_mut);
    found.extend(args.into_iter().flat_map(|args| of_arguments(server, args)));
    if let Some(url) = entry.get_mut("url")
        && let Some(text) = url.as_str().filter(|text| !text.contains("${"))
        && mask::url(text, MaskPolicy::Listing).contains(MASK)
    {
        let variable = variable_name(server, "url");
        let reference = format!("${{{variable}}}");
        found.push((variable, text.to_owned().into()));
        *url = reference.into();
    }
    found
}

/// Replaces the secrets of arguments. An option keeps its name: `--token=${SERVER_TOKEN}`.
fn of_arguments(server: &ServerName, args: &mut [Value]) -> SecretVariables {
    let texts = args
        .iter()
        .map(|arg| arg.as_str().unwrap_or_default().to_owned());
    let texts: Vec<String> = texts.collect();
    let mut found = SecretVariables::new();
    for (at, masked) in mask_args(&texts).into_iter().enumerate() {
        let (Some(arg), Some(text)) = (args.get_mut(at), texts.get(at)) else {
            continue;
        };
        if masked == *text || text.contains("${") {
            continue;
        }
        let before = at.checked_sub(1).and_then(|at| texts.get(at));
        let option = before.filter(|before| before.starts_with('-'));
        let (option, value) = match text.split_once('=') {
            Some((option, value)) => (Some(option), value),
            None => (option.map(String::as_str), text.as_str()),
        };
        let kept = text.strip_suffix(value).unwrap_or_default();
        let number = (at + 1).to_string();
        let variable = variable_name(server, option.unwrap_or(&number));
        let reference = format!("{kept}${{{variable}}}");
        found.push((variable, value.to_owned().into()));
        *arg = reference.into();
    }
    found
}

/// Makes the name of a variable: `my-wiki` and `--api-key` give `MY_WIKI_API_KEY`.
fn variable_name(server: &ServerName, name: &str) -> String {
    let whole = format!("{server}_{}", name.trim_start_matches('-'));
    let plain = whole.chars().map(|c| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    });
    let name: String = plain.collect();
    // A variable does not begin with a digit.
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_secret_becomes_a_variable_and_nothing_else_does() {
        let entry = serde_json::json!({
            "args": ["-y", "--token", "hunter2hunter2", "--api-key=s3cr3ts3cr3t", "--level", "info"],
            "env": {"GITHUB_TOKEN": "ghp_abcdefghij0123456789abcdefghij012345", "LANG": "C", "K": "${K}"},
            "headers": {"Authorization": "Bearer abc123def456", "Accept": "text/plain; q=1"},
            "url": "https://me:pw@example.com/mcp",
        });
        let mut entry = entry.as_object().cloned().unwrap();
        let server = ServerName::parse("my-wiki").unwrap();
        let variables = secrets_as_variables(&server, &mut entry);
        let names: Vec<&str> = variables.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(entry["env"]["GITHUB_TOKEN"], "${GITHUB_TOKEN}");
        assert_eq!(entry["env"]["LANG"], "C");
        assert_eq!(entry["headers"]["Authorization"], "Bearer ${MY_WIKI_TOKEN}");
        assert_eq!(entry["args"][2], "${MY_WIKI_TOKEN}");
        assert_eq!(entry["args"][3], "--api-key=${MY_WIKI_API_KEY}");
        assert_eq!(entry["args"][5], "info");
        assert_eq!(entry["url"], "${MY_WIKI_URL}");
        assert!(
            names.contains(&"GITHUB_TOKEN") && names.contains(&"MY_WIKI_API_KEY"),
            "{names:?}"
        );
        assert!(
            crate::canonical::secrets_in_clear(&entry).is_empty(),
            "{entry:?}"
        );
    }
}
