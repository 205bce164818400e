//! The file of a client that an install is for.

use std::path::{Path, PathBuf};

use switchboard_core::environment::Environment;
use switchboard_core::spec::Layer;

use super::InstallError;
use crate::Client;
use crate::edit::held::RealFile;
use crate::edit::{Access, EditError};

/// The reach of an entry in a client's config.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstallScope {
    /// Every project of the user: the client's own file.
    User,
    /// The project of the current folder: a file in that folder, which others may share.
    Project,
    /// The project of the current folder, in the client's own file, which is not shared. Only Claude Code has this.
    Local,
}

/// The file of one client in one scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    client: Client,
    scope: InstallScope,
    file: PathBuf,
    /// The keys of the objects that the entries of servers are in.
    root: Vec<String>,
    /// The folder that a project's file must not lead out of.
    boundary: Option<PathBuf>,
}

impl Target {
    /// The clients that can be installed into.
    pub const CLIENTS: &[Client] = &[
        Client::ClaudeCode,
        Client::ClaudeDesktop,
        Client::Cursor,
        Client::VsCode,
        Client::Codex,
        Client::Gemini,
        Client::Windsurf,
        Client::OpenCode,
        Client::Zed,
    ];

    /// Finds the file of a client, whether or not it exists. Of several possible files, the first that exists
    /// is used.
    ///
    /// # Errors
    /// Fails if the client has no such file, or if the home folder is unknown.
    pub fn find(
        client: Client,
        scope: InstallScope,
        environment: &Environment,
        folder: &Path,
    ) -> Result<Self, InstallError> {
        if !Self::CLIENTS.contains(&client) {
            return Err(InstallError::Client(client));
        }
        let layer = layer_of(scope);
        let keys = client.roots().first().copied().unwrap_or_default();
        let mut root: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        if scope == InstallScope::Local {
            let project = project(folder);
            let folder = project.to_str().filter(|_| client == Client::ClaudeCode);
            let folder = folder.ok_or(InstallError::NoFile { client, scope })?;
            root.splice(0..0, ["projects".to_owned(), folder.to_owned()]);
        }
        let places = client.places(environment, folder).into_iter();
        let mut files: Vec<PathBuf> = places
            .filter(|(found, _)| *found == layer)
            .map(|(_, file)| file)
            .collect();
        let there = files.iter().position(|file| file.exists());
        if files.is_empty() {
            return Err(InstallError::NoFile { client, scope });
        }
        Ok(Self {
            client,
            scope,
            root,
            file: files.swap_remove(there.unwrap_or_default()),
            boundary: (scope == InstallScope::Project).then(|| folder.to_owned()),
        })
    }

    /// The client.
    pub fn client(&self) -> Client {
        self.client
    }

    /// The scope.
    pub fn scope(&self) -> InstallScope {
        self.scope
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The layer of the file.
    pub fn layer(&self) -> Layer {
        layer_of(self.scope)
    }

    /// The permissions of a new file.
    pub(super) fn access(&self) -> Access {
        match self.scope {
            InstallScope::User | InstallScope::Local => Access::Private,
            InstallScope::Project => Access::Shared,
        }
    }

    /// The keys of the objects that the entries of servers are in.
    pub(super) fn root(&self) -> &[String] {
        &self.root
    }

    /// Follows links to the file itself. A project's file must stay in its folder.
    pub(super) fn real(&self) -> Result<RealFile, InstallError> {
        let real = RealFile::of(&self.file)?;
        if let Some(boundary) = &self.boundary {
            let folder = boundary.canonicalize();
            let folder = folder.map_err(EditError::io("open", boundary))?;
            // A project of others must not redirect the edit to a file of the user.
            if !real.path.starts_with(&folder) {
                return Err(InstallError::Outside {
                    file: self.file.clone(),
                    leads_to: real.path,
                });
            }
        }
        Ok(real)
    }
}

fn layer_of(scope: InstallScope) -> Layer {
    match scope {
        InstallScope::User | InstallScope::Local => Layer::User,
        InstallScope::Project => Layer::Project,
    }
}

/// The folder under whose path Claude Code keeps the settings of a project: that of the repository.
fn project(folder: &Path) -> PathBuf {
    // On Windows a real path has a prefix that no program shows.
    let real = folder.canonicalize().ok().filter(|_| !cfg!(windows));
    let real = real.unwrap_or_else(|| folder.to_owned());
    let mut above = real.ancestors();
    let repository = above.find(|folder| folder.join(".git").exists());
    repository.unwrap_or(&real).to_owned()
}
