//! Notifications of either side: cancellation, progress, and changed lists.
//!
//! Log messages are in `logging`, subscriptions in `subscriptions`, tasks in `tasks`.

use serde::Serialize;

use crate::{Empty, NoParams, Raw, RequestId};

wire_object! {
    /// Parameters of `notifications/cancelled`. Sent and received.
    pub struct CancelledParams {
        /// The request. 2025-11-25 lets it be left out, for tasks.
        request_id: [opt of RequestId] = "requestId",
        /// The reason, for logs and people.
        reason: [opt str] = "reason",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

impl CancelledParams {
    /// Creates the parameters that cancel `request_id`.
    pub fn new(request_id: RequestId, reason: Option<&str>) -> Self {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct CancelledMembers<'a> {
            request_id: &'a RequestId,
            #[serde(skip_serializing_if = "Option::is_none")]
            reason: Option<&'a str>,
        }
        let members = CancelledMembers {
            request_id: &request_id,
            reason,
        };
        Self {
            // An id and a string always have a JSON form.
            raw: Raw::of(&members).unwrap_or_else(|_| Raw::empty_object()),
            reason: reason.map(|words| words.to_owned().into()),
            request_id: Some(request_id),
            meta: None,
        }
    }
}

notice! {
    /// Cancels a request whose answer is not needed any more.
    Cancelled = "notifications/cancelled", CancelledParams
}

wire_object! {
    /// Parameters of `notifications/progress`.
    pub struct ProgressParams {
        /// The token that the request carried.
        progress_token: [of RequestId] = "progressToken",
        /// The progress so far; it should only grow.
        progress: [copy f64] = "progress",
        /// The value that means completion, if known.
        total: [opt copy f64] = "total",
        /// A description of the current step.
        message: [opt str] = "message",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

notice! {
    /// Reports the progress of a request.
    Progress = "notifications/progress", ProgressParams
}

notice! {
    /// A server's list of tools changed.
    ToolsListChanged = "notifications/tools/list_changed", Empty
}

notice! {
    /// A server's list of prompts changed.
    PromptsListChanged = "notifications/prompts/list_changed", Empty
}

notice! {
    /// A server's list of resources changed.
    ResourcesListChanged = "notifications/resources/list_changed", Empty
}

wire_object! {
    /// Parameters of `notifications/resources/updated`.
    pub struct ResourceUpdatedParams {
        /// The URI of the resource, which may lie below the one subscribed to.
        uri: [str] = "uri",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

notice! {
    /// The contents of a resource changed.
    ResourceUpdated = "notifications/resources/updated", ResourceUpdatedParams
}

notice! {
    /// Legacy: our list of roots changed.
    RootsListChanged = "notifications/roots/list_changed", NoParams
}

wire_object! {
    /// Parameters of `notifications/elicitation/complete`.
    pub struct ElicitationCompleteParams {
        /// The id that the elicitation request carried.
        elicitation_id: [str] = "elicitationId",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

notice! {
    /// 2025-11-25: the person has finished at the URL that a server sent them to.
    ElicitationComplete = "notifications/elicitation/complete", ElicitationCompleteParams
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FromRaw;

    #[test]
    fn a_cancellation_that_we_make_is_one_that_we_read() {
        let ours = CancelledParams::new(RequestId::from("7"), Some("a \"person\" said so"));
        assert_eq!(
            ours.raw().as_str(),
            r#"{"requestId":"7","reason":"a \"person\" said so"}"#
        );
        assert_eq!(CancelledParams::from_raw(ours.raw()), Ok(ours));
        let bare = CancelledParams::new(RequestId::Number(7), None);
        assert_eq!(bare.raw().as_str(), r#"{"requestId":7}"#);
    }

    #[test]
    fn progress_without_a_total_is_progress() {
        let text = r#"{"progressToken":3,"progress":0.5,"total":null}"#;
        let progress = ProgressParams::from_raw(&Raw::parse(text).unwrap()).unwrap();
        assert_eq!(progress.progress_token(), &RequestId::Number(3));
        assert_eq!((progress.progress(), progress.total()), (0.5, None));
    }
}
