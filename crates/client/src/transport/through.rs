//! A transport whose links pass through somebody's hands before they are used.

use std::sync::Arc;

use super::{Connect, Connecting, Link};

/// What is done with each link.
pub type Hands = Arc<dyn Fn(Link) -> Link + Send + Sync>;

/// A transport whose links pass through somebody's hands before they are used.
pub struct Through {
    connect: Arc<dyn Connect>,
    hands: Hands,
    other: Option<Box<Self>>,
    /// Whether it is the other way of what it stands for.
    is_other: bool,
}

impl Through {
    /// Has the links of `connect`, and of its other way if it has one, pass through `hands`.
    pub fn new(connect: Arc<dyn Connect>, hands: Hands) -> Self {
        let other = connect.otherwise().is_some().then(|| {
            Box::new(Self {
                connect: Arc::clone(&connect),
                hands: Arc::clone(&hands),
                other: None,
                is_other: true,
            })
        });
        Self {
            connect,
            hands,
            other,
            is_other: false,
        }
    }

    /// What it stands for.
    fn inner(&self) -> &dyn Connect {
        match self.is_other {
            // It was there when this was made.
            true => self.connect.otherwise().unwrap_or(&*self.connect),
            false => &*self.connect,
        }
    }
}

impl Connect for Through {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async {
            let link = self.inner().connect().await?;
            Ok((self.hands)(link))
        })
    }

    fn identity(&self) -> String {
        self.inner().identity()
    }

    fn otherwise(&self) -> Option<&dyn Connect> {
        self.other.as_deref().map(|other| other as &dyn Connect)
    }
}
