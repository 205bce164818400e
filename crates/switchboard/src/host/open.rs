//! The short ways to a host: a config file that the program names, and the files of the current folder.
//!
//! Both take the environment of this process unless the builder has another. Reading the files starts
//! nothing; [`HostBuilder::connect`] connects to all servers, and a broken one costs no other.

use std::path::Path;

use super::{Host, HostBuilder};
use crate::config::{Config, Places, ReadOptions};
use crate::error::{Error, HostError};
use crate::transport::Environment;

impl Host {
    /// Opens a config file and connects to all of its servers.
    ///
    /// The program names the file, so its servers need no approval. They are started with the safe
    /// variables of this process (`PATH`, `HOME`, `LANG` and the like) and with those that their
    /// entries name. Returns once each server is connected or has failed; servers that cannot be used
    /// are in [`Host::problems`]. [`Host::builder`] is for everything else.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), switchboard::Error> {
    /// let host = switchboard::Host::open("mcp.json").await?;
    /// for problem in host.problems() {
    ///     eprintln!("{problem}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails if the file is missing, cannot be read, or is not a config file.
    ///
    /// # Cancel safety
    /// Dropping the future ends all servers that were started.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::builder().file(path)?.connect().await
    }

    /// Reads the config files of the current folder, and connects to all of their servers.
    ///
    /// These are the person's own file, and those of every folder from the home folder down to the
    /// current one. Servers of a project's files run only after the person approves them: without an
    /// operator they are refused, and [`Host::problems`] has each with its question
    /// ([`Error::question`]). To ask a person, use [`HostBuilder::discover`].
    ///
    /// # Errors
    /// Fails if the current folder is not known. A broken file is among [`Host::problems`].
    ///
    /// # Cancel safety
    /// Dropping the future ends all servers that were started.
    pub async fn discover() -> Result<Self, Error> {
        Self::builder().discover()?.connect().await
    }
}

impl HostBuilder {
    /// Adds the servers of a config file that the program names: they need no approval. The file's
    /// sections about agents, limits and the network count, each unless the program sets its own.
    ///
    /// # Errors
    /// Fails if the file is missing, cannot be read, or is not a config file. A broken entry is not
    /// an error: the others are used, and it is among [`Host::problems`].
    pub fn file(self, path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let config = Config::load_with(&Places::only(path), self.read_options);
        if let Some(problem) = config.file_errors().first() {
            return Err(HostError::Problem(Box::new((*problem).clone())).into());
        }
        // A relative path is one of now: the program may change its folder later.
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let folder = whole.parent().unwrap_or(&whole);
        let places = Places::of(&self.current_environment(), folder);
        let mut builder = self.read_from(&places, &config);
        builder.options.policy_file = Some(whole);
        Ok(builder)
    }

    /// Sets how config files are read: strictly, for example. Call it before [`HostBuilder::file`] and
    /// [`HostBuilder::discover`]; a [`Config`] that is given was read already, by [`Config::load_with`].
    pub fn read_options(mut self, options: ReadOptions) -> Self {
        self.read_options = options;
        self
    }

    /// Adds the servers of the config files of the current folder: see [`Host::discover`].
    ///
    /// # Errors
    /// Fails if the current folder is not known.
    pub fn discover(self) -> Result<Self, Error> {
        let folder = std::env::current_dir().map_err(|error| {
            Error::configuration(format!("the current folder is not known: {error}"))
        })?;
        Ok(self.discover_in(folder))
    }

    /// Adds the servers of the config files that count in a folder, whose path should be absolute.
    /// The person's own file and home folder are those of the builder's environment: set that first.
    pub fn discover_in(self, folder: impl AsRef<Path>) -> Self {
        let places = Places::of(&self.current_environment(), folder.as_ref());
        let config = Config::load_with(&places, self.read_options);
        let mut builder = self.read_from(&places, &config);
        builder.options.policy_file = places.user_file().map(Path::to_owned);
        builder
    }

    /// Builds the host and connects to all of its servers. Servers that cannot be used are in
    /// [`Host::problems`].
    ///
    /// # Errors
    /// As [`HostBuilder::build`].
    ///
    /// # Cancel safety
    /// Dropping the future ends all servers that were started.
    pub async fn connect(self) -> Result<Host, Error> {
        let host = self.build()?;
        host.connect_all().await;
        Ok(host)
    }

    fn read_from(self, places: &Places, config: &Config) -> Self {
        let builder = self.workspace(places.folder()).config(config);
        match places.home() {
            Some(home) => builder.home(home),
            None => builder,
        }
    }

    /// The environment that the host will have.
    fn current_environment(&self) -> Environment {
        if self.own.environment {
            (*self.options.environment).clone()
        } else {
            Environment::of_process()
        }
    }
}
