//! Has a host take config files that have changed.

use std::fmt;
use std::future::pending;
use std::path::PathBuf;
use std::sync::Arc;

use switchboard::config::{Config, Places, Problem};
use switchboard::host::Reconciled;
use switchboard::{Host, ServerName};
use tokio::sync::Notify;

use crate::watch::{FileWatch, WatchError};

/// The outcome of reading config files again.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reload {
    /// The host has taken the files.
    Taken {
        /// The files as they are now.
        config: Arc<Config>,
        /// The changes of servers.
        done: Reconciled,
        /// True if the text of some file differs from what was read before.
        is_edited: bool,
    },
    /// Some files cannot be read: the servers stay as they were described before.
    Refused {
        /// The files, each with the reason.
        problems: Vec<Problem>,
        /// The approvals that were given or revoked meanwhile, which count all the same.
        done: Reconciled,
    },
}

/// Is called before the host takes a config; names the servers that it is not to have.
type Prepare = dyn Fn(&Config) -> Vec<ServerName> + Send + Sync;

/// Follows the config files of a host.
pub struct Reloader {
    host: Host,
    places: Places,
    watch: Option<FileWatch>,
    asked: Arc<Notify>,
    prepare: Box<Prepare>,
    /// Stands for the texts of the files that were read last.
    texts: u64,
    /// The problems that were returned last, while files cannot be read.
    refused: Vec<Problem>,
}

impl Reloader {
    /// Prepares to follow the files of these places. The host was built from `config`, which was read there.
    pub fn new(host: Host, places: Places, config: &Config) -> Self {
        let texts = config.digest();
        Self {
            host,
            places,
            watch: None,
            asked: Arc::default(),
            prepare: Box::new(|_| Vec::new()),
            texts,
            refused: Vec::new(),
        }
    }

    /// Watches the files, and these folders, in which approvals are kept. Without it they are only read
    /// when that is asked for. A pipe is not watched: it can be read once.
    ///
    /// # Errors
    /// Fails if the system watches no more folders.
    pub fn watch(&mut self, folders: Vec<PathBuf>) -> Result<(), WatchError> {
        let files = self.places.files().into_iter().map(|(_, file)| file);
        // A named pipe can be read once, by the loader, and does not change.
        let is_pipe = |file: &PathBuf| file.metadata().is_ok_and(|found| !found.is_file());
        let files = files.filter(|file| !is_pipe(file));
        self.watch = Some(FileWatch::new(files.collect(), folders)?);
        Ok(())
    }

    /// Is called with each config before the host takes it, for what the program does with its files besides;
    /// returns servers that the host is not to have.
    #[must_use]
    pub fn prepare(
        mut self,
        prepare: impl Fn(&Config) -> Vec<ServerName> + Send + Sync + 'static,
    ) -> Self {
        self.prepare = Box::new(prepare);
        self
    }

    /// Notify this to have the files read again, whether they have changed or not.
    pub fn trigger(&self) -> Arc<Notify> {
        Arc::clone(&self.asked)
    }

    /// Waits until the files may have changed, or it is asked for, and has the host take them. Cancel safe.
    ///
    /// A change that changes nothing is not returned, unless it was asked for.
    pub async fn next(&mut self) -> Reload {
        loop {
            let watch = &mut self.watch;
            let changed = async {
                match watch {
                    // What can no longer be watched is read as well: it has changed.
                    Some(watch) => drop(watch.next_change().await),
                    None => pending().await,
                }
            };
            let is_asked = tokio::select! {
                () = self.asked.notified() => true,
                () = changed => false,
            };
            // Should this future be dropped meanwhile, the files are read by the next.
            let again = Again(Some(Arc::clone(&self.asked)));
            let reload = self.read().await;
            again.done();
            match reload {
                // Files that were touched, or say the same in other words, are no news.
                Reload::Taken {
                    done, is_edited, ..
                } if !is_asked && !is_edited && done.is_unchanged() => {}
                // The same problems as before are told once.
                Reload::Refused { problems, done }
                    if !is_asked && done.is_unchanged() && problems == self.refused => {}
                Reload::Refused { problems, done } => {
                    self.refused.clone_from(&problems);
                    return Reload::Refused { problems, done };
                }
                taken => {
                    self.refused.clear();
                    return taken;
                }
            }
        }
    }

    async fn read(&mut self) -> Reload {
        let places = self.places.clone();
        // Off the runtime: files may be slow.
        let read = tokio::task::spawn_blocking(move || Config::load(&places));
        let read = read.await.map(|config| {
            let errors = config.file_errors().into_iter().cloned();
            let errors: Vec<Problem> = errors.collect();
            (config, errors)
        });
        let mut config = match read {
            Ok((config, errors)) if errors.is_empty() => config,
            refused => {
                let problems = refused.map(|(_, errors)| errors).unwrap_or_default();
                // A file that is broken, by whomever, must not keep a server running that was revoked.
                let done = self.host.reconcile_decisions().await;
                return Reload::Refused { problems, done };
            }
        };
        let names = (self.prepare)(&config);
        config.retain(|entry| !names.contains(entry.name()));
        let done = self.host.reconcile(&config).await;
        let texts = config.digest();
        let is_edited = std::mem::replace(&mut self.texts, texts) != texts;
        Reload::Taken {
            config: Arc::new(config),
            done,
            is_edited,
        }
    }
}

/// Asks again if it is dropped.
struct Again(Option<Arc<Notify>>);

impl Again {
    fn done(mut self) {
        self.0 = None;
    }
}

impl Drop for Again {
    fn drop(&mut self) {
        if let Some(asked) = &self.0 {
            asked.notify_one();
        }
    }
}

impl fmt::Debug for Reloader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reloader")
            .field("places", &self.places)
            .field("watch", &self.watch)
            .finish_non_exhaustive()
    }
}
