//! Opens config files, and the files that entries refer to.

use std::path::{Path, PathBuf};

use switchboard_core::files::{self, Content, FileError, Source};
use switchboard_core::spec::Layer;

use super::limits::LIMITS;
use super::paths;

/// Reads a config file, if no other user may write it.
pub(super) fn config(file: &Path, layer: &Layer) -> Result<Content, FileError> {
    if !layer.needs_approval() {
        // The user's own files may be links, for example into a folder of dotfiles.
        return files::read(file, Source::Own, LIMITS.file_bytes);
    }
    // A project's file must not point out of the project, not even through a folder like `.switchboard`.
    let root = project(file, layer);
    files::open(file, Source::Project(&root))?
        .unless_others_write()?
        .read(LIMITS.file_bytes)
}

/// The folder of the project that a file came with.
pub(super) fn project(file: &Path, layer: &Layer) -> PathBuf {
    match layer {
        Layer::Ancestor(folder) if file.starts_with(folder) => folder.clone(),
        _ => {
            let folder = file.parent().unwrap_or_else(|| Path::new(""));
            let name = folder.file_name().map(|name| name.to_string_lossy());
            // Any folder with a dot counts, not only those in `paths`.
            let is_dot = name.is_some_and(|name| name.starts_with('.'));
            match folder.parent().filter(|_| is_dot) {
                Some(above) => above.to_owned(),
                None => paths::base(file),
            }
        }
    }
}

/// Reads a file that an entry refers to, whatever its owner. Inside the folder of a project, given for
/// entries that came with one, it must not be a link. An error is one phrase.
pub(super) fn reference(path: &Path, project: Option<&Path>) -> Result<String, String> {
    let whole = match project {
        // Resolve dots textually, as in the path that the user has approved: links must not change it.
        Some(_) => files::without_dots(path),
        None => path.to_owned(),
    };
    // Inside the project its rules apply, outside of it any regular file.
    let source = match project {
        Some(root) if whole.starts_with(root) => Source::Project(root),
        _ => Source::Referenced,
    };
    let content = files::read(&whole, source, LIMITS.file_bytes).map_err(|error| phrase(&error))?;
    String::from_utf8(content.bytes).map_err(|_| "it is not UTF-8".to_owned())
}

fn phrase(error: &FileError) -> String {
    use switchboard_core::files::Refusal;
    match error.why() {
        Refusal::Absent => "it does not exist".to_owned(),
        Refusal::Io(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            "permission denied".to_owned()
        }
        // Not the system's message, which sometimes quotes the path.
        Refusal::Io(_) => "reading fails".to_owned(),
        _ => error.to_string(),
    }
}
