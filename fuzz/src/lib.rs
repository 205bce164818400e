//! What the fuzz targets hold, as plain functions over bytes.
//!
//! Each target is one function that takes any bytes and panics where a promise is broken. The
//! programs in `libfuzzer/` call it with what the fuzzer invents, and the ordinary tests with
//! every file in `corpus/`, so that what was once found is looked at on every run. `docs/fuzzing.md`
//! says how to run them.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failure here is a finding"
)]

mod bytes;
mod config;
mod envelope;
mod json;
mod lines;
mod model;
mod pagination;
mod sse;
mod text;

pub use config::config;
pub use envelope::envelope;
pub use json::json;
pub use lines::lines;
pub use pagination::pagination;
pub use sse::sse;
pub use text::text;

/// A target: its name, which is also that of its program and of its folder of inputs.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// What it is called.
    pub name: &'static str,
    /// What it does with an input; it panics where it finds something.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "config",
        run: config,
    },
    Target {
        name: "envelope",
        run: envelope,
    },
    Target {
        name: "json",
        run: json,
    },
    Target {
        name: "lines",
        run: lines,
    },
    Target {
        name: "pagination",
        run: pagination,
    },
    Target {
        name: "sse",
        run: sse,
    },
    Target {
        name: "text",
        run: text,
    },
];
