//! The file of `--output`: the text of a result, or the image that the file's extension asks for.

use std::io::Write as _;
use std::path::Path;

use switchboard::secret::Redactor;

use crate::exit::Exit;
use crate::render::Piece;
use crate::report::{Failure, Report};
use crate::saving::{create, decode_base64, extension};
use switchboard_terminal::json::redact_json;

/// The outcome of writing the file.
pub(crate) struct WrittenFile {
    /// True if the file has the text, which is then not shown as well.
    pub(crate) has_text: bool,
    /// A warning for the person.
    pub(crate) warning: Option<String>,
}

/// The part of a result that goes into the file.
#[derive(Debug, PartialEq)]
struct Choice<'p> {
    content: Content<'p>,
    warning: Option<String>,
}

#[derive(Debug, PartialEq)]
enum Content<'p> {
    Text,
    /// Base64 data.
    Media(&'p str),
}

/// Writes a result to a file that does not exist yet.
///
/// If exactly one image, sound or other data of the result has the type of the file's extension, that is
/// written. Otherwise the text is, or the only data of a result without text.
///
/// # Errors
/// Fails if the result has nothing that can be written, or the file cannot be created.
pub(crate) fn write(
    file: &Path,
    pieces: &[Piece<'_>],
    masked: &Redactor,
) -> Result<WrittenFile, Failure> {
    let mut choice = choose(file, pieces);
    let mut bytes = match choice.content {
        Content::Media(data) => decode_base64(data),
        Content::Text => joined_text(pieces, masked),
    };
    // The media cannot be decoded: fall back to the text, with a warning.
    if bytes.is_none() && choice.content != Content::Text && has_text(pieces) {
        let shown = file.display();
        choice = Choice {
            content: Content::Text,
            warning: Some(format!(
                "{shown} contains the text of the result: the data is not valid base64"
            )),
        };
        bytes = joined_text(pieces, masked);
    }
    let Some(bytes) = bytes else {
        return Err(nothing_to_write(file, pieces));
    };
    let written = create(file).and_then(|mut opened| opened.write_all(&bytes));
    written.map_err(|error| {
        Report::new(
            Exit::Internal,
            "internal",
            "the file of --output could not be written",
        )
        .fact("file", file.display().to_string())
        .fact("the system says", error.to_string())
    })?;
    Ok(WrittenFile {
        has_text: choice.content == Content::Text,
        warning: choice.warning,
    })
}

fn nothing_to_write(file: &Path, pieces: &[Piece<'_>]) -> Failure {
    let report = match media(pieces).count() {
        1 => Report::new(
            Exit::Protocol,
            "protocol",
            "the server's data is not valid base64; nothing was written",
        ),
        0 => Report::new(
            Exit::Tool,
            "tool",
            "the result has no text; nothing was written",
        )
        .hint("--save DIR writes images, audio and other data"),
        several => Report::new(
            Exit::Tool,
            "tool",
            format!("the result has {several} parts and no text, and nothing was written"),
        )
        .hint("--save DIR writes them all"),
    };
    report.fact("file", file.display().to_string())
}

/// Returns the MIME types and data of all media.
fn media<'p>(pieces: &'p [Piece<'_>]) -> impl Iterator<Item = (&'p str, &'p str)> {
    pieces.iter().filter_map(|piece| match piece {
        Piece::Media {
            mime_type, data, ..
        } => Some((*mime_type, *data)),
        _ => None,
    })
}

fn has_text(pieces: &[Piece<'_>]) -> bool {
    let mut pieces = pieces.iter();
    pieces.any(|piece| matches!(piece, Piece::Text(_) | Piece::Data(_)))
}

/// Chooses the part by the file's extension.
fn choose<'p>(file: &Path, pieces: &'p [Piece<'_>]) -> Choice<'p> {
    let wanted = wanted_extension(file);
    let media = || media(pieces);
    let has_text = has_text(pieces);
    let text = |warning| Choice {
        content: Content::Text,
        warning,
    };
    let Some(wanted) = wanted.filter(|_| media().next().is_some()) else {
        return text(None);
    };
    // Exactly one part of the wanted type is unambiguous.
    let fitting: Vec<&str> = media()
        .filter(|(mime_type, _)| extension(mime_type) == wanted)
        .map(|(_, data)| data)
        .collect();
    let shown = file.display();
    match fitting.as_slice() {
        [data] => {
            let others = media().count() - 1;
            let left_out: Vec<String> = [
                has_text.then(|| "the text".to_owned()),
                match others {
                    0 => None,
                    1 => Some("1 other part".to_owned()),
                    others => Some(format!("{others} other parts")),
                },
            ]
            .into_iter()
            .flatten()
            .collect();
            let are = if left_out.len() > 1 || others > 1 {
                "are"
            } else {
                "is"
            };
            let left_out = left_out.join(" and ");
            Choice {
                content: Content::Media(data),
                warning: (!left_out.is_empty()).then(|| {
                    format!(
                        "{shown} has only the {wanted}; {left_out} of the result {are} not in it"
                    )
                }),
            }
        }
        // Extensions of text files match every text.
        [] if is_text(&wanted) => text(None),
        [] if has_text => text(Some(format!(
            "{shown} has the text of the result: no part of it is {wanted}; --save DIR writes what \
             there is"
        ))),
        [] => {
            let types: Vec<&str> = media().map(|(mime_type, _)| mime_type).collect();
            text(Some(format!(
                "{shown} is not {wanted}: the result is {}",
                types.join(", ")
            )))
        }
        several if has_text => text(Some(format!(
            "{shown} has the text of the result: {} parts of it are {wanted}; --save DIR writes \
             them all",
            several.len()
        ))),
        _ => text(None),
    }
}

/// Returns the file's extension, spelled as `--save` spells it; `None` if it is not a known type.
fn wanted_extension(file: &Path) -> Option<String> {
    let written = file.extension()?.to_str()?.to_ascii_lowercase();
    let usual = match written.as_str() {
        "jpeg" | "jpe" => "jpg",
        "tiff" => "tif",
        "wave" => "wav",
        "oga" | "opus" => "ogg",
        other => other,
    };
    const KNOWN: &[&str] = &[
        "png", "jpg", "gif", "webp", "avif", "bmp", "tif", "svg", "ico", "wav", "mp3", "ogg",
        "flac", "aac", "m4a", "webm", "mp4", "pdf", "zip", "gz", "json", "txt", "csv",
    ];
    KNOWN.contains(&usual).then(|| usual.to_owned())
}

/// Returns true for the extension of a text format.
fn is_text(extension: &str) -> bool {
    matches!(extension, "json" | "txt" | "csv" | "svg")
}

/// Joins all texts, unchanged but for masking, with a newline between two where there is none. A result
/// without text gives its data, or the bytes of its only media.
pub(crate) fn joined_text(pieces: &[Piece<'_>], masked: &Redactor) -> Option<Vec<u8>> {
    let mut out: Option<Vec<u8>> = None;
    let texts = pieces.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(masked.redact(text)),
        Piece::Data(data) => Some(redact_json(masked, data)),
        _ => None,
    });
    for text in texts {
        let out = out.get_or_insert_default();
        if !out.is_empty() && !out.ends_with(b"\n") {
            out.push(b'\n');
        }
        out.extend_from_slice(text.as_bytes());
    }
    // Without any text, a single media piece is the result.
    let mut rest = pieces.iter().filter_map(|piece| match piece {
        Piece::Media { data, .. } => Some(*data),
        _ => None,
    });
    out.or_else(|| match (rest.next(), rest.next()) {
        (Some(data), None) => decode_base64(data),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn media(mime_type: &'static str, data: &'static str) -> Piece<'static> {
        let what = mime_type.to_owned();
        Piece::Media {
            what,
            mime_type,
            data,
        }
    }

    fn chosen<'p>(file: &str, pieces: &'p [Piece<'_>]) -> (Content<'p>, bool) {
        let choice = choose(Path::new(file), pieces);
        (choice.content, choice.warning.is_some())
    }

    #[test]
    fn the_ending_of_a_file_decides_what_it_gets() {
        let text = || Piece::Text("a text".into());
        let png = || media("image/png", "AAEC");
        let jpeg = || media("image/jpeg", "AAED");
        let both = [text(), png()];
        assert_eq!(chosen("x.png", &both), (Content::Media("AAEC"), true));
        assert_eq!(chosen("x.PNG", &both), (Content::Media("AAEC"), true));
        assert_eq!(chosen("x.jpg", &both), (Content::Text, true));
        for file in ["x", "x.txt", "x.md", "x.json", ".png"] {
            assert_eq!(chosen(file, &both), (Content::Text, false), "{file}");
        }
        let two = [png(), text(), jpeg()];
        assert_eq!(chosen("x.jpeg", &two), (Content::Media("AAED"), true));
        let twice = [png(), text(), png()];
        assert_eq!(chosen("x.png", &twice), (Content::Text, true));
        assert_eq!(chosen("x.png", &[png()]), (Content::Media("AAEC"), false));
        assert_eq!(chosen("x.png", &[jpeg()]), (Content::Text, true));
        assert_eq!(chosen("x.png", &[text()]), (Content::Text, false));
    }
}
