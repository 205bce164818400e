//! The resources, and the one template.

use serde_json::{Map, Value, json};

/// A resource and its contents.
#[derive(Clone)]
pub(crate) struct Resource {
    pub(crate) uri: String,
    pub(crate) definition: Value,
    mime_type: &'static str,
    held: Held,
}

/// The contents of a resource.
#[derive(Clone)]
enum Held {
    Text(String),
    /// Bytes in base64.
    Blob(&'static str),
}

impl Resource {
    pub(crate) fn new(
        uri: &str,
        name: &str,
        mime_type: &'static str,
        description: &str,
        text: &str,
    ) -> Self {
        let definition = json!({
            "uri": uri,
            "name": name,
            "description": description,
            "mimeType": mime_type,
            "size": text.len(),
        });
        Self {
            uri: uri.to_owned(),
            definition,
            mime_type,
            held: Held::Text(text.to_owned()),
        }
    }

    /// Creates a resource that is not text, from its bytes in base64.
    pub(crate) fn binary(
        uri: &str,
        name: &str,
        mime_type: &'static str,
        description: &str,
        base64: &'static str,
    ) -> Self {
        let mut resource = Self::new(uri, name, mime_type, description, "");
        resource.held = Held::Blob(base64);
        // Three bytes in four letters, less the padding.
        let size = base64.len() / 4 * 3 - base64.bytes().filter(|byte| *byte == b'=').count();
        resource.define(&Map::from_iter([("size".to_owned(), size.into())]));
        resource
    }

    /// Replaces the text.
    pub(crate) fn hold(&mut self, text: &str) {
        self.held = Held::Text(text.to_owned());
        if let Some(definition) = self.definition.as_object_mut() {
            definition.insert("size".to_owned(), text.len().into());
        }
    }

    /// Adds members to its definition; `null` leaves one out.
    pub(crate) fn define(&mut self, members: &Map<String, Value>) {
        if let Some(definition) = self.definition.as_object_mut() {
            definition.extend(members.clone());
            definition.retain(|_, value| !value.is_null());
        }
    }

    /// The only item of `contents` in the result of reading it.
    pub(crate) fn contents(&self) -> Value {
        match &self.held {
            Held::Text(text) => contents(&self.uri, self.mime_type, text),
            Held::Blob(blob) => json!({"uri": self.uri, "mimeType": self.mime_type, "blob": blob}),
        }
    }
}

/// The only item of `contents`, with that text.
pub(crate) fn contents(uri: &str, mime_type: &str, text: &str) -> Value {
    json!({"uri": uri, "mimeType": mime_type, "text": text})
}

pub(crate) fn all() -> Vec<Resource> {
    vec![
        Resource::new(
            "file:///readme.txt",
            "README",
            "text/plain",
            "What this server is for",
            README,
        ),
        Resource::new(
            "file:///config.json",
            "Configuration",
            "application/json",
            "Settings that nothing reads",
            CONFIG,
        ),
        Resource::new(
            "file:///data/users.csv",
            "Users Data",
            "text/csv",
            "Three users with their roles",
            USERS,
        ),
    ]
}

const README: &str = "\
This is a server to test clients against.

It lists a few tools, resources and prompts, and does nothing else.
None of the files it lists exist: their contents are part of the server.
";

const CONFIG: &str = r#"{
  "name": "switchboard-testkit",
  "debug": false,
  "limits": {"requests": 100, "seconds": 2.5},
  "tags": ["test", "demo"]
}
"#;

const USERS: &str = "\
id,name,role
1,Ada,admin
2,Grace,editor
3,\"Lovelace, Byron\",reader
";

const NOTE: &str = "note:///";

pub(crate) fn templates() -> Vec<Value> {
    vec![json!({
        "uriTemplate": format!("{NOTE}{{name}}"),
        "name": "note",
        "title": "Note",
        "description": "A short note that says its own name",
        "mimeType": "text/plain",
    })]
}

/// The contents of a URI that matches the template; `None` for any other URI.
pub(crate) fn from_template(uri: &str) -> Option<Value> {
    let name = uri.strip_prefix(NOTE)?;
    // `{name}` expands to one segment with everything reserved escaped.
    if name.is_empty() || name.contains(['/', '?', '#']) {
        return None;
    }
    Some(contents(
        uri,
        "text/plain",
        &format!("This is the note {name}.\n"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_is_json_and_the_users_are_a_table() {
        assert!(serde_json::from_str::<Value>(CONFIG).is_ok());
        assert_eq!(USERS.lines().count(), 4);
    }

    #[test]
    fn the_template_matches_one_segment() {
        assert!(from_template("note:///a%20b").is_some());
        for uri in ["note:///", "note:///a/b", "note:///a?b", "file:///a", ""] {
            assert_eq!(from_template(uri), None, "{uri}");
        }
    }
}
