//! Resources: listed, read, watched.

use serde::{Deserialize, Serialize};

use crate::{Annotations, Empty, Icon, PageParams, Raw, ResourceContents};

wire_object! {
    /// A resource as its server lists it.
    pub struct Resource {
        /// Its address.
        uri: [str] = "uri",
        /// Its name for programs.
        name: [str] = "name",
        /// Its name for people.
        title: [opt str] = "title",
        /// What it holds, in the server's words.
        description: [opt str] = "description",
        /// Its type.
        mime_type: [opt str] = "mimeType",
        /// Its size in bytes before any encoding.
        size: [opt copy u64] = "size",
        /// Icons to show with it.
        icons: [list Icon] = "icons",
        /// Hints on its use.
        annotations: [opt box Annotations] = "annotations",
        /// Anything else, by agreement.
        meta: [opt of Raw] = "_meta",
    }
}

wire_object! {
    /// A family of resources whose addresses follow a template.
    pub struct ResourceTemplate {
        /// The template of the address, after RFC 6570.
        uri_template: [str] = "uriTemplate",
        /// Its name for programs.
        name: [str] = "name",
        /// Its name for people.
        title: [opt str] = "title",
        /// What the resources hold, in the server's words.
        description: [opt str] = "description",
        /// The type of all of them, where they have one.
        mime_type: [opt str] = "mimeType",
        /// Icons to show with it.
        icons: [list Icon] = "icons",
        /// Hints on their use.
        annotations: [opt box Annotations] = "annotations",
        /// Anything else, by agreement.
        meta: [opt of Raw] = "_meta",
    }
}

page! {
    /// One page of `resources/list`.
    ResourcePage, "resources"
}

page! {
    /// One page of `resources/templates/list`.
    ResourceTemplatePage, "resourceTemplates"
}

method! {
    /// Lists a server's resources.
    ListResources = "resources/list", PageParams => ResourcePage
}

method! {
    /// Lists a server's resource templates.
    ListResourceTemplates = "resources/templates/list", PageParams => ResourceTemplatePage
}

/// Which resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceParams {
    /// The resource's address.
    pub uri: String,
}

wire_object! {
    /// What a resource, and perhaps those below it, hold.
    pub struct ReadResourceResult {
        /// The contents, each with its own address.
        contents: [list ResourceContents] = "contents",
        /// Modern: for how long they may be kept.
        ttl_ms: [opt copy f64] = "ttlMs",
        /// Modern: who may share them, `public` or `private`.
        cache_scope: [opt str] = "cacheScope",
        /// Anything else, by agreement.
        meta: [opt of Raw] = "_meta",
    }
}

method! {
    /// Reads a resource.
    ReadResource = "resources/read", ResourceParams => ReadResourceResult, rounds = true
}

method! {
    /// Legacy: asks to be told when a resource changes.
    Subscribe = "resources/subscribe", ResourceParams => Empty
}

method! {
    /// Legacy: asks not to be told any more.
    Unsubscribe = "resources/unsubscribe", ResourceParams => Empty
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FromRaw;

    #[test]
    fn text_and_bytes_are_told_apart() {
        let text = r#"{"contents":[{"uri":"a:1","text":""},{"uri":"a:2","blob":"AA=="}]}"#;
        let result = ReadResourceResult::from_raw(&Raw::parse(text).unwrap()).unwrap();
        let read: Vec<_> = result
            .contents()
            .iter()
            .map(|part| (part.uri(), part.text(), part.blob()))
            .collect();
        assert_eq!(read, [("a:1", Some(""), None), ("a:2", None, Some("AA=="))]);
    }
}
