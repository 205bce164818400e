//! Who is shown what has changed since it was approved.

use std::future::Future;
use std::pin::Pin;

use crate::pins::Drift;
use crate::spec::ServerName;

/// Looks at what a server offers otherwise than it was approved, and says whether it may be used so.
///
/// The future may take as long as the person does, and may be dropped at any time, which is a no.
pub trait Review: Send + Sync {
    /// Says whether what has changed may be used as it is now.
    fn review<'a>(
        &'a self,
        server: &'a ServerName,
        drifts: &'a [Drift],
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>>;
}

/// Says no to everything: the answer where there is nobody to ask.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Review for Nobody {
    fn review<'a>(
        &'a self,
        _server: &'a ServerName,
        _drifts: &'a [Drift],
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(std::future::ready(false))
    }
}
