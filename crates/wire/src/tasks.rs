//! Tasks: work that continues after its request has been answered.
//!
//! 2025-11-25 defines them in its core, where the client asks for them; since 2026-07-28 they are an
//! extension, where the server decides. The two share names but not messages; [`Task`] reads both.

use serde::{Deserialize, Serialize};

use crate::{Empty, FromRaw, Misfit, PageParams, Pairs, Raw, RpcError};

/// The state of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskState {
    /// In progress.
    Working,
    /// Waiting for input from us.
    InputRequired,
    /// Completed; the result may still report that the tool failed.
    Completed,
    /// Cancelled.
    Cancelled,
    /// Failed.
    Failed,
    /// An unknown state.
    Other(String),
}

impl TaskState {
    /// Returns true if the state cannot change any more.
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
        /// The id to request it by.
        task_id: [str] = "taskId",
        /// Its state.
        state: [of TaskState] = "status",
        /// A description of its progress, for people.
        status_message: [opt str] = "statusMessage",
        /// The time of its creation, in ISO 8601.
        created_at: [opt str] = "createdAt",
        /// The time of its last change, in ISO 8601.
        last_updated_at: [opt str] = "lastUpdatedAt",
        /// 2025-11-25: its lifetime in milliseconds.
        core_ttl: [opt copy f64] = "ttl",
        /// Extension: its lifetime in milliseconds.
        extension_ttl: [opt copy f64] = "ttlMs",
        /// 2025-11-25: the polling interval in milliseconds.
        core_poll_interval: [opt copy f64] = "pollInterval",
        /// Extension: the polling interval in milliseconds.
        extension_poll_interval: [opt copy f64] = "pollIntervalMs",
        /// Extension: the input it waits for; see [`read_input_requests`](crate::read_input_requests).
        input_requests: [opt of Raw] = "inputRequests",
        /// Extension: the result of the request that became this task, once completed.
        result: [opt of Raw] = "result",
        /// Extension: the error, if it failed.
        error: [opt of RpcError] = "error",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

impl Task {
    /// The time that it is kept, in milliseconds; `None` means unlimited or unspecified.
    pub fn ttl_ms(&self) -> Option<f64> {
        self.extension_ttl.or(self.core_ttl)
    }

    /// The polling interval, in milliseconds.
    pub fn poll_interval_ms(&self) -> Option<f64> {
        self.extension_poll_interval.or(self.core_poll_interval)
    }
}

/// Parameters that name one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskParams {
    /// The task's id.
    pub task_id: String,
}

method! {
    /// Requests the state of a task; both eras.
    GetTask = "tasks/get", TaskParams => Task
}

method! {
    /// 2025-11-25: waits for a task and returns its result.
    ///
    /// The answer is the result of the request that became the task, and is read as such.
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
    /// Cancels a task; both eras.
    ///
    /// 2025-11-25 answers with the task, which [`Task`] reads from the raw answer; the extension only
    /// acknowledges.
    CancelTask = "tasks/cancel", TaskParams => Empty
}

/// Parameters of `tasks/update`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateTaskParams {
    /// The task's id.
    pub task_id: String,
    /// Our answers by the key of their request.
    pub input_responses: Pairs<Raw>,
}

method! {
    /// Extension: sends a task the input it waits for.
    UpdateTask = "tasks/update", UpdateTaskParams => Empty
}

/// 2025-11-25: the member `task` that turns a request into a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskWish {
    /// The time to keep the task, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ttl: Option<u64>,
}

/// 2025-11-25: parameters of a tool call that runs as a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallToolAsTaskParams {
    /// The tool's name, as its server lists it.
    pub name: String,
    /// The arguments, sent verbatim: an object.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub arguments: Option<Raw>,
    /// The options of the task.
    pub task: TaskWish,
}

wire_object! {
    /// 2025-11-25: the task that a request became.
    pub struct CreateTaskResult {
        /// The task.
        task: [of Task] = "task",
        /// The `_meta` object, as sent.
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
