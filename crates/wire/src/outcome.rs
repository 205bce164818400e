//! The outcomes of a request: a result, a request for input, or a task.

use serde::{Deserialize, Serialize};

use crate::object::{each_member, mismatch};
use crate::{
    Ask as _, CreateMessage, CreateMessageParams, Elicit, ElicitParams, Era, FromRaw, GetTask,
    ListRoots, Method, Misfit, Pairs, Raw,
};

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome<T> {
    /// The result.
    Complete(T),
    /// Modern: the server needs input first; the request is repeated with the answers.
    InputRequired(InputRequired),
    /// Tasks extension: the request became a task, which [`Task`](crate::Task) reads.
    Task(Raw),
}

/// The input that a server needs before it can answer.
#[derive(Debug, Clone, PartialEq)]
pub struct InputRequired {
    /// The requests by key, in the order sent. If empty, repeat the original request as it is.
    pub requests: Vec<(String, InputRequest)>,
    /// Opaque state to send back unchanged.
    pub state: Option<Raw>,
    /// The `_meta` object, as sent.
    pub meta: Option<Raw>,
    /// The whole result as it was sent.
    pub raw: Raw,
}

/// One request for input.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputRequest {
    /// Asks a person.
    Elicit(ElicitParams),
    /// Asks our model.
    Sample(Box<CreateMessageParams>),
    /// Asks for our roots.
    Roots,
    /// An unknown method, or parameters that do not fit.
    Unknown {
        /// The method named; empty if it is missing.
        method: String,
        /// Its parameters.
        params: Option<Raw>,
        /// The reason, if the method is known but does not fit; `None` for an unknown method.
        misfit: Option<Misfit>,
    },
}

impl InputRequest {
    /// The method that the request names.
    pub fn method(&self) -> &str {
        match self {
            Self::Elicit(_) => Elicit::NAME,
            Self::Sample(_) => CreateMessage::NAME,
            Self::Roots => ListRoots::NAME,
            Self::Unknown { method, .. } => method,
        }
    }

    /// Creates a request from its method and parameters.
    pub fn new(method: &str, params: Option<Raw>) -> Self {
        Self::of(Some(method.to_owned()), params)
    }

    /// Reads one request. One that does not fit becomes `Unknown` and leaves the others readable.
    fn read(raw: &Raw) -> Self {
        let method = raw.member("method").and_then(|name| name.as_text());
        Self::of(method, raw.member("params"))
    }

    fn of(method: Option<String>, params: Option<Raw>) -> Self {
        // Missing parameters are read like empty ones: the misfit then names the missing member.
        let given = || params.clone().unwrap_or_else(Raw::empty_object);
        let read = match method.as_deref() {
            Some(Elicit::NAME) => FromRaw::from_raw(&given()).map(Self::Elicit).map_err(Some),
            Some(CreateMessage::NAME) => FromRaw::from_raw(&given())
                .map(|params| Self::Sample(Box::new(params)))
                .map_err(Some),
            Some(ListRoots::NAME) => Ok(Self::Roots),
            Some(_) => Err(None),
            None => Err(Some(Misfit::new("missing").under("method"))),
        };
        // Kept rather than refused: one request that we cannot read must not lose the others.
        read.unwrap_or_else(|misfit| Self::Unknown {
            method: method.unwrap_or_default(),
            params,
            misfit,
        })
    }
}

/// Reads a map of requests for input, in the order sent, from a result or a task.
///
/// # Errors
/// Fails if it is not an object.
pub fn read_input_requests(raw: &Raw) -> Result<Vec<(String, InputRequest)>, Misfit> {
    if !raw.is_object() {
        return Err(Misfit::new(mismatch("an object", raw.as_str())));
    }
    let members = raw.members().into_iter();
    Ok(members
        .map(|(key, request)| (key, InputRequest::read(&request)))
        .collect())
}

impl FromRaw for InputRequired {
    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        // A state of `null` is no state.
        let said = |key: &str| raw.member(key).filter(|value| !value.is_null());
        let (requests, state) = (said("inputRequests"), said("requestState"));
        if requests.is_none() && state.is_none() {
            // 2026-07-28, InputRequiredResult: at least one of the two.
            return Err(Misfit::new("neither inputRequests nor requestState"));
        }
        let requests = requests.as_ref().map(read_input_requests).transpose();
        Ok(Self {
            requests: requests
                .map_err(|misfit| misfit.under("inputRequests"))?
                .unwrap_or_default(),
            state,
            meta: raw.member("_meta"),
            raw: raw.clone(),
        })
    }
}

/// Reads a result. A modern result declares its own type in `resultType`.
///
/// # Errors
/// Fails if the result does not fit its declared type, or if the type is not allowed for this method.
pub fn read_outcome<M: Method>(era: Era, raw: &Raw) -> Result<Outcome<M::Result>, Misfit> {
    let complete = || M::Result::from_raw(raw).map(Outcome::Complete);
    // Legacy results have no type; a member of that name would be the server's own.
    if era == Era::Legacy {
        return complete();
    }
    // Only this member is read first; the method's own type reads the rest.
    let mut kind = None;
    each_member(raw.as_str(), |key, value| {
        if key == "resultType" {
            kind = Some(value);
        }
    })?;
    let Some(text) = kind.filter(|text| *text != "null") else {
        // Servers of earlier versions leave it out, which means complete.
        return complete();
    };
    // Nearly always, and nearly always written without escapes.
    if text == r#""complete""# {
        return complete();
    }
    match raw.part(text).as_text().as_deref() {
        Some("complete") => complete(),
        Some("input_required") if M::ROUNDS => {
            InputRequired::from_raw(raw).map(Outcome::InputRequired)
        }
        // The text of the extension and its examples disagree about the type of this result.
        Some("task") if M::NAME == GetTask::NAME => complete(),
        Some("task") => Ok(Outcome::Task(raw.clone())),
        _ => {
            let what = mismatch("a kind of result that the method may have", text);
            Err(Misfit::new(what).under("resultType"))
        }
    }
}

/// Members added to a repeated request: the answers of this round only.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InputRound {
    /// Our answers by the key of their request: bare results.
    #[serde(skip_serializing_if = "Pairs::is_empty", default)]
    pub input_responses: Pairs<Raw>,
    /// The server's opaque state, sent back byte for byte.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub request_state: Option<Raw>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CallTool, ListTools, ReadResource};

    fn read<M: Method>(era: Era, text: &str) -> Result<Outcome<M::Result>, Misfit> {
        read_outcome::<M>(era, &Raw::parse(text).unwrap())
    }

    const QUESTIONS: &str = r#"{"resultType":"input_required","inputRequests":{
        "z":{"method":"elicitation/create","params":{"message":"who?"}},
        "b":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}},
        "a":{"method":"roots/list"},
        "c":{"method":"x/y","params":[1]},
        "d":{"method":"elicitation/create"},
        "e":7},
        "requestState":"\u0041\/"}"#;

    #[test]
    fn questions_keep_their_order_and_one_bad_one_does_not_cost_the_rest() {
        let Ok(Outcome::InputRequired(needed)) = read::<CallTool>(Era::Modern, QUESTIONS) else {
            panic!("not a question")
        };
        let order: Vec<_> = needed
            .requests
            .iter()
            .map(|(key, request)| (key.as_str(), request.method()))
            .collect();
        assert_eq!(
            order,
            [
                ("z", "elicitation/create"),
                ("b", "sampling/createMessage"),
                ("a", "roots/list"),
                ("c", "x/y"),
                ("d", "elicitation/create"),
                ("e", ""),
            ]
        );
        let why: Vec<_> = needed
            .requests
            .iter()
            .filter_map(|(_, request)| match request {
                InputRequest::Unknown { misfit, .. } => {
                    Some(misfit.as_ref().map(ToString::to_string))
                }
                _ => None,
            })
            .collect();
        assert_eq!(
            why,
            [
                None,
                Some("message: missing".to_owned()),
                Some("method: missing".to_owned())
            ]
        );
    }

    #[test]
    fn the_state_goes_back_byte_for_byte() {
        let Ok(Outcome::InputRequired(needed)) = read::<ReadResource>(Era::Modern, QUESTIONS)
        else {
            panic!("not a question")
        };
        let round = InputRound {
            input_responses: [("a", Raw::parse(r#"{"roots":[]}"#).unwrap())]
                .into_iter()
                .collect(),
            request_state: needed.state,
        };
        assert_eq!(
            serde_json::to_string(&round).unwrap(),
            r#"{"inputResponses":{"a":{"roots":[]}},"requestState":"\u0041\/"}"#
        );
        assert_eq!(serde_json::to_string(&InputRound::default()).unwrap(), "{}");
    }

    #[test]
    fn a_legacy_result_is_always_the_answer() {
        let outcome = read::<CallTool>(Era::Legacy, r#"{"resultType":"input_required"}"#);
        assert!(matches!(outcome, Ok(Outcome::Complete(_))));
    }

    #[test]
    fn a_modern_result_is_what_it_says() {
        let complete = |text| {
            matches!(
                read::<CallTool>(Era::Modern, text),
                Ok(Outcome::Complete(_))
            )
        };
        assert!(complete(r#"{"content":[]}"#));
        assert!(complete(r#"{"content":[],"resultType":"complete"}"#));
        let task = r#"{"resultType":"task","taskId":"t","status":"working"}"#;
        assert_eq!(
            read::<CallTool>(Era::Modern, task),
            Ok(Outcome::Task(Raw::parse(task).unwrap()))
        );
        assert!(matches!(
            read::<GetTask>(Era::Modern, task),
            Ok(Outcome::Complete(_))
        ));
    }

    #[test]
    fn what_a_method_cannot_come_to_does_not_fit() {
        let why = |text| {
            read::<ListTools>(Era::Modern, text)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            why(QUESTIONS),
            r#"resultType: expected a kind of result that the method may have, found "input_required""#
        );
        assert!(why(r#"{"resultType":7}"#).starts_with("resultType: "));
        let empty = read::<CallTool>(Era::Modern, r#"{"resultType":"input_required"}"#);
        assert_eq!(
            empty.unwrap_err().to_string(),
            "neither inputRequests nor requestState"
        );
    }
}
