//! The gateway over HTTP.
