//! stub
use std::sync::Arc;
use super::guard::{Forbidden, Reach};
#[derive(Debug, thiserror::Error)]
#[error("unresolved")]
pub(crate) struct Unresolved;
pub(crate) struct Guarded;
impl Guarded { pub(crate) fn of_process() -> Arc<Self> { Arc::new(Self) } }
impl reqwest::dns::Resolve for Guarded {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str().to_owned(), 0)).await?;
            Ok(Box::new(found.collect::<Vec<_>>().into_iter()) as reqwest::dns::Addrs)
        })
    }
}
pub(crate) fn check_url(_url: &url::Url, _reach: Reach) -> Result<(), Forbidden> { Ok(()) }
