//! Delivery of a result: to the screen, to a pipe untouched, or into files.
//!
//! A result is the server's text as it was sent: nothing is masked in it unless `--mask` is given, and then
//! only the secrets of the server that sent it. Control characters are made visible on stdout. Messages on
//! stderr beside a result never contain a secret.

use std::fs;
use std::io::{self, IsTerminal as _};

use switchboard::formats::size;
use switchboard::protocol::Raw;
use switchboard::secret::Redactor;
use switchboard::text::sanitise_line;

use crate::args::Output;
use crate::exit::Exit;
use crate::hosting::Hosting;
use crate::output_file::{self, joined_text};
use crate::render::Piece;
use crate::report::{Failure, Report};
use crate::role;
use crate::saving::{decode_base64, save};
use crate::screen::{Screen, talk};
use crate::table::columns;
use switchboard_terminal::json::safe_json;

/// Maximum number of bytes of a result that are shown at a terminal.
const SHOWN_BYTES: usize = 64 * 1024;

/// Maximum number of lines of a result that are shown at a terminal.
const SHOWN_LINES: usize = 1000;

/// The destination of a result, checked before anything is called: a result that cannot be kept need not be
/// fetched.
pub(crate) struct Delivery<'o> {
    output: &'o Output,
    /// Width of the terminal, if stdout is one.
    columns: Option<usize>,
}

/// A result to deliver.
pub(crate) struct Parcel<'r> {
    /// The whole result, as it was sent.
    pub(crate) whole: &'r Raw,
    pub(crate) pieces: Vec<Piece<'r>>,
    /// Stem of the file names; a number and an extension are added.
    pub(crate) stem: String,
    /// True if the result is an error message, which is shown and not written to a file.
    pub(crate) is_error: bool,
    /// The secrets that are masked in it: see [`masked_in_results`].
    pub(crate) masked: Redactor,
}

/// Returns the secrets to mask in results of a server: its own with `--mask`, none without.
pub(crate) fn masked_in_results(
    hosting: &Hosting<'_>,
    server: &str,
    is_asked_for: bool,
) -> Redactor {
    if is_asked_for {
        hosting.host.secrets_of(server)
    } else {
        Redactor::new()
    }
}

impl<'o> Delivery<'o> {
    /// Checks that a result can be delivered as the options ask.
    ///
    /// # Errors
    /// Returns a usage error if it cannot.
    pub(crate) fn prepare(output: &'o Output) -> Result<Self, Failure> {
        // Escape sequences of a server could take over the terminal.
        if output.raw && io::stdout().is_terminal() {
            return Err(Report::usage(
                "--raw does not print to a terminal, which would interpret control characters",
            )
            .hint("write to a pipe or a file: `--raw > FILE`")
            .hint("or omit it: control characters are then shown as escapes"));
        }
        if output.output.is_some() || output.save.is_some() {
            role::person_only("write files")?;
        }
        if let Some(file) = &output.output
            && fs::symlink_metadata(file).is_ok()
        {
            return Err(Report::usage("the file of --output already exists")
                .fact("file", file.display().to_string())
                .hint("name another, or remove it"));
        }
        if let Some(folder) = &output.save {
            fs::create_dir_all(folder).map_err(|error| {
                Report::usage("the folder of --save cannot be used")
                    .fact("folder", folder.display().to_string())
                    .fact("the system says", error.to_string())
            })?;
        }
        Ok(Self {
            output,
            columns: columns(),
        })
    }

    /// Returns true if the result is shown at a terminal, where data may become a table.
    pub(crate) fn is_wide(&self) -> bool {
        self.columns.is_some() && self.output.output.is_none()
    }

    /// Delivers a result.
    ///
    /// # Errors
    /// Fails if an output cannot be written.
    pub(crate) fn deliver(&self, parcel: &Parcel<'_>, screen: &Screen) -> Result<(), Failure> {
        let masked = &parcel.masked;
        if screen.is_json() {
            return screen.result(&format!("{}\n", safe_json(masked, parcel.whole)));
        }
        if self.output.raw {
            let text = joined_text(&parcel.pieces, masked);
            screen.result_bytes(&text.unwrap_or_default())?;
        }
        let file = self.output.output.as_deref();
        // An error message is shown even with --output: the file is for results.
        let file = file.filter(|_| !parcel.is_error);
        let mut has_text_elsewhere = self.output.raw;
        if let Some(file) = file {
            let written = output_file::write(file, &parcel.pieces, masked)?;
            has_text_elsewhere = written.has_text;
            if let Some(warning) = written.warning {
                screen.warn(&warning);
            }
        }
        // The pipe gets the text; the rest goes to stderr, where all secrets are masked.
        let all_secrets = screen.secrets();
        let masked = if self.output.raw {
            &all_secrets
        } else {
            masked
        };
        let mut text = String::new();
        let mut failed = None;
        // A file that fails to save does not keep the other pieces from being shown.
        for piece in &parcel.pieces {
            // The text went to the file or the pipe already; media are still listed.
            if has_text_elsewhere && !matches!(piece, Piece::Media { .. } | Piece::Other(_)) {
                continue;
            }
            let note = match self.save(piece, parcel) {
                Ok(note) => note,
                Err(report) => {
                    failed.get_or_insert(report);
                    String::new()
                }
            };
            text.push_str(&piece.write(self.columns, &note, masked));
        }
        if self.output.raw {
            // The pipe has the text and nothing else.
            if !screen.is_quiet() {
                talk(&text);
            }
        } else {
            screen.result(&self.cut(text))?;
        }
        failed.map_or(Ok(()), Err)
    }

    /// Writes media to a file if `--save` is given, and returns a note with the file's name.
    fn save(&self, piece: &Piece<'_>, parcel: &Parcel<'_>) -> Result<String, Failure> {
        let Piece::Media {
            mime_type, data, ..
        } = piece
        else {
            return Ok(String::new());
        };
        let Some(folder) = &self.output.save else {
            return Ok(String::new());
        };
        // Not saved as it is: a file with the wrong bytes would be worse than none.
        let Some(bytes) = decode_base64(data) else {
            return Err(Report::new(
                Exit::Protocol,
                "protocol",
                "the server's data is not valid base64 and was not saved",
            ));
        };
        let saved = save(folder, &parcel.stem, mime_type, &bytes);
        let path = saved.map_err(|error| {
            Report::new(Exit::Internal, "internal", "a file could not be written")
                .fact("folder", folder.display().to_string())
                .fact("the system says", error.to_string())
        })?;
        let path = path.display().to_string();
        Ok(format!(", saved as {}", sanitise_line(&path)))
    }

    /// Cuts a text to the limits of a terminal, with a note of what is left out.
    fn cut(&self, mut text: String) -> String {
        if self.columns.is_none() {
            return text;
        }
        let mut ends = text.match_indices('\n').map(|(at, _)| at + 1);
        // Cut at the end of a line if the line limit is reached first, otherwise at a character.
        let mut end = ends.nth(SHOWN_LINES - 1).unwrap_or(text.len());
        if end > SHOWN_BYTES {
            let mut ends = (0..=SHOWN_BYTES).rev();
            end = ends.find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        }
        let rest = text.get(end..).unwrap_or_default();
        if rest.is_empty() {
            return text;
        }
        let bytes = size(u64::try_from(rest.len()).unwrap_or(u64::MAX));
        let lines = match rest.lines().count() {
            1 => "1 line".to_owned(),
            lines => format!("{lines} lines"),
        };
        text.truncate(end);
        let gap = if text.ends_with('\n') { "" } else { "\n" };
        format!(
            "{text}{gap}[{lines} more, {bytes}, not shown; --output FILE writes all of the text]\n"
        )
    }
}
