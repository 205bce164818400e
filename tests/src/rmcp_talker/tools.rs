//! The tools.

use std::collections::BTreeSet;
use std::time::Duration;

use rmcp3::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputResponses,
    LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, Tool,
};
use rmcp3::service::RequestContext;
use rmcp3::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};

use super::rounds::{Form, ask, roots, sampling, visit};
use super::{Change, Talker};
use crate::talk;

/// Each tool with its arguments, all of which are needed.
const TOOLS: [(&str, &[(&str, &str)]); 9] = [
    ("ask_form", &[]),
    ("ask_url", &[]),
    ("ask_model", &[("prompt", "string")]),
    ("ask_roots", &[]),
    ("interview", &[]),
    ("log", &[]),
    ("count", &[("steps", "integer"), ("pause", "integer")]),
    ("touch", &[]),
    ("grow", &[("name", "string")]),
];

/// All tools that there are by now.
pub(super) fn all(grown: &BTreeSet<String>) -> Vec<Tool> {
    let grown = grown.iter().map(|name| (name.clone(), schema(&[])));
    let tools = TOOLS.map(|(name, arguments)| (name.to_owned(), schema(arguments)));
    let tools = tools.into_iter().chain(grown);
    tools
        .map(|(name, schema)| Tool::new(name, "Talks back.", schema))
        .collect()
}

fn schema(arguments: &[(&str, &str)]) -> Map<String, Value> {
    let properties: Map<String, Value> = arguments
        .iter()
        .map(|(name, kind)| ((*name).to_owned(), json!({ "type": kind })))
        .collect();
    let required: Vec<&str> = arguments.iter().map(|(name, _)| *name).collect();
    let members = [
        ("type", json!("object")),
        ("properties", properties.into()),
        ("required", required.into()),
    ];
    members
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

/// Calls one.
pub(super) async fn call(
    talker: &Talker,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = request.arguments.unwrap_or_default();
    let answers = request.input_responses.unwrap_or_default();
    let text = match request.name.as_ref() {
        "ask_form" => match answers.get("form") {
            Some(answer) => {
                let content = answer.get("content").unwrap_or(&Value::Null);
                format!("{} {content}", action(answer))
            }
            None => return Ok(ask(&json!({"form": Form::Order.question()}), None)?.into()),
        },
        "ask_url" => match answers.get("visit") {
            Some(answer) => action(answer).to_owned(),
            None => return Ok(ask(&json!({"visit": visit()}), None)?.into()),
        },
        "ask_model" => match answers.get("model") {
            Some(answer) => said(answer),
            None => {
                let question = sampling(text(&arguments, "prompt")?);
                return Ok(ask(&json!({"model": question}), None)?.into());
            }
        },
        "ask_roots" => match answers.get("roots") {
            Some(answer) => addresses(answer).join("\n"),
            None => return Ok(ask(&json!({"roots": roots()}), None)?.into()),
        },
        "interview" => return interview(&answers, request.request_state.as_deref()),
        "log" => {
            log(&context, "debug", "quiet words").await;
            log(&context, "warning", "loud words").await;
            "logged".to_owned()
        }
        "count" => count(&arguments, &context).await?,
        "touch" => {
            talker.change(Change::Number, |state| state.number += 1);
            "touched".to_owned()
        }
        "grow" => {
            let name = text(&arguments, "name")?.to_owned();
            talker.change(Change::Tools, |state| {
                state.grown.insert(name);
            });
            "grown".to_owned()
        }
        other => return Err(invalid(format!("no tool is called {other}"))),
    };
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
}

/// Two questions in one round, and a third in the next, which knows of the first only by the state.
fn interview(answers: &InputResponses, state: Option<&str>) -> Result<CallToolResponse, ErrorData> {
    let Some(state) = state else {
        let questions = json!({"form": Form::Name.question(), "roots": roots()});
        return Ok(ask(&questions, Some(talk::STATE.to_owned()))?.into());
    };
    let Some(known) = state.strip_suffix(talk::STATE) else {
        return Err(invalid("the state is not what was given out".to_owned()));
    };
    if let (Some(form), Some(roots)) = (answers.get("form"), answers.get("roots")) {
        let name = form.pointer("/content/name").and_then(Value::as_str);
        let name = name.unwrap_or("nobody");
        let known = format!("{name} with {} folders", addresses(roots).len());
        let questions = json!({"model": sampling(&format!("Describe {name}."))});
        let state = format!("{known}{}", talk::STATE);
        return Ok(ask(&questions, Some(state))?.into());
    }
    let said = answers.get("model").map(said).unwrap_or_default();
    let text = format!("{known}: {said}");
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
}

async fn count(
    arguments: &Map<String, Value>,
    context: &RequestContext<RoleServer>,
) -> Result<String, ErrorData> {
    let number = |name| arguments.get(name).and_then(Value::as_u64);
    let wanted = number("steps").and_then(|steps| u32::try_from(steps).ok());
    let steps = wanted.ok_or_else(|| invalid("`steps` must be a number".to_owned()))?;
    let pause = Duration::from_millis(number("pause").unwrap_or_default());
    for step in 1..=steps {
        if let Some(token) = context.meta.get_progress_token() {
            let progress = ProgressNotificationParam::new(token, f64::from(step))
                .with_total(f64::from(steps))
                .with_message(format!("at {step}"));
            // Who no longer listens has cancelled, and gets no answer either.
            context.peer.notify_progress(progress).await.ok();
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = context.ct.cancelled() => return Ok("stopped".to_owned()),
        }
    }
    Ok(format!("counted to {steps}"))
}

/// Logs, if the request that is being answered wants it of that level.
pub(super) async fn log(context: &RequestContext<RoleServer>, level: &str, words: &str) {
    let read = |level: &str| serde_json::from_value::<LoggingLevel>(level.into()).ok();
    let order = ["debug", "info", "notice", "warning", "error"].map(read);
    let place = |level| order.iter().position(|one| *one == level);
    let level = read(level);
    if let (Some(wanted), Some(level)) = (context.meta.log_level(), level)
        && place(Some(level)) >= place(Some(wanted))
    {
        let message = LoggingMessageNotificationParam::new(level, words.into());
        let message = message.with_logger("partner");
        context.peer.notify_logging_message(message).await.ok();
    }
}

fn action(answer: &Value) -> &str {
    let action = answer.get("action").and_then(Value::as_str);
    action.unwrap_or("nothing")
}

/// What a model said, which is one block or several.
fn said(answer: &Value) -> String {
    let text = ["/content/text", "/content/0/text"];
    let text = text.iter().find_map(|path| answer.pointer(path));
    text.and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn addresses(answer: &Value) -> Vec<String> {
    let roots = answer.get("roots").and_then(Value::as_array);
    let uris = roots
        .into_iter()
        .flatten()
        .filter_map(|root| root.get("uri"));
    uris.filter_map(Value::as_str).map(str::to_owned).collect()
}

pub(super) fn text<'a>(
    arguments: &'a Map<String, Value>,
    name: &str,
) -> Result<&'a str, ErrorData> {
    let value = arguments.get(name).and_then(Value::as_str);
    value.ok_or_else(|| invalid(format!("`{name}` must be a string")))
}

fn invalid(message: String) -> ErrorData {
    ErrorData::invalid_params(message, None)
}
