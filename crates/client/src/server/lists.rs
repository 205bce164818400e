//! Lists of a server: read anew, or as they were last read.
//!
//! Every list that is read through a [`Server`] is kept, with the connection that it was read on, so that
//! each call can choose: ask the server, or take the last list. The last lists stay readable when the
//! connection is gone.

use std::fmt;
use std::pin::Pin;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use switchboard_wire::{Prompt, Resource, ResourceTemplate, Tool};
use tokio::sync::watch;
use tokio::time::Instant;

use super::Server;
use crate::error::ServerError;
use crate::session::{CallError, Changes, Listing, Session};

/// The lists that were last read.
#[derive(Default)]
pub(super) struct KnownLists {
    tools: Option<KnownList<Tool>>,
    prompts: Option<KnownList<Prompt>>,
    resources: Option<KnownList<Resource>>,
    templates: Option<KnownList<ResourceTemplate>>,
}

/// A list that was read, and when.
struct KnownList<T> {
    listing: Listing<T>,
    at: Instant,
    reading: Reading,
}

/// The connection that a list is read on, and the changes that were announced on it before.
struct Reading {
    changes: watch::Receiver<Changes>,
    seen: Changes,
}

impl Reading {
    fn on(session: &Session) -> Self {
        let mut changes = session.changes();
        let seen = *changes.borrow_and_update();
        Self { changes, seen }
    }

    /// Returns true if the server has announced since that the list changed.
    fn is_outdated(&self, count: fn(&Changes) -> u64) -> bool {
        count(&self.changes.borrow()) != count(&self.seen)
    }
}

/// A list of a server that is not read yet: await it.
///
/// It is read anew, unless [`ListRequest::cached`] or [`ListRequest::max_age`] allow the last one.
/// Connects first if the server is asked and there is no connection.
///
/// ```no_run
/// # async fn example(server: switchboard_client::Server) -> Result<(), switchboard_client::ServerError> {
/// let now = server.tools().await?;
/// let again = server.tools().cached().await?;
/// assert_eq!(now.items, again.items);
/// server.close().await;
/// assert!(server.known_tools().is_some());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Awaiting it fails when the server is asked and the list cannot be had.
#[must_use = "nothing is listed until the request is awaited"]
pub struct ListRequest<'s, T> {
    /// The last list and its age, unless the server has announced a change since.
    known: Option<(Listing<T>, Duration)>,
    max_age: Option<Duration>,
    read: ReadingList<'s, T>,
}

type ReadingList<'s, T> =
    Pin<Box<dyn Future<Output = Result<Listing<T>, ServerError>> + Send + 's>>;

impl<T> ListRequest<'_, T> {
    /// Asks the server. This is so unless another method says otherwise.
    pub fn fresh(mut self) -> Self {
        self.max_age = None;
        self
    }

    /// Takes the last list, however old, and asks the server only if none was read yet or the server
    /// has announced that it changed.
    pub fn cached(self) -> Self {
        self.max_age(Duration::MAX)
    }

    /// Takes the last list if it is at most this old and the server has announced no change of it.
    pub fn max_age(mut self, age: Duration) -> Self {
        self.max_age = Some(age);
        self
    }
}

impl<'s, T: Send + 's> IntoFuture for ListRequest<'s, T> {
    type Output = Result<Listing<T>, ServerError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 's>>;

    fn into_future(self) -> Self::IntoFuture {
        match (self.known, self.max_age) {
            (Some((known, age)), Some(max_age)) if age <= max_age => {
                Box::pin(std::future::ready(Ok(known)))
            }
            _ => self.read,
        }
    }
}

impl<T> fmt::Debug for ListRequest<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListRequest")
            .field("max_age", &self.max_age)
            .finish_non_exhaustive()
    }
}

/// Writes the methods of one kind of list.
macro_rules! list {
    ($kind:ident of $item:ident as $name:literal, by $list:ident, known $known:ident, changes $changes:ident) => {
        #[doc = concat!("The server's ", $name, ", read anew or as last read: see [`ListRequest`].")]
        pub fn $kind(&self) -> ListRequest<'_, $item> {
            let known = self.known_lists();
            let known = known.$kind.as_ref();
            let known = known.filter(|known| !known.reading.is_outdated(|it| it.$changes));
            ListRequest {
                known: known.map(|known| (known.listing.clone(), known.at.elapsed())),
                max_age: None,
                read: Box::pin(self.$list()),
            }
        }

        #[doc = concat!("Lists the server's ", $name, ", connecting first if need be.")]
        ///
        /// # Errors
        /// Fails when the list could not be had.
        pub async fn $list(&self) -> Result<Listing<$item>, ServerError> {
            let listed = self.listing(|session| async move {
                // Before it is read: a change that is announced meanwhile makes it outdated.
                let (reading, at) = (Reading::on(&session), Instant::now());
                let listing = session.$list().await?;
                Ok::<_, CallError>(KnownList { listing, at, reading })
            });
            let known = listed.await?;
            let listing = known.listing.clone();
            self.known_lists().$kind = Some(known);
            Ok(listing)
        }

        #[doc = concat!("The server's ", $name, " as they were last listed through this server, if they were.")]
        /// Never connects; the list stays when the connection is gone.
        pub fn $known(&self) -> Option<Listing<$item>> {
            let known = self.known_lists();
            known.$kind.as_ref().map(|known| known.listing.clone())
        }
    };
}

impl Server {
    list!(tools of Tool as "tools", by list_tools, known known_tools, changes tools);
    list!(prompts of Prompt as "prompts", by list_prompts, known known_prompts, changes prompts);
    list!(resources of Resource as "resources", by list_resources, known known_resources, changes resources);
    list!(templates of ResourceTemplate as "resource templates", by list_resource_templates, known known_templates, changes resources);

    fn known_lists(&self) -> MutexGuard<'_, KnownLists> {
        self.0.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
