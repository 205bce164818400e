//! Progress lines on stderr: one for a call or a read, and one for each server that is being connected. They
//! vanish afterwards, and are drawn only for a person at a terminal that can move its cursor.
//!
//! `starting` tracks a server that is being connected, `wait` draws while a future runs.

mod starting;
mod wait;

pub(crate) use wait::{Waiting, waiting};
