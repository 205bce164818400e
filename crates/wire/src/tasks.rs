//! Tasks: work that outlives its request.
//!
//! 2025-11-25 has them in its core, where the client asks for them; since 2026-07-28 they are an
//! extension, where the server decides. The two share names but not messages; [`Task`] reads both.

use serde::{Deserialize, Serialize};

use crate::{Empty, FromRaw, Misfit, PageParams, Pairs, Raw, RpcError};

/// Where a task is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskState {
    /// It goes on.
    Working,
    /// It waits for us.
    InputRequired,
    /// It is done; the result may still say that the tool failed.
    Completed,
    /// It was called off.
    Cancelled,
    /// It failed.
    Failed,
    /// A state that nobody here knows.
    Other(String),
}

impl TaskState {
    /// Whether nothing more will happen.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled | Self::Failed)
    }
}

impl FromRaw for TaskState {
    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        let name = String::from_raw(raw)?;
        Ok(match name.as_str() {
            "working" => Self::Working,
            "input_required" => Self::InputRequired,
            "completed" => Self::Completed,
            "cancelled" => Self::Cancelled,
            "failed" => Self::Failed,
            _ => Self::Other(name),
        })
    }
}

wire_object! {
    /// A task, as either era writes it.
    pub struct Task {
        /// The name it is asked for by.
        task_id: [str] = "taskId",
        /// Where it is.
        state: [of TaskState] = "status",
        /// What it is doing, for people.
        status_message: [opt str] = "statusMessage",
        /// When it began, as an ISO 8601 time.
        created_at: [opt str] = "createdAt",
        /// When it last changed, as an ISO 8601 time.
        last_updated_at: [opt str] = "lastUpdatedAt",
        /// 2025-11-25: its life in milliseconds.
        core_ttl: [opt copy f64] = "ttl",
        /// Extension: its life in milliseconds.
        extension_ttl: [opt copy f64] = "ttlMs",
        /// 2025-11-25: how long to wait before the next question, in milliseconds.
        core_poll_interval: [opt copy f64] = "pollInterval",
        /// Extension: how long to wait before the next question, in milliseconds.
        extension_poll_interval: [opt copy f64] = "pollIntervalMs",
        /// Extension: what it waits for; see [`read_input_requests`](crate::read_input_requests).
        input_requests: [opt of Raw] = "inputRequests",
        /// Extension: the result of the request that became this task, when it is done.
        result: [opt of Raw] = "result",
        /// Extension: the error, when it failed.
        error: [opt of RpcError] = "error",
        /// Anything else, by agreement.
        meta: [opt of Raw] = "_meta",
    }
}

impl Task {
    /// For how long it is kept, in milliseconds; `None` is for ever, or not said.
    pub fn ttl_ms(&self) -> Option<f64> {
        self.extension_ttl.or(self.core_ttl)
    }

    /// How long to wait before the next question, in milliseconds.
    pub fn poll_interval_ms(&self) -> Option<f64> {
        self.extension_poll_interval.or(self.core_poll_interval)
    }
}

/// Which task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskParams {
    /// The task's id.
    pub task_id: String,
}

method! {
    /// Asks where a task is; both eras.
    GetTask = "tasks/get", TaskParams => Task
}

method! {
    /// 2025-11-25: waits for a task and asks for what it came to.
    ///
    /// The answer is the result of the request that became the task, and is read as that.
    GetTaskResult = "tasks/result", TaskParams => Raw
}

page! {
    /// One page of `tasks/list`.
    TaskPage, "tasks"
}

method! {
    /// 2025-11-25: lists a server's tasks.
    ListTasks = "tasks/list", PageParams => TaskPage
}

method! {
    /// Calls a task off; both eras.
    ///
    /// 2025-11-25 answers with the task, which [`Task`] reads off the raw answer; the extension
    /// only acknowledges.
    CancelTask = "tasks/cancel", TaskParams => Empty
}

/// What a task waited for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateTaskParams {
    /// The task's id.
    pub task_id: String,
    /// Our answers, under the keys of the questions.
    pub input_responses: Pairs<Raw>,
}

method! {
    /// Extension: gives a task what it waits for.
    UpdateTask = "tasks/update", UpdateTaskParams => Empty
}

/// 2025-11-25: how a request is made a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskWish {
    /// For how long to keep the task, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ttl: Option<u64>,
}

/// 2025-11-25: a tool call that is to be a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallToolAsTaskParams {
    /// The tool's name, as its server lists it.
    pub name: String,
    /// The arguments, sent verbatim: an object.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub arguments: Option<Raw>,
    /// What kind of task.
    pub task: TaskWish,
}

wire_object! {
    /// 2025-11-25: the task that a request became.
    pub struct CreateTaskResult {
        /// The task.
        task: [of Task] = "task",
        /// Anything else, by agreement.
        meta: [opt of Raw] = "_meta",
    }
}

method! {
    /// 2025-11-25: calls a tool as a task.
    CallToolAsTask = "tools/call", CallToolAsTaskParams => CreateTaskResult
}

notice! {
    /// 2025-11-25: a task changed.
    TaskStatus = "notifications/tasks/status", Task
}

notice! {
    /// Extension: a task changed.
    TasksChanged = "notifications/tasks", Task
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Task {
        Task::from_raw(&Raw::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn both_eras_read_into_one_task() {
        let core = read(
            r#"{"taskId":"a","status":"working","createdAt":"x","lastUpdatedAt":"y","ttl":null,"pollInterval":500}"#,
        );
        assert_eq!(core.state(), &TaskState::Working);
        assert_eq!(
            (core.ttl_ms(), core.poll_interval_ms()),
            (None, Some(500.0))
        );
        let extension = read(
            r#"{"resultType":"complete","taskId":"a","status":"failed","ttlMs":60000,"pollIntervalMs":5,"error":{"code":-32603,"message":"no"}}"#,
        );
        assert!(extension.state().is_final());
        assert_eq!(
            (extension.ttl_ms(), extension.poll_interval_ms()),
            (Some(60000.0), Some(5.0))
        );
        assert_eq!(extension.error().unwrap().message(), "no");
    }

    #[test]
    fn an_unknown_state_is_not_final() {
        let task = read(r#"{"taskId":"a","status":"paused"}"#);
        assert_eq!(task.state(), &TaskState::Other("paused".to_owned()));
        assert!(!task.state().is_final());
    }
}
