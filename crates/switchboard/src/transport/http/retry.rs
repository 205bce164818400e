//! stub
use std::time::Duration;
use super::inner::Inner;
use crate::transport::Repeat;
#[derive(Default)]
pub(crate) struct Attempts;
impl Attempts { pub(crate) fn wait(&mut self, _now: tokio::time::Instant) -> Duration { Duration::ZERO } }
pub(crate) fn parse_retry_after(text: &str) -> Option<Duration> { text.parse().ok().map(Duration::from_secs) }
pub(crate) fn wait(_inner: &Inner, _repeat: &Repeat<'_>) -> Option<Duration> { None }
