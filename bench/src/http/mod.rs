//! The same work over HTTP: the server behind hyper, a bare hyper client as the limit, our session
//! and rmcp's. All speak 2026-07-28.

mod bare;
mod hosted;
#[cfg(feature = "ours")]
mod ours;
mod serve;
#[cfg(feature = "theirs")]
mod theirs;

pub use bare::run as bare;
pub use hosted::Hosted;
#[cfg(feature = "ours")]
pub use ours::Ours;
pub use serve::serve;
#[cfg(feature = "theirs")]
pub use theirs::Theirs;

/// The form of the server's answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answers {
    /// With one JSON body.
    Json,
    /// With a stream of one event.
    Sse,
}

impl Answers {
    /// The name on the server's command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Sse => "sse",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Json, Self::Sse]
            .into_iter()
            .find(|answers| answers.name() == name)
    }
}
