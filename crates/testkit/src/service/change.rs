//! Changes while the server runs, and their announcement.

use std::sync::Arc;
use std::sync::PoisonError;

use serde_json::{Map, Value, json};

use super::Service;
use crate::catalog::Catalog;
use crate::tools::{Outcome, Step};

/// A change that clients may subscribe to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// The list has changed.
    List(&'static str),
    /// The resource has new contents.
    Resource(String),
    /// All subscriptions end.
    End(Goodbye),
}

/// The way in which the server ends a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goodbye {
    Result,
    Error,
    /// With a `notifications/cancelled` instead of a response.
    Cancelled,
    /// Silently: the stream ends, or the connection if there is only one.
    Cut,
}

/// A change, and the connection that has already informed its own client.
#[derive(Debug, Clone)]
#[cfg_attr(
    not(feature = "http"),
    expect(dead_code, reason = "only connections over HTTP share a service")
)]
pub(crate) struct Announcement {
    pub(crate) from: u64,
    pub(crate) change: Change,
}

impl Service {
    /// The current catalog.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        let catalog = self.catalog.read();
        // A change replaces the catalog in one go, so a poisoned lock is fine.
        Arc::clone(&catalog.unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the catalog. An error is a message for the client.
    pub(super) fn grow(
        &self,
        step: Step,
        arguments: &Map<String, Value>,
    ) -> Result<(Option<Change>, Outcome), String> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let change = match step {
            Step::Add(kind) => self.alter(|catalog| {
                catalog.add(kind, arguments)?;
                Ok(Change::List(kind.list()))
            })?,
            Step::Remove(kind) => self.alter(|catalog| {
                catalog.remove(kind, arguments)?;
                Ok(Change::List(kind.list()))
            })?,
            Step::Change(kind) => self.alter(|catalog| {
                catalog.change(kind, arguments)?;
                Ok(Change::List(kind.list()))
            })?,
            Step::Touch => self.alter(|catalog| {
                catalog.touch(arguments);
                Ok(Change::Resource(text("uri").unwrap_or_default().to_owned()))
            })?,
            Step::EndListening => Change::End(match text("how") {
                Some("error") => Goodbye::Error,
                Some("cancelled") => Goodbye::Cancelled,
                Some("cut") => Goodbye::Cut,
                _ => Goodbye::Result,
            }),
            Step::Listening => {
                // All references but our own are held by subscriptions.
                let open = Arc::strong_count(&self.listening) - 1;
                let outcome = Outcome::structured(open.to_string(), json!({"open": open}));
                return Ok((None, outcome));
            }
        };
        Ok((Some(change), Outcome::text("done")))
    }

    pub(super) fn alter<T>(
        &self,
        act: impl FnOnce(&mut Catalog) -> Result<T, String>,
    ) -> Result<T, String> {
        let mut catalog = self.catalog.write().unwrap_or_else(PoisonError::into_inner);
        // Concurrent readers continue with the previous catalog.
        act(Arc::make_mut(&mut catalog))
    }
}
