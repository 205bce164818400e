//! The daemon on Unix.

mod contact;
mod head;
mod instance;
mod launch;
mod lease;
mod lease_end;
#[cfg(test)]
mod lease_tests;
mod lines;
mod past;
mod pool;
mod programs;
mod server;
mod socket;
mod stderr;
#[cfg(test)]
mod tests;
mod traffic;

pub use contact::Contact;
pub use launch::DaemonLauncher;
pub use server::Daemon;
