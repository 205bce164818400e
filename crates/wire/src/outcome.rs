//! What a result turns out to be: the answer, a question back, or a task.

use serde::{Deserialize, Serialize};

use crate::object::{each_member, expected};
use crate::{
    Ask as _, CreateMessage, CreateMessageParams, Elicit, ElicitParams, Era, FromRaw, GetTask,
    ListRoots, Method, Misfit, Pairs, Raw,
};

/// What came back for a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome<T> {
    /// The answer.
    Complete(T),
    /// Modern: the server asks back; the request is repeated with the answers.
    InputRequired(InputRequired),
    /// Tasks extension: the request became a task, which [`Task`](crate::Task) reads.
    Task(Raw),
}

/// What a server needs before it answers.
#[derive(Debug, Clone, PartialEq)]
pub struct InputRequired {
    /// The questions under their keys, in the order sent. None: repeat the request as it is.
    pub requests: Vec<(String, InputRequest)>,
    /// What to send back as it is.
    pub state: Option<Raw>,
    /// Anything else, by agreement.
    pub meta: Option<Raw>,
    /// The whole result as it was sent.
    pub raw: Raw,
}

/// One question of a server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputRequest {
    /// For a person.
    Elicit(ElicitParams),
    /// For our model.
    Sample(Box<CreateMessageParams>),
    /// For our roots.
    Roots,
    /// One that nobody here knows, or that does not fit.
    Unknown {
        /// The method named; empty where none is.
        method: String,
        /// Its parameters.
        params: Option<Raw>,
        /// Why it does not fit; `None` where the method is not known.
        misfit: Option<Misfit>,
    },
}

impl InputRequest {
    /// The method that the question names.
    pub fn method(&self) -> &str {
        match self {
            Self::Elicit(_) => Elicit::NAME,
            Self::Sample(_) => CreateMessage::NAME,
            Self::Roots => ListRoots::NAME,
            Self::Unknown { method, .. } => method,
        }
    }

    /// Reads a question off its method and parameters.
    pub fn new(method: &str, params: Option<Raw>) -> Self {
        Self::of(Some(method.to_owned()), params)
    }

    /// Reads one question. One that does not fit never costs the others.
    fn read(raw: &Raw) -> Self {
        let method = raw.member("method").and_then(|name| name.as_text());
        Self::of(method, raw.member("params"))
    }

    fn of(method: Option<String>, params: Option<Raw>) -> Self {
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
        read.unwrap_or_else(|misfit| Self::Unknown {
            method: method.unwrap_or_default(),
            params,
            misfit,
        })
    }
}

/// Reads a map of questions, in the order sent, off a result or a task.
///
/// # Errors
/// When it is not an object.
pub fn read_input_requests(raw: &Raw) -> Result<Vec<(String, InputRequest)>, Misfit> {
    if !raw.is_object() {
        return Err(Misfit::new(expected("an object", raw.as_str())));
    }
    let members = raw.members().into_iter();
    Ok(members
        .map(|(key, request)| (key, InputRequest::read(&request)))
        .collect())
}

impl FromRaw for InputRequired {
    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
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

/// Reads a result: in the modern era it says itself what it is.
///
/// # Errors
/// When the result does not fit what it says it is, or says what this method cannot come to.
pub fn read_outcome<M: Method>(era: Era, raw: &Raw) -> Result<Outcome<M::Result>, Misfit> {
    let complete = || M::Result::from_raw(raw).map(Outcome::Complete);
    if era == Era::Legacy {
        return complete();
    }
    let mut kind = None;
    each_member(raw.as_str(), |key, value| {
        if key == "resultType" {
            kind = Some(value);
        }
    })?;
    let Some(text) = kind.filter(|text| *text != "null") else {
        // Absent is what servers of earlier versions write, and means complete.
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
        // The extension's text and its examples differ on what this question is answered with.
        Some("task") if M::NAME == GetTask::NAME => complete(),
        Some("task") => Ok(Outcome::Task(raw.clone())),
        _ => {
            let what = expected("a kind of result that the method may have", text);
            Err(Misfit::new(what).under("resultType"))
        }
    }
}

/// What is added to a request that is repeated: the answers of this round only.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InputRound {
    /// Our answers under the keys of the questions: bare results.
    #[serde(skip_serializing_if = "Pairs::is_empty", default)]
    pub input_responses: Pairs<Raw>,
    /// What the server told us to send back, byte for byte.
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
