//! Makes text from servers safe for a terminal, a log line or a JSON document.
//!
//! Any text of a server (names, results, errors, its stderr) may contain sequences that move the
//! cursor, reverse the reading order or hide words. [`sanitise`] and [`sanitise_line`] turn those
//! characters into visible escapes and delete nothing; [`write_json_safe`] does the same to JSON without
//! changing its meaning. [`excerpt`] shortens, [`closest`] suggests a name, and [`shell_word`] quotes a
//! word that a user may paste into a shell.
//!
//! If a person decides about a text, use `exact`: it also escapes every blank except the plain space,
//! right-to-left letters and combining marks, and counts long runs of spaces. Elsewhere those stay,
//! because results, excerpts and log lines are indented and written in any script.
//!
//! If several of these apply, the order matters: redact secrets first (`secret::Redactor`), then cut,
//! then sanitise. An escape in the middle of a secret would hide it from the redactor, and a cut can
//! separate characters that are harmless only together.
//!
//! # Escaped characters
//! - C0 controls but newline and tab, DEL, C1 controls; so no ESC, CSI, OSC or DCS sequence starts.
//!   A carriage return stays only directly before a newline; a lone one would overwrite its line.
//! - Bidirectional controls, line and paragraph separators, and every character that Unicode calls
//!   ignorable by default: zero-width spaces and joiners, the soft hyphen, fillers, tag characters
//!   (emoji flags and ZWJ families included: they come apart into their visible pieces), code
//!   points reserved for more of the same. Also invisible format characters of single scripts.
//! - Variation selectors, but for U+FE0E and U+FE0F directly after an emoji, or in a keycap.
//! - Blanks that are not spaces, such as the empty Braille pattern (U+2800).
//! - Noncharacters, and private use: their appearance depends on the font alone.
//! - Combining marks from the ninth in a row on, which would grow over neighbouring lines.
//!
//! Spaces with a width, right-to-left letters and unassigned characters stay. So does a literal
//! backslash, so that sanitising twice is the same as once; the price is that a server can write text
//! that looks like an escape.

mod canonical;
mod causes;
mod class;
#[cfg(feature = "suggest")]
mod closest;
mod exact;
mod excerpt;
mod json;
mod letters;
mod lookalike;
mod sanitise;
mod shell;
mod tables;
#[cfg(test)]
mod tests;

pub use canonical::canonical_json;
pub use causes::with_causes;
#[cfg(feature = "suggest")]
pub use closest::closest;
pub use exact::{exact, exact_word};
pub use excerpt::excerpt;
pub use json::{json_escape, write_json_safe};
pub use letters::plain_letters;
pub use lookalike::{Likeness, likeness, skeleton_if_foreign};
pub use sanitise::{sanitise, sanitise_line};
pub use shell::{shell_line, shell_path, shell_word};
