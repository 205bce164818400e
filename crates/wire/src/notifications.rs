//! What either side says without waiting for an answer.
//!
//! Log messages are in `logging`, subscriptions in `subscriptions`, tasks in `tasks`.

use serde::Serialize;

use crate::{Empty, NoParams, Raw, RequestId};

wire_object! {
    /// Which request nobody waits for any more. Sent and received.
    pub struct CancelledParams {
        /// The request. 2025-11-25 lets it be left out, for tasks.
        request_id: [opt of RequestId] = "requestId",
        /// Why, for logs and people.
        reason: [opt str] = "reason",
        /// Anything else, by agreement.
        meta: [opt of Raw] = "_meta",
    }
}

impl CancelledParams {
    /// Cancels `request_id`.
    pub fn new(request_id: RequestId, reason: Option<&str>) -> Self {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Members<'a> {
            request_id: &'a RequestId,
            #[serde(skip_serializing_if = "Option::is_none")]
            reason: Option<&'a str>,
        }
        let members = Members {
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
    /// Somebody does not wait for an answer any more.
    Cancelled = "notifications/cancelled", CancelledParams
}

wire_object! {
    /// How far a request is.
    pub struct ProgressParams {
        /// The token that the request carried.
        progress_token: [of RequestId] = "progressToken",
        /// How far it is; it should only grow.
        progress: [copy f64] = "progress",
        /// How far it goes, where that is known.
        total: [opt copy f64] = "total",
        /// What it is doing.
        message: [opt str] = "message",
        /// Anything else, by agreement.
        meta: [opt of Raw] = "_meta",
    }
}

notice! {
    /// A request goes on.
    Progress = "notifications/progress", ProgressParams
}

notice! {
    /// A server's tools changed.
    ToolsListChanged = "notifications/tools/list_changed", Empty
}

notice! {
    /// A server's prompts changed.
    PromptsListChanged = "notifications/prompts/list_changed", Empty
}

notice! {
    /// A server's list of resources changed.
    ResourcesListChanged = "notifications/resources/list_changed", Empty
}

wire_object! {
    /// Which resource changed.
    pub struct ResourceUpdatedParams {
        /// Its address, which may lie below the one that was subscribed to.
        uri: [str] = "uri",
        /// Anything else, by agreement.
        meta: [opt of Raw] = "_meta",
    }
}

notice! {
    /// What a resource holds changed.
    ResourceUpdated = "notifications/resources/updated", ResourceUpdatedParams
}

notice! {
    /// Legacy: our roots changed.
    RootsListChanged = "notifications/roots/list_changed", NoParams
}

wire_object! {
    /// Which visit to a URL is over.
    pub struct ElicitationCompleteParams {
        /// The id that the request to visit it carried.
        elicitation_id: [str] = "elicitationId",
        /// Anything else, by agreement.
        meta: [opt of Raw] = "_meta",
    }
}

notice! {
    /// 2025-11-25: a person has done what a server sent them to a URL for.
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
