//! The tools: how they are listed, and what the simple ones answer.
//!
//! The four that every client's documentation can rely on come first; those that exist to try a
//! client's less common paths come after them; generated ones fill up a catalog to any size. What
//! needs the connection (progress, questions, announcements) is left to `service`.

mod arguments;
mod definitions;
mod mirrored;

use serde_json::{Map, Value, json};

pub(crate) use arguments::{check, number, whole_number};

use crate::catalog::Features;
use crate::{HeaderTools, clock};

/// A tool as it is listed, and what calling it does.
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) definition: Value,
    pub(crate) action: Action,
}

/// What calling a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Echo,
    GetTime,
    Add,
    SlowOperation,
    AskName,
    Fail,
    AnnounceChange,
    /// A tool whose arguments are also in headers.
    Mirrored,
    /// A tool that only fills up the list.
    Generated,
}

/// All tools: exactly `count` of them, or the well-known ones and those for testing clients; and
/// those with headers on top.
pub(crate) fn all(count: Option<usize>, headers: HeaderTools) -> Vec<Tool> {
    let mut tools = definitions::well_known();
    match count {
        None => tools.extend(definitions::for_testing()),
        Some(count) => {
            tools.truncate(count);
            tools.extend((tools.len() + 1..=count).map(definitions::generated));
        }
    }
    if headers != HeaderTools::None {
        tools.push(mirrored::good());
    }
    if headers == HeaderTools::Bad {
        tools.extend(mirrored::bad());
    }
    tools
}

/// What a tool answers.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    text: String,
    structured: Option<Value>,
    is_error: bool,
}

impl Outcome {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            structured: None,
            is_error: false,
        }
    }

    pub(crate) fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(text)
        }
    }

    fn structured(text: impl Into<String>, structured: Value) -> Self {
        Self {
            structured: Some(structured),
            ..Self::text(text)
        }
    }

    /// The members of the result of `tools/call`.
    pub(crate) fn into_members(self, features: Features) -> Map<String, Value> {
        let mut members = Map::new();
        let block = json!({"type": "text", "text": self.text});
        members.insert("content".to_owned(), Value::Array(vec![block]));
        if let Some(structured) = self.structured.filter(|_| features.structure) {
            members.insert("structuredContent".to_owned(), structured);
        }
        if self.is_error {
            members.insert("isError".to_owned(), Value::Bool(true));
        }
        members
    }
}

impl Tool {
    /// What is wrong with arguments that do not fit the tool's schema.
    pub(crate) fn misfit(&self, arguments: &Map<String, Value>) -> Option<String> {
        check(self.definition.get("inputSchema")?, arguments).err()
    }

    /// The answer to arguments that fit, from a tool that needs nothing else to give it.
    pub(crate) fn run(&self, arguments: &Map<String, Value>) -> Outcome {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        match self.action {
            Action::Echo => Outcome::text(text("message").unwrap_or_default()),
            Action::GetTime => {
                let time = clock::now();
                Outcome::structured(time.clone(), json!({"time": time}))
            }
            Action::Add => add(arguments),
            Action::Fail => Outcome::error(text("message").unwrap_or("this tool always fails")),
            Action::Mirrored => Outcome::text(Value::Object(arguments.clone()).to_string()),
            Action::Generated => match text("value") {
                Some(value) => Outcome::text(format!("{}: {value}", self.name)),
                None => Outcome::text(self.name.clone()),
            },
            Action::SlowOperation | Action::AskName | Action::AnnounceChange => {
                Outcome::error(format!("{} needs a connection", self.name))
            }
        }
    }
}

fn add(arguments: &Map<String, Value>) -> Outcome {
    let integer = |name| arguments.get(name).and_then(Value::as_i64);
    let whole = integer("a")
        .zip(integer("b"))
        .and_then(|(a, b)| a.checked_add(b));
    if let Some(sum) = whole {
        return Outcome::structured(sum.to_string(), json!({"sum": sum}));
    }
    let sum =
        number(arguments, "a").unwrap_or_default() + number(arguments, "b").unwrap_or_default();
    if sum.is_finite() {
        Outcome::structured(sum.to_string(), json!({"sum": sum}))
    } else {
        // JSON has no name for it.
        Outcome::error("the sum is too large for a number")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: Option<usize>) -> Vec<String> {
        all(count, HeaderTools::None)
            .into_iter()
            .map(|tool| tool.name)
            .collect()
    }

    #[test]
    fn the_well_known_tools_come_first() {
        let first = ["echo", "get_time", "add", "slow_operation"];
        assert_eq!(names(None)[..4], first);
        assert_eq!(names(None)[4..], ["ask_name", "fail", "announce_change"]);
        assert_eq!(names(Some(6))[..4], first);
        assert_eq!(names(Some(6))[4..], ["tool_005", "tool_006"]);
        assert_eq!(names(Some(2)), ["echo", "get_time"]);
        assert_eq!(names(Some(0)), [""; 0]);
        assert_eq!(names(Some(1000)).last().unwrap(), "tool_1000");
    }

    #[test]
    fn sums_stay_whole_while_they_can() {
        let sum = |a: Value, b: Value| {
            let arguments = json!({"a": a, "b": b});
            let outcome = add(arguments.as_object().unwrap());
            (outcome.text, outcome.structured)
        };
        assert_eq!(
            sum(json!(2), json!(3)),
            ("5".to_owned(), Some(json!({"sum": 5})))
        );
        assert_eq!(sum(json!(0.5), json!(1)).0, "1.5");
        assert_eq!(sum(json!(2.5), json!(2.5)).0, "5");
        assert_eq!(sum(json!(i64::MAX), json!(1)).0, "9223372036854776000");
        assert_eq!(sum(json!(f64::MAX), json!(f64::MAX)).1, None);
    }
}
