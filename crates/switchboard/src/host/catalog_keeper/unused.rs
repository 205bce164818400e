//! Closes a connection that nothing uses.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::Member;
use crate::session::Session;

/// The time between two looks whether uses that began in the last moment have ended.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// A connection that is closed once nothing has used it for a while.
pub(super) struct Unused {
    pub(super) member: Arc<Member>,
    pub(super) session: Session,
    /// Cancelled when the host closes, which closes the connection itself.
    pub(super) stop: CancellationToken,
    /// The time without a use: it is closed after that, and at most after twice that.
    pub(super) after: Duration,
    /// Longest wait for uses that began in the last moment.
    pub(super) most: Duration,
}

impl Unused {
    /// Waits until nothing has used the connection for that time, and closes it. Returns at its end.
    pub(super) async fn close(self) {
        let member = &self.member;
        loop {
            let before = member.uses_unless_busy();
            tokio::select! {
                _ = self.session.closed() => return,
                () = self.stop.cancelled() => return,
                () = sleep(self.after) => {}
            }
            if before.is_some() && before == member.uses_unless_busy() {
                break;
            }
        }
        let Some(ready) = member.ready() else {
            return;
        };
        // A use that found the connection before it is taken away finishes on it.
        let unused = async {
            while member.uses_unless_busy().is_none() {
                sleep(LOOK_AGAIN).await;
            }
        };
        let unused = async { drop(timeout(self.most, unused).await) };
        ready.server.close_after(unused).await;
    }
}
