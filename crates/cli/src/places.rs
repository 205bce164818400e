//! Where the config files are.

use std::path::Path;

use switchboard::config::Places;
use switchboard::transport::Environment;

use crate::exit::Exit;
use crate::report::{Failure, Report};

/// Where to look: in the file of `--config`, or in the person's own and in those of all folders down
/// to this one.
///
/// # Errors
/// When nobody knows which folder this is.
pub(crate) fn places(named: Option<&Path>, host: &Environment) -> Result<Places, Failure> {
    if let Some(file) = named {
        return Ok(Places::only(file));
    }
    let folder = std::env::current_dir().map_err(|error| {
        Report::new(
            Exit::Internal,
            "internal",
            "the current folder cannot be found",
        )
        .fact("the system says", error.to_string())
        .hint("go to a folder that is there, or name a file with --config FILE")
    })?;
    Ok(Places::of(host, folder))
}
