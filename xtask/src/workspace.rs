//! Paths of the workspace.

use std::path::PathBuf;

/// Returns the root of the workspace.
///
/// Cargo sets the variable when it runs us; the path known at build time would be the wrong one
/// for a target folder that two checkouts share.
pub(crate) fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    match manifest.parent() {
        Some(root) => root.to_owned(),
        None => manifest,
    }
}

/// Returns the ignored folder that partners are installed into.
pub(crate) fn partners() -> PathBuf {
    root().join("target").join("partners")
}

/// Returns the committed folder with the lock files and the scripts of partners.
pub(crate) fn partner_sources() -> PathBuf {
    root().join("tests").join("partners")
}
