//! The locations of config files, and the file that an edit is for.

use std::path::{Path, PathBuf};

use switchboard::config::edit::Access;
use switchboard::config::{Config, Entry, Places, ReadOptions};
use switchboard::spec::{Layer, Origin, ServerName};
use switchboard::text::closest;
use switchboard::transport::Environment;

use crate::args::{Scope, Target};
use crate::exit::Exit;
use crate::problems;
use crate::report::{Failure, Report};

/// Returns the places of config files: the file of `--config`, or the person's own and those of all folders
/// down to the current one.
///
/// # Errors
/// Fails if the current folder cannot be determined.
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
        .hint("change to an existing folder, or name a file with --config FILE")
    })?;
    Ok(Places::of(host, folder))
}

/// The config files that apply, loaded for a command that looks up or edits entries.
pub(crate) struct Files {
    pub(crate) environment: Environment,
    pub(crate) places: Places,
    pub(crate) config: Config,
}

/// The file that an edit is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Goal {
    pub(crate) layer: Layer,
    pub(crate) file: PathBuf,
}

impl Files {
    /// Loads the file of `--config`, or all files that apply in the current folder.
    pub(crate) fn read(named: Option<&Path>) -> Result<Self, Failure> {
        Self::read_with(named, ReadOptions::default())
    }

    /// Loads the files with options, such as strict reading.
    pub(crate) fn read_with(named: Option<&Path>, options: ReadOptions) -> Result<Self, Failure> {
        let environment = Environment::of_process();
        let places = places(named, &environment)?;
        let config = Config::load_with(&places, options);
        Ok(Self {
            environment,
            places,
            config,
        })
    }

    /// Reloads the files after an edit.
    pub(crate) fn again(&mut self) {
        self.config = Config::load(&self.places);
    }

    /// Returns the file that a new server is written to.
    pub(crate) fn goal(&self, target: &Target) -> Result<Goal, Failure> {
        // clap refuses --config together with a scope.
        if let Some(file) = &target.config {
            return Ok(Goal {
                layer: Layer::Named,
                file: file.clone(),
            });
        }
        match target.scope.unwrap_or(Scope::User) {
            Scope::User => match self.places.user_file() {
                Some(file) => Ok(Goal {
                    layer: Layer::User,
                    file: file.to_owned(),
                }),
                None => Err(Report::new(
                    Exit::Configuration,
                    "configuration",
                    "cannot determine the folder of your config file",
                )
                .hint("set HOME, or XDG_CONFIG_HOME to an absolute path")
                .hint("or name a file with --config FILE")),
            },
            Scope::Project => {
                let folder = self.places.folder();
                // The project's own file wins over the one that it shares with other clients.
                let inner = folder.join(".switchboard").join("mcp.json");
                let is_there = std::fs::symlink_metadata(&inner).is_ok();
                let file = if is_there {
                    inner
                } else {
                    folder.join(".mcp.json")
                };
                Ok(Goal {
                    layer: Layer::Project,
                    file,
                })
            }
        }
    }

    /// Returns the nearest file of the scope that has the server, even as an invalid entry.
    pub(crate) fn owner(&self, name: &str, target: &Target) -> Result<Goal, Failure> {
        let fits = |layer: &Layer| match target.scope {
            None => true,
            Some(Scope::User) => *layer == Layer::User,
            Some(Scope::Project) => *layer == Layer::Project,
        };
        let used = self.config.get(name).into_iter();
        let hidden = self.config.shadowed().iter().rev();
        let hidden = hidden.filter(|entry| entry.name().as_str() == name);
        let good = used.chain(hidden).map(Entry::origin);
        let good = good.filter_map(|origin| Some((&origin.layer, origin.file.as_deref()?)));
        // Invalid entries last: a valid one of the same name is meant.
        let bad = self.config.problems().iter().rev();
        let bad = bad.filter(|problem| problem.is_error() && problem.server() == Some(name));
        let bad = bad.map(|problem| (problem.layer(), problem.file()));
        let mut found = good.chain(bad).filter(|(layer, _)| fits(layer));
        match found.next() {
            Some((layer, file)) => Ok(Goal {
                layer: layer.clone(),
                file: file.to_owned(),
            }),
            None => Err(self.unknown(name, target.scope)),
        }
    }

    /// Returns the entry of that name, or a report that says why there is none.
    pub(crate) fn entry(&self, name: &str) -> Result<&Entry, Failure> {
        if let Some(entry) = self.config.get(name) {
            return Ok(entry);
        }
        Err(match self.config.bad(name) {
            Some(problem) => problems::report(problem),
            None => self.unknown(name, None),
        })
    }

    fn unknown(&self, name: &str, scope: Option<Scope>) -> Failure {
        let mut names: Vec<&str> = Vec::new();
        let entries = self.config.entries().iter();
        names.extend(entries.map(|entry| entry.name().as_str()));
        let where_ = match scope {
            None => "",
            Some(Scope::User) => " in your own file",
            Some(Scope::Project) => " in a file of this folder",
        };
        let report = Report::new(
            Exit::Configuration,
            "configuration",
            format!("there is no server named {name:?}{where_}"),
        );
        let elsewhere = self.config.get(name).map(Entry::origin);
        let report = match (elsewhere, closest(name, names.iter().copied())) {
            (Some(origin), _) => report.hint(format!("there is one in {}", place(origin))),
            (None, Some(meant)) => report.hint(format!("did you mean {meant:?}?")),
            (None, None) if name == "demo" => {
                report.hint("`demo` is the bundled server and is not in any config file")
            }
            (None, None) => report,
        };
        if names.is_empty() {
            return report.hint(
                "no servers are configured: `switchboard config path` lists the config files",
            );
        }
        report.hint("`switchboard config show` lists all servers")
    }
}

impl Goal {
    /// Returns the permissions of the file, if it is created.
    pub(crate) fn access(&self) -> Access {
        if self.layer.needs_approval() {
            Access::Shared
        } else {
            Access::Private
        }
    }

    /// Refuses a link in place of a project's file: the edit would go to a file that the person did not mean.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let is_link =
            |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
        // The project's folder may be reached by a link; the folder inside it must not be one.
        let inner = self.file.parent();
        let inner = inner.filter(|folder| folder.ends_with(".switchboard"));
        let (message, hint) = match inner {
            _ if !self.layer.needs_approval() => return Ok(()),
            Some(folder) if is_link(folder) => (
                "the file's folder is a link",
                "replace the link with the folder",
            ),
            _ if is_link(&self.file) => ("the file is a link", "replace the link with the file"),
            _ => return Ok(()),
        };
        let report = Report::new(Exit::Configuration, "configuration", message);
        Err(report
            .described_at(&self.layer, &self.file, None)
            .hint(hint))
    }
}

/// Parses the name of a server.
pub(crate) fn server_name(name: &str) -> Result<ServerName, Failure> {
    ServerName::parse(name).map_err(|error| Report::usage(error.to_string()))
}

/// Formats the place of an entry: `/a/.mcp.json:3 (project)`.
pub(crate) fn place(origin: &Origin) -> String {
    let file = origin.file.as_deref().unwrap_or_else(|| Path::new(""));
    let line = origin.line.map(|line| format!(":{line}"));
    let line = line.unwrap_or_default();
    format!("{}{line} ({})", file.display(), layer_words(&origin.layer))
}

/// Returns the layer of a config file in words; a file that was named is the one of `--config`.
pub(crate) fn layer_words(layer: &Layer) -> String {
    match layer {
        Layer::Named => "--config".to_owned(),
        layer => layer.to_string(),
    }
}
