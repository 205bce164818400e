//! Resources: listing, reading and subscribing to them.

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
        /// A description of its contents, in the server's words.
        description: [opt str] = "description",
        /// Its type.
        mime_type: [opt str] = "mimeType",
        /// Its size in bytes before any encoding.
        size: [opt copy u64] = "size",
        /// Icons to show with it.
        icons: [list Icon] = "icons",
        /// Hints on its use.
        annotations: [opt box Annotations] = "annotations",
        /// The `_meta` object, as sent.
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
        /// A description of their contents, in the server's words.
        description: [opt str] = "description",
        /// The type of all of them, if they share one.
        mime_type: [opt str] = "mimeType",
        /// Icons to show with it.
        icons: [list Icon] = "icons",
        /// Hints on their use.
        annotations: [opt box Annotations] = "annotations",
        /// The `_meta` object, as sent.
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

/// Parameters that name one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceParams {
    /// The resource's address.
    pub uri: String,
}

wire_object! {
    /// The contents of a resource, and perhaps of those below it.
    pub struct ReadResourceResult {
        /// The contents, each with its own address.
        contents: [list ResourceContents] = "contents",
        /// Modern: the time that the contents may be cached, in milliseconds.
        ttl_ms: [opt copy f64] = "ttlMs",
        /// Modern: the cache that may hold them, `public` (shared) or `private`.
        cache_scope: [opt str] = "cacheScope",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

method! {
    /// Reads a resource.
    ReadResource = "resources/read", ResourceParams => ReadResourceResult, rounds = true
}

method! {
    /// Legacy: subscribes to changes of a resource.
    Subscribe = "resources/subscribe", ResourceParams => Empty
}

method! {
    /// Legacy: ends such a subscription.
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
