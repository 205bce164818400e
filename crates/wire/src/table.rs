//! The table of all methods and the versions that they exist in.

use crate::Version::{self, V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

/// The direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The client, to the server.
    ToServer,
    /// The server, to the client.
    ToClient,
    /// Either.
    Both,
}

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// Expects an answer.
    Request,
    /// Expects no answer.
    Notification,
    /// A request of the server: sent as such in the legacy era, part of an `input_required` result in
    /// the modern one.
    Question,
}

/// The properties of one method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodInfo {
    /// The name on the wire.
    pub name: &'static str,
    /// Its sender.
    pub direction: Direction,
    /// Its kind.
    pub kind: MessageKind,
    /// The versions whose core defines it, oldest first.
    pub versions: &'static [Version],
    /// True if the tasks extension adds it to 2026-07-28.
    pub in_tasks_extension: bool,
}

impl MethodInfo {
    /// Looks a method up by its name on the wire.
    pub fn find(name: &str) -> Option<&'static MethodInfo> {
        METHODS.iter().find(|method| method.name == name)
    }

    /// Returns true if the core of `version` defines it.
    pub fn exists_in(&self, version: Version) -> bool {
        self.versions.contains(&version)
    }
}

const ALL: &[Version] = &Version::ALL;
const LEGACY: &[Version] = &[V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25];
const SINCE_2025_06: &[Version] = &[V2025_06_18, V2025_11_25, V2026_07_28];
const ONLY_2025_11: &[Version] = &[V2025_11_25];
const MODERN: &[Version] = &[V2026_07_28];
const NONE: &[Version] = &[];

macro_rules! table {
    ($( $kind:ident $direction:ident $name:literal $versions:ident $(+ $tasks:ident)? ; )*) => {
        &[$( MethodInfo {
            name: $name,
            direction: Direction::$direction,
            kind: MessageKind::$kind,
            versions: $versions,
            in_tasks_extension: table!(@tasks $($tasks)?),
        } ),*]
    };
    (@tasks) => { false };
    (@tasks tasks) => { true };
}

/// Every method of every version, and of the tasks extension.
pub const METHODS: &[MethodInfo] = table! {
    Request ToServer "initialize" LEGACY;
    Request Both "ping" LEGACY;
    Request ToServer "server/discover" MODERN;
    Request ToServer "tools/list" ALL;
    Request ToServer "tools/call" ALL;
    Request ToServer "prompts/list" ALL;
    Request ToServer "prompts/get" ALL;
    Request ToServer "resources/list" ALL;
    Request ToServer "resources/templates/list" ALL;
    Request ToServer "resources/read" ALL;
    Request ToServer "resources/subscribe" LEGACY;
    Request ToServer "resources/unsubscribe" LEGACY;
    Request ToServer "completion/complete" ALL;
    Request ToServer "logging/setLevel" LEGACY;
    Request ToServer "subscriptions/listen" MODERN;
    Request Both "tasks/get" ONLY_2025_11 + tasks;
    Request Both "tasks/result" ONLY_2025_11;
    Request Both "tasks/list" ONLY_2025_11;
    Request Both "tasks/cancel" ONLY_2025_11 + tasks;
    Request ToServer "tasks/update" NONE + tasks;
    Question ToClient "roots/list" ALL;
    Question ToClient "sampling/createMessage" ALL;
    Question ToClient "elicitation/create" SINCE_2025_06;
    Notification ToServer "notifications/initialized" LEGACY;
    Notification ToServer "notifications/roots/list_changed" LEGACY;
    Notification Both "notifications/cancelled" ALL;
    Notification Both "notifications/progress" ALL;
    Notification ToClient "notifications/message" ALL;
    Notification ToClient "notifications/tools/list_changed" ALL;
    Notification ToClient "notifications/prompts/list_changed" ALL;
    Notification ToClient "notifications/resources/list_changed" ALL;
    Notification ToClient "notifications/resources/updated" ALL;
    Notification ToClient "notifications/elicitation/complete" ONLY_2025_11;
    Notification ToClient "notifications/subscriptions/acknowledged" MODERN;
    Notification Both "notifications/tasks/status" ONLY_2025_11;
    Notification ToClient "notifications/tasks" NONE + tasks;
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::*;

    /// The names and kinds of all types that stand for a method.
    fn types() -> Vec<(&'static str, MessageKind)> {
        macro_rules! names {
            ($Trait:ident $kind:ident: $($Type:ident),*) => {
                [$( (<$Type as $Trait>::NAME, MessageKind::$kind) ),*]
            };
        }
        let requests = names!(Method Request: Initialize, Ping, Discover, ListTools, CallTool,
            ListPrompts, GetPrompt, ListResources, ListResourceTemplates, ReadResource, Subscribe,
            Unsubscribe, Complete, SetLevel, Listen, GetTask, GetTaskResult, ListTasks, CancelTask,
            UpdateTask);
        let questions = names!(Ask Question: ListRoots, CreateMessage, Elicit);
        let notices = names!(Notice Notification: Initialized, RootsListChanged, Cancelled,
            Progress, LoggingMessage, ToolsListChanged, PromptsListChanged, ResourcesListChanged,
            ResourceUpdated, ElicitationComplete, SubscriptionsAcknowledged, TaskStatus,
            TasksChanged);
        [&requests[..], &questions, &notices].concat()
    }

    #[test]
    fn every_type_is_in_the_table_and_every_line_of_it_has_a_type() {
        let table: Vec<_> = METHODS
            .iter()
            .map(|method| (method.name, method.kind))
            .collect();
        assert_eq!(types(), table);
    }

    #[test]
    fn a_tool_call_as_a_task_is_a_tool_call() {
        assert_eq!(CallToolAsTask::NAME, CallTool::NAME);
    }

    #[test]
    fn only_three_methods_may_ask_back() {
        let rounds = [CallTool::ROUNDS, GetPrompt::ROUNDS, ReadResource::ROUNDS];
        assert_eq!(rounds, [true; 3]);
        let not = [ListTools::ROUNDS, Discover::ROUNDS, Listen::ROUNDS];
        assert_eq!(not, [false; 3]);
    }

    #[test]
    fn a_method_is_found_by_its_name() {
        let ping = MethodInfo::find("ping").unwrap();
        assert!(ping.exists_in(Version::V2025_11_25));
        assert!(!ping.exists_in(Version::V2026_07_28));
        assert_eq!(MethodInfo::find("elicitation/request"), None);
    }
}
