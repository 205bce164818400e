//! The library.

pub mod secret;
pub mod text;
