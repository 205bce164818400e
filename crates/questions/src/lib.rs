//! Questions of Model Context Protocol servers to their client: read, checked and limited.
//!
//! - [`elicit`]: forms for the user to fill in, and addresses to open;
//! - [`sampling`]: prompts for the user's model, and the APIs of models;
//! - [`Roots`]: the folders that servers may ask for.
//!
//! Everything that a server sends is read within limits, and refused as a whole if it exceeds one. This
//! crate decides nothing for the user: the crate `switchboard` asks its operator, and connects the answers
//! to sessions. It re-exports these types in its module `talk`.
//!
//! ```
//! use switchboard_questions::elicit::{ElicitLimits, Form};
//! use switchboard_wire::{ElicitParams, FromRaw as _, Raw};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let question = r#"{"message": "Sign in", "requestedSchema": {"type": "object",
//!     "properties": {"password": {"type": "string"}}}}"#;
//! let question = ElicitParams::from_raw(&Raw::parse(question)?)?;
//! let form = Form::read(&question, &ElicitLimits::default())?;
//! assert_eq!(form.asks_for_secret(), Some("password"));
//! # Ok(())
//! # }
//! ```

pub mod elicit;
mod roots;
pub mod sampling;

pub use roots::Roots;
