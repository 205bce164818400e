//! A transport whose links are changed, or looked at, before they are used.

use std::sync::Arc;

use super::{Connect, Connecting, Link};

/// What is done with each link that a transport makes.
type OnLink = dyn Fn(Link) -> Link + Send + Sync;

/// A transport and what is done with each of its links.
///
/// The one decorator of transports: [`Connector::map_link`] adds a step to the steps that are there, rather than
/// wrapping the transport once more.
pub struct Connector {
    connect: Arc<dyn Connect>,
    on_link: Arc<OnLink>,
    /// The transport's other way with the same steps, if it has one.
    fallback: Option<Box<Self>>,
    /// Whether this is the other way of `connect`.
    is_fallback: bool,
}

impl Connector {
    /// A transport whose links are used as they are.
    pub fn new(connect: Arc<dyn Connect>) -> Self {
        let on_link: Arc<OnLink> = Arc::new(|link| link);
        let fallback = connect.otherwise().is_some().then(|| {
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

    /// Passes each link, also one made the other way, through `map` after the steps before it.
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

    /// The transport itself, or its other way.
    fn inner(&self) -> &dyn Connect {
        if self.is_fallback {
            // It was there when this was made.
            self.connect.otherwise().unwrap_or(&*self.connect)
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

    fn otherwise(&self) -> Option<&dyn Connect> {
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

        fn otherwise(&self) -> Option<&dyn Connect> {
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
        let other = connector.otherwise().expect("another way");
        assert_eq!(other.identity(), "memory:b");
        assert!(other.otherwise().is_none());
        drop(other.connect().await.expect("a link"));
        let steps = steps.lock().expect("no step fails");
        assert_eq!(*steps, ["first", "second", "first", "second"]);
    }
}
