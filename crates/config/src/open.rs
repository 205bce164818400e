//! Opens config files, and the files that their entries name.

use std::path::{Path, PathBuf};

use switchboard_core::files::{self, Content, FileError, Source};
use switchboard_core::spec::Layer;

use super::bounds::BOUNDS;
use super::paths;

/// Reads a config file, if nobody else may write it.
pub(super) fn config(file: &Path, layer: &Layer) -> Result<Content, FileError> {
    if !layer.needs_approval() {
        // The person's own files may be links into a folder where they are kept.
        return files::read(file, Source::Own, BOUNDS.file_bytes);
    }
    // What came with a project may not point out of it, by a folder such as `.switchboard` either.
    let root = project(file, layer);
    files::open(file, Source::Project(&root))?
        .unless_others_write()?
        .read(BOUNDS.file_bytes)
}

/// The folder of the project that a file came with.
pub(super) fn project(file: &Path, layer: &Layer) -> PathBuf {
    match layer {
        Layer::Ancestor(folder) if file.starts_with(folder) => folder.clone(),
        _ => {
            let folder = file.parent().unwrap_or_else(|| Path::new(""));
            let name = folder.file_name().map(|name| name.to_string_lossy());
            // Any folder with a dot, and not only those whose paths begin above.
            let is_dot = name.is_some_and(|name| name.starts_with('.'));
            match folder.parent().filter(|_| is_dot) {
                Some(above) => above.to_owned(),
                None => paths::base(file),
            }
        }
    }
}

/// Reads a file that an entry names, whoever it belongs to. In the folder of a project, which is given
/// for an entry that came with one, it must not be a link. Says why in one phrase.
pub(super) fn reference(path: &Path, project: Option<&Path>) -> Result<String, String> {
    let whole = match project {
        // By the text of the path, which the person has seen: no link of the project takes part in it.
        Some(_) => files::without_dots(path),
        None => path.to_owned(),
    };
    let source = match project {
        Some(root) if whole.starts_with(root) => Source::Project(root),
        _ => Source::Referenced,
    };
    let content = files::read(&whole, source, BOUNDS.file_bytes).map_err(|error| phrase(&error))?;
    String::from_utf8(content.bytes).map_err(|_| "it is not UTF-8".to_owned())
}

fn phrase(error: &FileError) -> String {
    use switchboard_core::files::Refusal;
    match error.why() {
        Refusal::Absent => "there is none".to_owned(),
        Refusal::Io(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            "permission denied".to_owned()
        }
        // Nothing of the system's words: some of them quote the path.
        Refusal::Io(_) => "reading fails".to_owned(),
        _ => error.to_string(),
    }
}
