//! Values that must not be shown, and the means to keep them out of what is.
//!
//! [`Secret`] and [`SafeUrl`] wrap a value from the edge inward, so that no log line or error shows
//! it by accident. [`Redactor`] is for text that somebody else wrote, such as a server's stderr: it
//! knows the secret values and blots them out. [`looks_secret`] and [`mask_args`] are for
//! command lines, where only names and shapes tell.
//!
//! The last two guess, and guess on the careful side; they are for what is printed, never for a
//! decision about access.

mod args;
mod encode;
mod name;
mod redact;
mod token;
mod url;
mod value;

pub use self::url::SafeUrl;
pub use args::mask_args;
pub use name::looks_secret;
pub use redact::Redactor;
pub use value::{Secret, Wipe};

/// What is shown in place of a secret.
pub const MASK: &str = "***";
