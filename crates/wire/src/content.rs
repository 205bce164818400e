//! Content blocks, the parts of a result: text, images, audio, resources, and unknown types.

use crate::string::Text;
use crate::{FromRaw, Misfit, Raw, scan, timestamp};

wire_object! {
    /// Hints on how a piece of content is meant to be used. Untrusted.
    pub struct Annotations {
        /// The intended audience: `user`, `assistant` or both.
        audience: [list String] = "audience",
        /// From 0 (optional) to 1 (required).
        priority: [opt copy f64] = "priority",
        /// The time of the last change, in ISO 8601.
        last_modified: [opt str] = "lastModified",
    }
}

impl Annotations {
    /// Returns the time of the last change in seconds and nanoseconds since 1970, if it can be read.
    pub fn last_modified_time(&self) -> Option<(i64, u32)> {
        self.last_modified().and_then(timestamp::parse)
    }
}

wire_object! {
    /// An icon that a server suggests.
    pub struct Icon {
        /// The address of the image: `https:` or `data:`.
        src: [str] = "src",
        /// The image's type.
        mime_type: [opt str] = "mimeType",
        /// Sizes such as `48x48` or `any`.
        sizes: [list String] = "sizes",
        /// `light` or `dark`.
        theme: [opt str] = "theme",
    }
}

wire_object! {
    /// Text.
    pub struct TextContent {
        /// The text itself.
        text: [str] = "text",
        /// Hints on its use.
        annotations: [opt box Annotations] = "annotations",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

impl TextContent {
    /// Reads a text that was sent as a plain string in place of a block.
    pub(crate) fn from_string(string: &Raw) -> Result<Self, Misfit> {
        let (text, _) = Text::read_at(string, string.start())?;
        Ok(Self {
            raw: string.clone(),
            text,
            annotations: None,
            meta: None,
        })
    }
}

wire_object! {
    /// An image or a sound, as base64.
    pub struct MediaContent {
        /// The bytes as base64.
        data: [str] = "data",
        /// Their type, such as `image/png`.
        mime_type: [str] = "mimeType",
        /// Hints on its use.
        annotations: [opt box Annotations] = "annotations",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

/// A pointer to a resource that can be read, with the members of an entry of a resource list.
pub type ResourceLink = crate::Resource;

wire_object! {
    /// The contents of a resource: text or base64 bytes.
    pub struct ResourceContents {
        /// The resource's address.
        uri: [str] = "uri",
        /// Its type.
        mime_type: [opt str] = "mimeType",
        /// The text, when it is text.
        text: [opt str] = "text",
        /// The bytes as base64, when it is not.
        blob: [opt str] = "blob",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

wire_object! {
    /// A resource inside a result.
    pub struct EmbeddedResource {
        /// The contents of the resource.
        resource: [of ResourceContents] = "resource",
        /// Hints on its use.
        annotations: [opt box Annotations] = "annotations",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

/// A content block that this crate has no type for, or that does not fit the type it names.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownContent {
    /// The block's `type`, where it has one.
    pub kind: Option<String>,
    /// The reason, for a block of a known type that does not fit it; `None` for an unknown type.
    pub misfit: Option<Misfit>,
    /// The block as it was sent.
    pub raw: Raw,
}

/// One block of a result.
///
/// A block that is not understood is kept as it was sent and never makes the other blocks unreadable.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text(TextContent),
    /// An image.
    Image(MediaContent),
    /// A sound.
    Audio(MediaContent),
    /// A pointer to a resource.
    ResourceLink(Box<ResourceLink>),
    /// A resource.
    Resource(Box<EmbeddedResource>),
    /// Any other block, as it was sent.
    Unknown(UnknownContent),
}

impl Content {
    /// The block as it was sent.
    pub fn raw(&self) -> &Raw {
        match self {
            Self::Text(block) => block.raw(),
            Self::Image(block) | Self::Audio(block) => block.raw(),
            Self::ResourceLink(block) => block.raw(),
            Self::Resource(block) => block.raw(),
            Self::Unknown(block) => &block.raw,
        }
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(block.text()),
            _ => None,
        }
    }
}

impl FromRaw for Content {
    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        Self::read_at(raw, raw.start()).map(|(block, _)| block)
    }

    fn read_at(whole: &Raw, at: usize) -> Result<(Self, usize), Misfit> {
        fn read<T: FromRaw>(
            whole: &Raw,
            at: usize,
            block: impl Fn(T) -> Content,
        ) -> Result<(Content, usize), Misfit> {
            T::read_at(whole, at).map(|(content, end)| (block(content), end))
        }
        // The type decides how the rest is read, so find it first.
        let kind = kind_at(whole, at);
        let read = match kind {
            Some(r#""text""#) => read(whole, at, Self::Text),
            Some(r#""image""#) => read(whole, at, Self::Image),
            Some(r#""audio""#) => read(whole, at, Self::Audio),
            Some(r#""resource_link""#) => read(whole, at, Self::ResourceLink),
            Some(r#""resource""#) => read(whole, at, Self::Resource),
            _ => {
                let end = whole.end_of(at)?;
                let raw = whole.between(at, end);
                let misfit = (!raw.is_object()).then(|| whole.no_object_at(at));
                return Ok((Self::unknown(raw, kind, misfit), end));
            }
        };
        // A block that does not fit its type becomes `Unknown`; the result as a whole stays readable.
        read.or_else(|misfit| {
            let end = whole.end_of(at)?;
            let raw = whole.between(at, end);
            Ok((Self::unknown(raw, kind, Some(misfit)), end))
        })
    }
}

/// Returns the text of the member `type`. It mostly comes first, and the scan stops there.
fn kind_at(whole: &Raw, at: usize) -> Option<&str> {
    let text = whole.text();
    let mut kind = None;
    scan::walk(text, at, |key, at| {
        let end = scan::value_end(text.as_bytes(), at)?;
        if key == "type" {
            kind = text.get(at..end);
            return None;
        }
        Some(end)
    });
    kind
}

impl Content {
    fn unknown(raw: Raw, kind: Option<&str>, misfit: Option<Misfit>) -> Self {
        Self::Unknown(UnknownContent {
            kind: kind.and_then(|text| serde_json::from_str(text).ok()),
            misfit,
            raw,
        })
    }
}

impl serde::Serialize for Content {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Content {
        Content::from_raw(&Raw::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn an_unknown_type_is_kept_as_sent() {
        let text = r#"{"type":"hologram","z":1e400,"a":null}"#;
        let Content::Unknown(block) = read(text) else {
            panic!("not unknown")
        };
        assert_eq!(block.kind.as_deref(), Some("hologram"));
        assert_eq!(block.misfit, None);
        assert_eq!(block.raw.as_str(), text);
    }

    #[test]
    fn a_block_that_does_not_fit_its_type_says_why() {
        let Content::Unknown(block) = read(r#"{"type":"text","text":5}"#) else {
            panic!("not unknown")
        };
        assert_eq!(
            block.misfit.unwrap().to_string(),
            "text: expected a string, found 5"
        );
    }

    #[test]
    fn every_member_of_every_block_is_looked_for() {
        // A member that the list lacks would read as absent; these are all there are.
        let link = r#"{"uri":"a:b","name":"n","title":"t","description":"d","mimeType":"m",
            "size":3,"icons":[{"src":"s"}],"annotations":{},"_meta":{},"type":"resource_link"}"#;
        let Content::ResourceLink(found) = read(link) else {
            panic!("not a link")
        };
        assert_eq!(
            Ok(found),
            ResourceLink::from_raw(&Raw::parse(link).unwrap()).map(Box::new)
        );
        let media = r#"{"type":"audio","data":"AA==","mimeType":"m","annotations":{},"_meta":1}"#;
        let Content::Audio(found) = read(media) else {
            panic!("not a sound")
        };
        assert_eq!(
            Ok(found),
            MediaContent::from_raw(&Raw::parse(media).unwrap())
        );
        let resource = r#"{"type":"resource","resource":{"uri":"a:b"},"annotations":{},"_meta":1}"#;
        let Content::Resource(found) = read(resource) else {
            panic!("not a resource")
        };
        assert_eq!(
            Ok(found),
            EmbeddedResource::from_raw(&Raw::parse(resource).unwrap()).map(Box::new)
        );
    }

    #[test]
    fn a_block_that_is_no_object_is_kept_too() {
        let Content::Unknown(block) = read(r#""just text""#) else {
            panic!("not unknown")
        };
        assert_eq!(block.kind, None);
        assert_eq!(block.raw.as_str(), r#""just text""#);
        assert!(block.misfit.is_some());
    }

    #[test]
    fn unknown_members_stay_beside_known_ones() {
        let text = r#"{"x-later":[1],"type":"text","text":"a\u0062"}"#;
        let block = read(text);
        assert_eq!(block.as_text(), Some("ab"));
        assert_eq!(serde_json::to_string(&block).unwrap(), text);
    }
}
