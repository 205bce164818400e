//! The gateway over HTTP, from outside: raw connections to a real listener, with a host behind it whose
//! servers record what reaches them.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failure here is a failed test"
)]

mod credentials;
mod drain;
mod first_list;
mod hostile;
mod legacy;
mod listeners;
mod modern;
mod named_tokens;
mod older;
mod resume;
mod sessions;
mod support;
mod validity;
