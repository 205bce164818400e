//! Values that must not be shown, and the tools that keep them out of all output.
//!
//! [`Secret`] and [`SafeUrl`] wrap a value as soon as it enters the program, so that no log line or
//! error shows it by accident. [`Redactor`] is for foreign text such as a server's stderr: it knows the
//! secret values and blots them out.
//!
//! [`is_secret`] and [`is_secret_header`] are the only definition of a secret, by the name of a value
//! and by the value. [`mask_args`] masks a command line with it, and `Redactor::add_named`,
//! `add_header`, `add_args` and `add_url` learn with it. It serves output only, never a decision about
//! access.

mod args;
mod classify;
mod encode;
mod learn;
mod live;
mod name;
mod redact;
mod token;
mod url;
mod value;

pub use self::url::SafeUrl;
pub use args::mask_args;
pub use classify::{is_secret, is_secret_header};
pub use live::LiveSecrets;
pub use name::looks_secret;
pub use redact::Redactor;
pub use value::{Secret, Wipe};

/// The text shown in place of a secret.
pub const MASK: &str = "***";
