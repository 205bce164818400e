//! A transport with steps that are applied to each link before it is used.

use std::sync::Arc;

use super::{Connect, Connecting, Link};

/// The steps applied to each link that a transport makes.
type OnLink = dyn Fn(Link) -> Link + Send + Sync;

/// A transport and the steps applied to each of its links.
///
/// The only decorator of transports: [`Connector::map_link`] appends a step to the existing ones
/// instead of wrapping the transport once more.
pub struct Connector {
    connect: Arc<dyn Connect>,
    on_link: Arc<OnLink>,
    /// The transport's fallback with the same steps, if it has one.
    fallback: Option<Box<Self>>,
    /// True if this is the fallback of `connect`.
    is_fallback: bool,
}

impl Connector {
    /// Creates a connector without steps.
    pub fn new(connect: Arc<dyn Connect>) -> Self {
        let on_link: Arc<OnLink> = Arc::new(|link| link);
        // The fallback gets the same steps, so that a tap sees the traffic of both.
        let fallback = connect.fallback().is_some().then(|| {
            Box::new(Self {
                connect: Arc::clone(&connect),
                on_link: Arc::clone(&on_link),
                fallback: None,
                is_fallback: true,
            })
        });
        Self {
            connect,
            on_link,
            fallback,
            is_fallback: false,
        }
    }

    /// Appends a step: passes each link, also those of the fallback, through `map` after the
    /// earlier steps.
    #[must_use]
    pub fn map_link(self, map: impl Fn(Link) -> Link + Send + Sync + 'static) -> Self {
        self.then(&Arc::new(map))
    }

    fn then<F>(mut self, map: &Arc<F>) -> Self
    where
        F: Fn(Link) -> Link + Send + Sync + 'static,
    {
        let (before, after) = (self.on_link, Arc::clone(map));
        self.on_link = Arc::new(move |link| after(before(link)));
        self.fallback = self.fallback.map(|fallback| Box::new(fallback.then(map)));
        self
    }

    /// The transport itself, or its fallback.
    fn inner(&self) -> &dyn Connect {
        if self.is_fallback {
            // The fallback was there when this was created.
            self.connect.fallback().unwrap_or(&*self.connect)
        } else {
            &*self.connect
        }
    }
}

impl Connect for Connector {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async {
            let link = self.inner().connect().await?;
            Ok((self.on_link)(link))
        })
    }

    fn identity(&self) -> String {
        self.inner().identity()
    }

    fn fallback(&self) -> Option<&dyn Connect> {
        let fallback = self.fallback.as_deref();
        fallback.map(|fallback| fallback as &dyn Connect)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::transport::Memory;

    struct TwoWays(Memory, Memory);

    impl Connect for TwoWays {
        fn connect(&self) -> Connecting<'_> {
            self.0.connect()
        }

        fn identity(&self) -> String {
            self.0.identity()
        }

        fn fallback(&self) -> Option<&dyn Connect> {
            Some(&self.1)
        }
    }

    #[tokio::test]
    async fn links_of_both_ways_pass_all_steps_in_their_order() {
        let way = |name: &str| Memory::new(name, |_, _| async {});
        let steps: Arc<Mutex<Vec<&str>>> = Arc::default();
        let step = |name: &'static str| {
            let steps = Arc::clone(&steps);
            move |link| {
                steps.lock().expect("no step fails").push(name);
                link
            }
        };
        let connector = Connector::new(Arc::new(TwoWays(way("a"), way("b"))))
            .map_link(step("first"))
            .map_link(step("second"));
        assert_eq!(connector.identity(), "memory:a");
        drop(connector.connect().await.expect("a link"));
        let other = connector.fallback().expect("another way");
        assert_eq!(other.identity(), "memory:b");
        assert!(other.fallback().is_none());
        drop(other.connect().await.expect("a link"));
        let steps = steps.lock().expect("no step fails");
        assert_eq!(*steps, ["first", "second", "first", "second"]);
    }
}
