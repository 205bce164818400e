//! The daemon on Unix.

mod contact;
mod server;
mod socket;
#[cfg(test)]
mod tests;

pub use contact::Contact;
pub use server::Daemon;
