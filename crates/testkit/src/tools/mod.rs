//! The tools: their definitions, and the answers of the simple ones.
//!
//! The four well-known tools, which every client's documentation can rely on, come first; then
//! those for the less common paths of a client; then generated ones, up to any number. Everything
//! that needs the connection (progress, questions, announcements) is in `service`.

mod arguments;
mod definitions;
mod growing;
mod mirrored;
mod talking;

use serde_json::{Map, Value, json};

pub(crate) use arguments::{check, number, whole_number};
pub(crate) use growing::{Kind, Step, grown};
pub(crate) use talking::ADDRESS;

use crate::catalog::Features;
use crate::{HeaderTools, Options, clock};

/// A tool: its definition and its action.
#[derive(Clone)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) definition: Value,
    pub(crate) action: Action,
}

/// The action of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Echo,
    GetTime,
    Add,
    SlowOperation,
    AskName,
    AskModel,
    Visit,
    ListRoots,
    Log,
    Fail,
    AnnounceChange,
    /// Has arguments that are repeated in headers.
    Mirrored,
    /// Only fills up the list.
    Generated,
    /// Is part of the conformance fixture.
    Fixture,
    /// Answers with a raw result.
    Shape,
    /// Changes the catalog.
    Grow(Step),
    /// Was added while the server ran.
    Grown,
    WhoAmI,
}

/// All tools: exactly as many as the options say, or the well-known ones and those for testing
/// clients, plus those that other options add.
pub(crate) fn all(options: &Options) -> Vec<Tool> {
    // The well-known tools come first and keep their places, whatever else is listed.
    let mut tools = definitions::well_known();
    match options.tool_count {
        None => tools.extend(definitions::for_testing()),
        Some(count) => {
            tools.truncate(count);
            tools.extend((tools.len() + 1..=count).map(definitions::generated));
        }
    }
    if options.header_tools != HeaderTools::None {
        tools.push(mirrored::good());
    }
    if options.header_tools == HeaderTools::Bad {
        tools.extend(mirrored::bad());
    }
    if let Some(instance) = &options.instance {
        tools.push(definitions::who_am_i(instance));
    }
    if options.asking_models {
        tools.push(definitions::ask_model());
    }
    if options.talking {
        tools.extend(talking::all());
    }
    if options.shapes {
        tools.push(definitions::shape());
    }
    if options.growing {
        tools.extend(growing::all());
    }
    tools
}

/// The answer of a tool.
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

    pub(crate) fn structured(text: impl Into<String>, structured: Value) -> Self {
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
    /// The reason that arguments do not fit the tool's schema, if they do not.
    pub(crate) fn misfit(&self, arguments: &Map<String, Value>) -> Option<String> {
        if self.action == Action::Grown {
            // Its schema may use keywords that we do not support.
            return None;
        }
        check(self.definition.get("inputSchema")?, arguments).err()
    }

    /// Runs a tool that needs nothing but its arguments.
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
            Action::Grown => {
                let arguments = Value::Object(arguments.clone());
                Outcome::text(format!("{}: {arguments}", self.name))
            }
            Action::WhoAmI => self.who_am_i(),
            Action::SlowOperation
            | Action::AskName
            | Action::AskModel
            | Action::Visit
            | Action::ListRoots
            | Action::Log
            | Action::AnnounceChange
            | Action::Fixture
            | Action::Shape
            | Action::Grow(_) => Outcome::error(format!("{} needs a connection", self.name)),
        }
    }
}

impl Tool {
    /// Returns the name of this server, which is in the title, and the process id.
    fn who_am_i(&self) -> Outcome {
        let instance = self.definition.get("title").and_then(Value::as_str);
        let (instance, pid) = (instance.unwrap_or_default(), std::process::id());
        let structured = json!({"instance": instance, "pid": pid});
        Outcome::structured(format!("{instance} {pid}"), structured)
    }
}

fn add(arguments: &Map<String, Value>) -> Outcome {
    // Integers are added as such: through floats large ones would lose their last digits.
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
        // JSON cannot express infinity.
        Outcome::error("the sum is too large for a number")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: Option<usize>) -> Vec<String> {
        let options = Options {
            tool_count: count,
            ..Options::default()
        };
        all(&options).into_iter().map(|tool| tool.name).collect()
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
