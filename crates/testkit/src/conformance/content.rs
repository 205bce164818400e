//! Content blocks, with the smallest picture and the smallest sound.

use serde_json::{Value, json};

/// One red pixel.
pub(super) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

/// A header, and no samples.
pub(super) const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

pub(super) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(super) fn image() -> Value {
    json!({"type": "image", "data": PNG, "mimeType": "image/png"})
}

pub(super) fn audio() -> Value {
    json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"})
}

pub(super) fn embedded(uri: &str, mime_type: &str, text: &str) -> Value {
    let resource = crate::resources::contents(uri, mime_type, text);
    json!({"type": "resource", "resource": resource})
}
