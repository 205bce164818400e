//! The locations of config files.

use std::path::{Path, PathBuf};

use switchboard_core::environment::Environment;
use switchboard_core::spec::Layer;

/// The config files in a folder of a project, the stronger one last.
const PROJECT_FILES: &[&str] = &[".mcp.json", ".switchboard/mcp.json"];

/// The locations of config files. Creating one does not access the file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    user_file: Option<PathBuf>,
    home: Option<PathBuf>,
    folder: PathBuf,
    only: Option<PathBuf>,
}

impl Places {
    /// The user's own file, and the files in every folder from the home folder, or the root, down to
    /// `folder`, which should be absolute.
    pub fn of(environment: &Environment, folder: impl Into<PathBuf>) -> Self {
        Self {
            user_file: user_file(environment, System::HERE),
            home: home(environment),
            folder: folder.into(),
            only: None,
        }
    }

    /// One file that the user named, and no other.
    pub fn only(file: impl Into<PathBuf>) -> Self {
        let file = file.into();
        Self {
            user_file: None,
            home: None,
            folder: file.parent().unwrap_or_else(|| Path::new("")).to_owned(),
            only: Some(file),
        }
    }

    /// The user's own file, whether or not it exists.
    pub fn user_file(&self) -> Option<&Path> {
        self.user_file.as_deref()
    }

    /// The user's home folder.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The current folder, or the folder of the named file.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// All candidate files, the farthest layer first.
    pub fn files(&self) -> Vec<(Layer, PathBuf)> {
        // A file that was named replaces all others: nothing else is looked for.
        if let Some(file) = &self.only {
            return vec![(Layer::Named, file.clone())];
        }
        let mut files: Vec<(Layer, PathBuf)> = Vec::new();
        if let Some(file) = &self.user_file {
            files.push((Layer::User, file.clone()));
        }
        let mut folders: Vec<&Path> = Vec::new();
        // From the current folder up to the home folder: projects of others may lie above it.
        for folder in self.folder.ancestors() {
            folders.push(folder);
            if Some(folder) == self.home.as_deref() {
                break;
            }
        }
        // Farthest first, so that the nearest file is read last and wins.
        for folder in folders.into_iter().rev() {
            let layer = if folder == self.folder {
                Layer::Project
            } else {
                Layer::Ancestor(folder.to_owned())
            };
            let found = PROJECT_FILES.iter().map(|name| folder.join(name));
            // The user's own file keeps its layer, even if the current folder is below it.
            let found = found.filter(|file| Some(file) != self.user_file.as_ref());
            files.extend(found.map(|file| (layer.clone(), file)));
        }
        files
    }
}

/// The operating systems that differ in their folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    Linux,
    Mac,
    Windows,
}

impl System {
    const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::Mac
    } else {
        Self::Linux
    };
}

/// The folder that a variable names, if it is an absolute path.
pub(super) fn folder_of(environment: &Environment, name: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(environment.get(name)?.expose());
    // The XDG specification has relative paths ignored.
    folder.is_absolute().then_some(folder)
}

/// The user's home folder.
pub(super) fn home(environment: &Environment) -> Option<PathBuf> {
    let home = folder_of(environment, "HOME");
    match System::HERE {
        System::Windows => folder_of(environment, "USERPROFILE").or(home),
        System::Linux | System::Mac => home,
    }
}

/// The folder in which programs keep their settings.
pub(super) fn app_folder(environment: &Environment) -> Option<PathBuf> {
    settings_folder(environment, System::HERE, false)
}

fn settings_folder(environment: &Environment, system: System, prefer_xdg: bool) -> Option<PathBuf> {
    let xdg = || folder_of(environment, "XDG_CONFIG_HOME");
    let home = || folder_of(environment, "HOME");
    match system {
        System::Linux => xdg().or_else(|| Some(home()?.join(".config"))),
        System::Mac => {
            // Our own file follows XDG on a Mac too; those of other programs are where they have
            // them.
            let xdg = if prefer_xdg { xdg() } else { None };
            xdg.or_else(|| Some(home()?.join("Library/Application Support")))
        }
        System::Windows => folder_of(environment, "APPDATA"),
    }
}

fn user_file(environment: &Environment, system: System) -> Option<PathBuf> {
    let folder = settings_folder(environment, system, true)?;
    Some(folder.join("switchboard").join("mcp.json"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let variables = variables.iter();
        variables
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn files(places: &Places) -> Vec<String> {
        let files = places.files().into_iter();
        files
            .map(|(layer, file)| format!("{layer} {}", file.display()))
            .collect()
    }

    #[test]
    fn the_users_file_is_where_the_system_has_it() {
        let host = environment(&[("HOME", "/home/x"), ("APPDATA", "/apps")]);
        let file = |system| user_file(&host, system);
        let path = |path: &str| Some(PathBuf::from(path));
        assert_eq!(
            file(System::Linux),
            path("/home/x/.config/switchboard/mcp.json")
        );
        assert_eq!(
            file(System::Mac),
            path("/home/x/Library/Application Support/switchboard/mcp.json")
        );
        assert_eq!(file(System::Windows), path("/apps/switchboard/mcp.json"));
        let host = environment(&[("HOME", "/home/x"), ("XDG_CONFIG_HOME", "/xdg")]);
        for system in [System::Linux, System::Mac] {
            assert_eq!(user_file(&host, system), path("/xdg/switchboard/mcp.json"));
        }
        let relative = environment(&[("XDG_CONFIG_HOME", "xdg")]);
        assert_eq!(user_file(&relative, System::Linux), None);
    }

    #[test]
    fn folders_are_walked_from_the_home_folder_down() {
        let host = environment(&[("HOME", "/home/x"), ("XDG_CONFIG_HOME", "/xdg")]);
        assert_eq!(
            files(&Places::of(&host, "/home/x/a/b")),
            [
                "user /xdg/switchboard/mcp.json",
                "ancestor:/home/x /home/x/.mcp.json",
                "ancestor:/home/x /home/x/.switchboard/mcp.json",
                "ancestor:/home/x/a /home/x/a/.mcp.json",
                "ancestor:/home/x/a /home/x/a/.switchboard/mcp.json",
                "project /home/x/a/b/.mcp.json",
                "project /home/x/a/b/.switchboard/mcp.json",
            ]
        );
    }

    #[test]
    fn outside_of_the_home_folder_they_are_walked_from_the_root_down() {
        let host = environment(&[("HOME", "/home/x")]);
        assert_eq!(
            files(&Places::of(&host, "/srv"))[1..],
            [
                "ancestor:/ /.mcp.json",
                "ancestor:/ /.switchboard/mcp.json",
                "project /srv/.mcp.json",
                "project /srv/.switchboard/mcp.json",
            ]
        );
    }

    #[test]
    fn a_file_that_was_named_is_the_only_one() {
        assert_eq!(files(&Places::only("/a/x.json")), ["named /a/x.json"]);
    }
}
