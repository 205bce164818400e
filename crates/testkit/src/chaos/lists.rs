//! Faults of the list of tools.

use serde_json::{Map, Value, json};

use super::{Act, Chaos, ClientMessage, Fault, Flag, ServerMessage, notification};
use crate::Options;

/// A fault of the list of tools.
pub(super) struct Lists {
    chaos: Chaos,
    /// The subscription that a modern client holds.
    subscription: Option<Value>,
    stormed: bool,
}

/// Changes the options so that the tools can also be called.
pub(crate) fn adjust(options: &mut Options) {
    let mut faults = options.chaos.iter();
    if let Some(chaos) = faults.find(|chaos| chaos.flag() == Flag::ManyTools) {
        options.tool_count = usize::try_from(chaos.number()).ok();
    }
}

impl Lists {
    pub(super) fn new(chaos: &Chaos) -> Self {
        Self {
            chaos: chaos.clone(),
            subscription: None,
            stormed: false,
        }
    }

    /// The cursor of the page after the one at `cursor`.
    fn next(&self, cursor: Option<&str>) -> Option<String> {
        let number = |cursor: &str| cursor.strip_prefix("page-")?.parse::<u64>().ok();
        match (self.chaos.flag(), cursor) {
            (Flag::RepeatCursor, _) => Some("again".to_owned()),
            (Flag::CycleCursor, Some("one")) => Some("two".to_owned()),
            (Flag::CycleCursor, _) => Some("one".to_owned()),
            (Flag::EndlessCursor, cursor) => {
                let page = cursor.and_then(number).unwrap_or(1);
                Some(format!("page-{}", page.saturating_add(1)))
            }
            (Flag::EmptyCursor, None) => Some(String::new()),
            (Flag::HugeCursor, None) => {
                Some("x".repeat(usize::try_from(self.chaos.number()).unwrap_or(usize::MAX)))
            }
            _ => None,
        }
    }

    fn items(&self, cursor: Option<&str>, tools: &mut Vec<Value>) {
        match (self.chaos.flag(), cursor) {
            (Flag::EndlessCursor, cursor) => {
                *tools = vec![tool(cursor.unwrap_or("page-1"))];
            }
            // The second of two pages has the items that the first left out.
            (Flag::EmptyCursor | Flag::HugeCursor, None) => tools.truncate(2),
            (Flag::EmptyCursor | Flag::HugeCursor, Some(_)) => {
                drop(tools.drain(..2.min(tools.len())));
            }
            (Flag::BadItem, _) => tools.extend([
                json!(17),
                json!({"title": "A tool without a name"}),
                json!({"name": 7, "inputSchema": {"type": "object"}}),
                json!({"name": "no_schema", "inputSchema": "none"}),
            ]),
            (Flag::DupNames, _) => {
                let mut twin = tools.first().cloned().unwrap_or_default();
                if let Some(twin) = twin.as_object_mut() {
                    twin.insert(
                        "description".to_owned(),
                        "The same name, another tool.".into(),
                    );
                }
                tools.push(twin);
            }
            (Flag::LongNames, _) => {
                let length = usize::try_from(self.chaos.number()).unwrap_or(usize::MAX);
                tools.push(tool(&"n".repeat(length)));
            }
            (Flag::UnicodeNames, _) => tools.extend(UNICODE_NAMES.map(tool)),
            _ => {}
        }
    }
}

/// Another alphabet, an invisible character, a mark of its own, the other direction, no letter at
/// all, and nothing.
const UNICODE_NAMES: [&str; 6] = [
    "\u{435}cho",
    "echo\u{200b}",
    "e\u{301}cho",
    "\u{202e}ohce",
    "\u{1f9f0}",
    "",
];

fn tool(name: &str) -> Value {
    json!({
        "name": name,
        "description": "Only listed, to see what becomes of it.",
        "inputSchema": {"type": "object"},
    })
}

fn of_tools(method: &str) -> bool {
    method == "tools/list"
}

impl Fault for Lists {
    fn on_client_message(&mut self, heard: &mut ClientMessage) {
        let Some(request) = &heard.request else {
            return;
        };
        if request.method == "subscriptions/listen" {
            self.subscription = Some(request.id.clone());
        }
        if of_tools(&request.method)
            && matches!(
                self.chaos.flag(),
                Flag::RepeatCursor
                    | Flag::CycleCursor
                    | Flag::EndlessCursor
                    | Flag::EmptyCursor
                    | Flag::HugeCursor
            )
        {
            // The server would refuse a cursor that it did not give out.
            let params = heard
                .message
                .get_mut("params")
                .and_then(Value::as_object_mut);
            heard.changed |= params.is_some_and(|params| params.shift_remove("cursor").is_some());
        }
    }

    fn on_server_message(&mut self, saying: &mut ServerMessage) {
        let Some(request) = saying
            .answers
            .as_ref()
            .filter(|request| of_tools(&request.method))
        else {
            return;
        };
        if self.chaos.flag() == Flag::ListChangedStorm {
            if !std::mem::replace(&mut self.stormed, true) {
                let mut params = Map::new();
                if let Some(id) = &self.subscription {
                    let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
                    params.insert("_meta".to_owned(), meta);
                }
                let line = notification("notifications/tools/list_changed", &params.into());
                let line = move |_| line.clone();
                saying
                    .after
                    .push(Act::Repeat(self.chaos.number(), Box::new(line)));
            }
            return;
        }
        let cursor = request
            .params
            .get("cursor")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let next = self.next(cursor.as_deref());
        saying.edit_result(|result| {
            if let Some(tools) = result.get_mut("tools").and_then(Value::as_array_mut) {
                self.items(cursor.as_deref(), tools);
            }
            if let Some(next) = next {
                result.insert("nextCursor".to_owned(), next.into());
            }
        });
    }
}
