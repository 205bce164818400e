//! Text for terminals.
//!
//! Everything that the program `switchboard` prints passes through here: texts of servers are made safe to show
//! and redacted, lines are wrapped at words, values are aligned in tables and cards, and colours are added where
//! the terminal has them. The functions take data and return text; only [`style`], [`table::columns`] and
//! [`fold::stderr_columns`] ask the terminal anything. Nothing here knows a server or a config file.

pub mod card;
pub mod count;
pub mod expiry;
pub mod fold;
pub mod grid;
pub mod json;
pub mod pager;
pub mod path;
pub mod pretty;
pub mod progress;
pub mod style;
pub mod table;
pub mod tabular;
pub mod timestamp;
pub mod wrap;
