//! The requests of one client that are in flight.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use switchboard::session::CancelReason;
use switchboard_wire::{Raw, RequestId, RpcError, code};
use tokio::sync::oneshot;

/// The requests of one client that are in flight.
///
/// A request that the client can name in `notifications/cancelled` is kept by its id. Modern requests
/// over HTTP are only counted: each belongs to its own POST, and two clients of one principal may use
/// the same id.
#[derive(Default)]
pub(super) struct InFlight(Mutex<InFlightState>);

#[derive(Default)]
struct InFlightState {
    by_id: FxHashMap<RequestId, Running>,
    count: usize,
    listens: usize,
    /// The client is gone: nothing begins any more.
    closed: bool,
}

struct Running {
    cancel: oneshot::Sender<()>,
    reason: CancelReason,
    is_listen: bool,
}

/// A request in flight. It is not in flight any more once this is dropped.
pub(super) struct Ticket<'a> {
    requests: &'a InFlight,
    id: Option<RequestId>,
    is_listen: bool,
    /// Completes when the client cancels the request.
    pub(super) cancelled: oneshot::Receiver<()>,
    pub(super) reason: CancelReason,
}

/// The way in which a request is counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Admission {
    /// The client may cancel it by its id, which must be its own.
    pub(super) by_id: bool,
    /// It is a `subscriptions/listen`, which has a limit of its own.
    pub(super) is_listen: bool,
    /// The limit.
    pub(super) most: usize,
}

impl InFlight {
    fn state(&self) -> MutexGuard<'_, InFlightState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a request.
    ///
    /// # Errors
    /// Fails if there are too many, or one with that id is in flight.
    pub(super) fn begin(
        &self,
        id: &RequestId,
        admission: Admission,
    ) -> Result<Ticket<'_>, RpcError> {
        let Admission {
            by_id,
            is_listen,
            most,
        } = admission;
        let mut state = self.state();
        // Checked under the lock of the insertion: `close` cannot miss a request that begins now.
        if state.closed {
            return Err(RpcError::new(
                code::INTERNAL_ERROR,
                "the connection is closed",
            ));
        }
        let now = if is_listen {
            state.listens
        } else {
            state.count
        };
        if now >= most {
            let what = if is_listen { "listens" } else { "requests" };
            return Err(too_many(what, most));
        }
        // 2025-11-25, overview: an id must not be reused; we know only those in flight.
        if by_id && state.by_id.contains_key(id) {
            let why = "a request with this id is in flight already";
            return Err(RpcError::new(code::INVALID_REQUEST, why));
        }
        let (cancel, cancelled) = oneshot::channel();
        let reason = if by_id {
            CancelReason::new("the client gave up")
        } else {
            CancelReason::default()
        };
        *state.counter(is_listen) += 1;
        if by_id {
            let running = Running {
                cancel,
                reason: reason.clone(),
                is_listen,
            };
            state.by_id.insert(id.clone(), running);
        }
        Ok(Ticket {
            requests: self,
            id: by_id.then(|| id.clone()),
            is_listen,
            cancelled,
            reason,
        })
    }

    /// Cancels a request, for the client's reason. One that is not in flight any more is no error: the
    /// two messages may have crossed.
    pub(super) fn cancel(&self, id: &RequestId, reason: Option<String>) {
        let running = {
            let mut state = self.state();
            let Some(running) = state.by_id.remove(id) else {
                return;
            };
            // Its place is free at once: the next message may be another request.
            *state.counter(running.is_listen) -= 1;
            running
        };
        // The reason before the signal: it is read when the call is dropped.
        if let Some(reason) = reason {
            running.reason.set(reason);
        }
        // Sending fails if the request has just ended.
        running.cancel.send(()).ok();
    }

    /// Cancels all requests, and lets none begin.
    pub(super) fn close(&self) {
        let running = {
            let mut state = self.state();
            // Closed before the requests are taken out, under one lock: none slips in between.
            state.closed = true;
            std::mem::take(&mut state.by_id)
        };
        for (_, Running { cancel, reason, .. }) in running {
            reason.set("the client has gone");
            cancel.send(()).ok();
        }
    }
}

impl InFlightState {
    fn counter(&mut self, is_listen: bool) -> &mut usize {
        if is_listen {
            &mut self.listens
        } else {
            &mut self.count
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        // Closed before the lookup: this is how the entry below is known to be ours.
        self.cancelled.close();
        let mut state = self.requests.state();
        let is_counted = match &self.id {
            // One that was cancelled is not counted any more, and its id may be in use again.
            Some(id) => {
                let is_ours = state.by_id.get(id).is_some_and(|it| it.cancel.is_closed());
                is_ours && state.by_id.remove(id).is_some()
            }
            None => true,
        };
        if is_counted {
            *state.counter(self.is_listen) -= 1;
        }
    }
}

/// The error for a request over a limit. The client can send it again once another one has ended.
pub(super) fn too_many(what: &str, most: usize) -> RpcError {
    let why = format!("too many {what}: at most {most} at a time");
    let data = format!(r#"{{"reason":"limit","limit":{most}}}"#);
    let data = Raw::parse(&data).unwrap_or_else(|_| Raw::null());
    RpcError::with_data(code::INTERNAL_ERROR, &why, data)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_id(most: usize) -> Admission {
        Admission {
            by_id: true,
            is_listen: false,
            most,
        }
    }

    #[test]
    fn requests_at_the_limit_begin_and_one_over_it_does_not() {
        let requests = InFlight::default();
        let begin = |id: i64| requests.begin(&id.into(), by_id(2));
        let (first, second) = (begin(1).unwrap(), begin(2).unwrap());
        let error = begin(3).map(drop).unwrap_err();
        assert_eq!(
            error.raw().as_str(),
            r#"{"code":-32603,"message":"too many requests: at most 2 at a time","data":{"reason":"limit","limit":2}}"#
        );
        drop(first);
        assert!(begin(3).is_ok());
        drop(second);
    }

    #[test]
    fn an_id_in_flight_is_refused_and_free_again_afterwards() {
        let requests = InFlight::default();
        let id = RequestId::from("a");
        let first = requests.begin(&id, by_id(9)).unwrap();
        let error = requests.begin(&id, by_id(9)).map(drop).unwrap_err();
        assert_eq!(error.code(), code::INVALID_REQUEST);
        drop(first);
        assert!(requests.begin(&id, by_id(9)).is_ok());
    }

    #[test]
    fn a_cancelled_request_does_not_take_a_later_one_with_it() {
        let requests = InFlight::default();
        let id = RequestId::from(1);
        let mut first = requests.begin(&id, by_id(9)).unwrap();
        requests.cancel(&id, Some("changed my mind".to_owned()));
        assert_eq!(first.cancelled.try_recv(), Ok(()));
        let mut second = requests.begin(&id, by_id(1)).unwrap();
        drop(first);
        assert!(requests.begin(&RequestId::from(2), by_id(1)).is_err());
        requests.cancel(&id, None);
        assert_eq!(second.cancelled.try_recv(), Ok(()));
    }

    #[test]
    fn nothing_begins_after_the_end() {
        let requests = InFlight::default();
        let mut running = requests.begin(&RequestId::from(1), by_id(9)).unwrap();
        requests.close();
        assert_eq!(running.cancelled.try_recv(), Ok(()));
        assert!(requests.begin(&RequestId::from(2), by_id(9)).is_err());
    }
}
