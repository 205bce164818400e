//! The folders to watch for a file, through links and folders that do not exist yet.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Links that are followed on the way to one file.
const MOST_LINKS: usize = 40;

/// The name that leads to the folder above.
const PARENT: &str = "..";

/// The folders to watch, each with the names in it that matter.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct WatchPlan {
    folders: BTreeMap<PathBuf, Names>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Names {
    These(BTreeSet<OsString>),
    All,
}

impl WatchPlan {
    /// The plan for these files, and for everything that is directly in these folders.
    pub(crate) fn of(files: &[PathBuf], folders: &[PathBuf]) -> Self {
        let mut plan = Self::default();
        for file in files {
            plan.follow(file);
        }
        for folder in folders {
            if let Some(real) = plan.follow(folder) {
                plan.folders.insert(real, Names::All);
            }
        }
        plan
    }

    pub(crate) fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.keys().map(PathBuf::as_path)
    }

    /// Returns true if a change at that path matters.
    pub(crate) fn concerns(&self, path: &Path) -> bool {
        // A watched folder itself is gone: another may take its place.
        if self.folders.contains_key(path) {
            return true;
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return false;
        };
        match self.folders.get(folder) {
            Some(Names::All) => true,
            Some(Names::These(names)) => names.contains(name),
            None => false,
        }
    }

    /// Adds each folder in which a change decides what a path leads to: that of the file, that of every
    /// link on the way, or that in which the next folder does not exist yet. Returns the path without
    /// links, if it exists.
    fn follow(&mut self, path: &Path) -> Option<PathBuf> {
        let path = std::path::absolute(path).ok()?;
        let mut rest: VecDeque<OsString> = VecDeque::new();
        let mut at = PathBuf::new();
        enqueue(&path, &mut at, &mut rest);
        let mut links = 0;
        while let Some(name) = rest.pop_front() {
            if name == PARENT {
                // The folder so far has no link in it, so that this is its real parent.
                at.pop();
                continue;
            }
            let next = at.join(&name);
            let Ok(found) = fs::symlink_metadata(&next) else {
                self.add(at, name);
                return None;
            };
            if found.is_symlink() {
                links += 1;
                let target = fs::read_link(&next).ok().filter(|_| links <= MOST_LINKS);
                self.add(at.clone(), name);
                let mut before = VecDeque::new();
                enqueue(&target?, &mut at, &mut before);
                before.append(&mut rest);
                rest = before;
                continue;
            }
            if rest.is_empty() {
                self.add(at, name);
            }
            at = next;
        }
        Some(at)
    }

    fn add(&mut self, folder: PathBuf, name: OsString) {
        let names = Names::These(BTreeSet::new());
        if let Names::These(names) = self.folders.entry(folder).or_insert(names) {
            names.insert(name);
        }
    }
}

/// Puts the names of a path in front of those that follow; a path from the root begins there.
fn enqueue(path: &Path, at: &mut PathBuf, names: &mut VecDeque<OsString>) {
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => at.push(component),
            Component::CurDir => {}
            Component::ParentDir => names.push_back(PARENT.into()),
            Component::Normal(name) => names.push_back(name.to_owned()),
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn plan(files: &[PathBuf]) -> Vec<(PathBuf, Vec<String>)> {
        let plan = WatchPlan::of(files, &[]);
        let folders = plan.folders.into_iter().map(|(folder, names)| {
            let names = match names {
                Names::These(names) => names
                    .into_iter()
                    .map(|name| name.into_string().unwrap())
                    .collect(),
                Names::All => vec!["*".to_owned()],
            };
            (folder, names)
        });
        folders.collect()
    }

    fn real_folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        (folder, real)
    }

    #[test]
    fn the_folder_of_a_file_is_watched_whether_the_file_exists_or_not() {
        let (_folder, at) = real_folder();
        let expected = [(at.clone(), vec!["mcp.json".to_owned()])];
        assert_eq!(plan(&[at.join("mcp.json")]), expected);
        fs::write(at.join("mcp.json"), "{}").unwrap();
        assert_eq!(plan(&[at.join("mcp.json")]), expected);
    }

    #[test]
    fn of_folders_that_do_not_exist_the_first_is_waited_for() {
        let (_folder, at) = real_folder();
        let file = at.join(".config/switchboard/mcp.json");
        let expected = [(at, vec![".config".to_owned()])];
        assert_eq!(plan(&[file]), expected);
    }

    #[test]
    fn links_are_watched_on_both_sides() {
        let (_folder, at) = real_folder();
        fs::create_dir_all(at.join("dotfiles/v1")).unwrap();
        symlink("v1", at.join("dotfiles/now")).unwrap();
        fs::write(at.join("dotfiles/v1/mcp.json"), "{}").unwrap();
        symlink("dotfiles/v1/../now/mcp.json", at.join("mcp.json")).unwrap();
        assert_eq!(
            plan(&[at.join("mcp.json")]),
            [
                (at.clone(), vec!["mcp.json".to_owned()]),
                (at.join("dotfiles"), vec!["now".to_owned()]),
                (at.join("dotfiles/v1"), vec!["mcp.json".to_owned()]),
            ]
        );
    }

    #[test]
    fn a_circle_of_links_ends() {
        let (_folder, at) = real_folder();
        symlink("b", at.join("a")).unwrap();
        symlink("a", at.join("b")).unwrap();
        let names = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(plan(&[at.join("a")]), [(at, names)]);
    }

    #[test]
    fn everything_in_a_folder_of_approvals_matters() {
        let (_folder, at) = real_folder();
        fs::create_dir(at.join("trust")).unwrap();
        let plan = WatchPlan::of(&[at.join("mcp.json")], &[at.join("trust")]);
        assert!(plan.concerns(&at.join("mcp.json")));
        assert!(plan.concerns(&at.join("trust/any")));
        assert!(plan.concerns(&at.join("trust")));
        assert!(!plan.concerns(&at.join("history")));
    }
}
