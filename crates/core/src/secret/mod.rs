//! Values that must not be shown, and the means to keep them out of what is.
//!
//! [`Secret`] and [`SafeUrl`] wrap a value from the edge inward, so that no log line or error shows
//! it by accident. [`Redactor`] is for text that somebody else wrote, such as a server's stderr: it
//! knows the secret values and blots them out.
//!
//! [`is_secret`] and [`is_secret_header`] are the one definition of what counts as a secret, by a
//! value's name and by the value. [`mask_args`] shows a command line by it, and `Redactor::add_named`,
//! `add_header`, `add_args` and `add_url` learn by it. It is for what is printed, never for a decision
//! about access.

mod args;
mod classify;
mod encode;
mod learn;
mod name;
mod redact;
mod token;
mod url;
mod value;

pub use self::url::SafeUrl;
pub use args::mask_args;
pub use classify::{is_secret, is_secret_header};
pub use name::looks_secret;
pub use redact::Redactor;
pub use value::{Secret, Wipe};

/// What is shown in place of a secret.
pub const MASK: &str = "***";
