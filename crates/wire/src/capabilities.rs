//! Capabilities that client and server declare to each other when a connection begins.

use serde::{Deserialize, Serialize};

use crate::{Pairs, Raw, Version};

/// The identifier of the tasks extension, which exists in the modern era only.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The capabilities of this client. A field that is not set is not declared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientCapabilities {
    /// Capabilities outside the specification, agreed on by both sides.
    #[serde(skip_serializing_if = "Pairs::is_empty", default)]
    pub experimental: Pairs<Raw>,
    /// We list the folders that the server may work in.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub roots: Option<RootsCapability>,
    /// We forward sampling requests to a model.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sampling: Option<SamplingCapability>,
    /// We forward elicitation requests to a person.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub elicitation: Option<ElicitationCapability>,
    /// Extensions and their settings, which are objects.
    #[serde(skip_serializing_if = "Pairs::is_empty", default)]
    pub extensions: Pairs<Raw>,
    /// 2025-11-25: the requests that we run as tasks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tasks: Option<Raw>,
}

/// Details of the roots capability.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RootsCapability {
    /// Legacy: we send a notification when the roots change.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub list_changed: bool,
}

/// Optional parts of sampling requests that we support.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamplingCapability {
    /// `includeContext` other than `none`.
    #[serde(with = "presence", skip_serializing_if = "std::ops::Not::not", default)]
    pub context: bool,
    /// `tools` and `toolChoice`.
    #[serde(with = "presence", skip_serializing_if = "std::ops::Not::not", default)]
    pub tools: bool,
}

/// Supported elicitation modes. Neither of the two means forms only, as in 2025-06-18.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElicitationCapability {
    /// With a form.
    #[serde(with = "presence", skip_serializing_if = "std::ops::Not::not", default)]
    pub form: bool,
    /// By sending the person to a URL.
    #[serde(with = "presence", skip_serializing_if = "std::ops::Not::not", default)]
    pub url: bool,
}

impl ElicitationCapability {
    /// Returns true if forms are supported: declared, or implied by declaring no mode at all.
    pub fn takes_form(self) -> bool {
        self.form || !self.url
    }
}

impl ClientCapabilities {
    /// The part of these capabilities that exists in `version`, in the form it has there.
    #[must_use]
    pub fn for_version(&self, version: Version) -> Self {
        use Version::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
        let mut due = self.clone();
        match version {
            V2024_11_05 | V2025_03_26 | V2025_06_18 => {
                due.sampling = due.sampling.map(|_| SamplingCapability::default());
                // 2025-06-18 has forms only and declares them with `{}`; elicitation did not exist before.
                due.elicitation = due
                    .elicitation
                    .filter(|elicitation| version == V2025_06_18 && elicitation.takes_form())
                    .map(|_| ElicitationCapability::default());
                due.extensions = Pairs::new();
                due.tasks = None;
            }
            // Extensions are not in this version's schema, but SDKs negotiate them here; tasks
            // are in its core and their extension would mean other messages.
            V2025_11_25 => due.extensions.retain(|name, _| name != TASKS_EXTENSION),
            V2026_07_28 => {
                due.roots = due.roots.map(|_| RootsCapability::default());
                due.tasks = None;
            }
        }
        due
    }
}

/// A flag that is written as an empty object, or not at all.
mod presence {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::{NoParams, Raw};

    #[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
    pub(super) fn serialize<S: Serializer>(_: &bool, serializer: S) -> Result<S::Ok, S::Error> {
        NoParams {}.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(source: D) -> Result<bool, D::Error> {
        Raw::deserialize(source).map(|raw| super::is_offered(Some(&raw)))
    }
}

wire_object! {
    /// The capabilities of a server. A capability that is missing is not offered.
    pub struct ServerCapabilities {
        /// It has tools.
        tools: [opt of Raw] = "tools",
        /// It has prompts.
        prompts: [opt of Raw] = "prompts",
        /// It has resources.
        resources: [opt of Raw] = "resources",
        /// It sends log messages.
        logging: [opt of Raw] = "logging",
        /// It completes arguments.
        completions: [opt of Raw] = "completions",
        /// 2025-11-25: the requests that it runs as tasks.
        tasks: [opt of Raw] = "tasks",
        /// Capabilities outside the specification, agreed on by both sides.
        experimental: [opt of Raw] = "experimental",
        /// Extensions and their settings.
        extensions: [opt of Raw] = "extensions",
    }
}

impl ServerCapabilities {
    /// Returns true if it has tools.
    pub fn has_tools(&self) -> bool {
        is_offered(self.tools())
    }

    /// Returns true if it announces changes of its tools.
    pub fn tools_list_changed(&self) -> bool {
        flag(self.tools(), "listChanged")
    }

    /// Returns true if it has prompts.
    pub fn has_prompts(&self) -> bool {
        is_offered(self.prompts())
    }

    /// Returns true if it announces changes of its prompts.
    pub fn prompts_list_changed(&self) -> bool {
        flag(self.prompts(), "listChanged")
    }

    /// Returns true if it has resources.
    pub fn has_resources(&self) -> bool {
        is_offered(self.resources())
    }

    /// Returns true if it announces changes of its list of resources.
    pub fn resources_list_changed(&self) -> bool {
        flag(self.resources(), "listChanged")
    }

    /// Returns true if it announces changes of single resources.
    pub fn resources_subscribe(&self) -> bool {
        flag(self.resources(), "subscribe")
    }

    /// Returns true if it sends log messages.
    pub fn has_logging(&self) -> bool {
        is_offered(self.logging())
    }

    /// Returns true if it completes arguments. In 2024-11-05 there was no way to say so.
    pub fn has_completions(&self) -> bool {
        is_offered(self.completions())
    }

    /// 2025-11-25: returns true if it runs tool calls as tasks.
    pub fn has_tool_tasks(&self) -> bool {
        let requests = self.tasks().and_then(|tasks| tasks.member("requests"));
        let tools = requests.and_then(|requests| requests.member("tools"));
        is_offered(tools.and_then(|tools| tools.member("call")).as_ref())
    }

    /// 2025-11-25: returns true if it lists its tasks.
    pub fn has_task_list(&self) -> bool {
        is_offered(self.tasks().and_then(|tasks| tasks.member("list")).as_ref())
    }

    /// 2025-11-25: returns true if its tasks can be cancelled.
    pub fn has_task_cancel(&self) -> bool {
        let cancel = self.tasks().and_then(|tasks| tasks.member("cancel"));
        is_offered(cancel.as_ref())
    }

    /// The settings of an extension that it offers.
    pub fn extension(&self, name: &str) -> Option<Raw> {
        self.extensions()?
            .member(name)
            .filter(|settings| is_offered(Some(settings)))
    }
}

/// Returns true if a capability is really offered. Servers that always write every field send `null`,
/// and a few send `false`, for a capability that they lack.
fn is_offered(capability: Option<&Raw>) -> bool {
    capability.is_some_and(|raw| !matches!(raw.as_str(), "null" | "false"))
}

fn flag(capability: Option<&Raw>, name: &str) -> bool {
    let value = capability.and_then(|raw| raw.member(name));
    value.is_some_and(|raw| raw.as_str() == "true")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FromRaw;

    fn everything() -> ClientCapabilities {
        ClientCapabilities {
            experimental: [("x/y", Raw::empty_object())].into_iter().collect(),
            roots: Some(RootsCapability { list_changed: true }),
            sampling: Some(SamplingCapability {
                context: true,
                tools: true,
            }),
            elicitation: Some(ElicitationCapability {
                form: true,
                url: true,
            }),
            extensions: [TASKS_EXTENSION, "a/b"]
                .into_iter()
                .map(|name| (name, Raw::empty_object()))
                .collect(),
            tasks: Some(Raw::empty_object()),
        }
    }

    fn written(capabilities: &ClientCapabilities, version: Version) -> String {
        serde_json::to_string(&capabilities.for_version(version)).unwrap()
    }

    #[test]
    fn each_version_gets_only_what_it_knows() {
        let all = everything();
        assert_eq!(
            written(&all, Version::V2025_03_26),
            r#"{"experimental":{"x/y":{}},"roots":{"listChanged":true},"sampling":{}}"#
        );
        assert_eq!(
            written(&all, Version::V2025_06_18),
            r#"{"experimental":{"x/y":{}},"roots":{"listChanged":true},"sampling":{},"elicitation":{}}"#
        );
        assert_eq!(
            written(&all, Version::V2025_11_25),
            r#"{"experimental":{"x/y":{}},"roots":{"listChanged":true},"sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}},"extensions":{"a/b":{}},"tasks":{}}"#
        );
        assert_eq!(
            written(&all, Version::V2026_07_28),
            r#"{"experimental":{"x/y":{}},"roots":{},"sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{},"a/b":{}}}"#
        );
        assert_eq!(
            written(&ClientCapabilities::default(), Version::V2026_07_28),
            "{}"
        );
    }

    #[test]
    fn url_alone_is_not_declared_where_only_forms_exist() {
        let capabilities = ClientCapabilities {
            elicitation: Some(ElicitationCapability {
                form: false,
                url: true,
            }),
            ..ClientCapabilities::default()
        };
        assert_eq!(written(&capabilities, Version::V2025_06_18), "{}");
    }

    #[test]
    fn what_is_written_reads_back() {
        let all = everything();
        let text = serde_json::to_string(&all).unwrap();
        assert_eq!(
            serde_json::from_str::<ClientCapabilities>(&text).unwrap(),
            all
        );
    }

    #[test]
    fn missing_null_and_false_capabilities_are_not_offered() {
        let text = r#"{"tools":{},"prompts":null,"logging":false,
            "resources":{"subscribe":true,"listChanged":null},
            "extensions":{"a/b":{"c":1},"d/e":null},
            "tasks":{"requests":{"tools":{"call":{}}},"list":{}}}"#;
        let server = ServerCapabilities::from_raw(&Raw::parse(text).unwrap()).unwrap();
        assert!(server.has_tools() && !server.tools_list_changed());
        assert!(!server.has_prompts() && !server.has_logging() && !server.has_completions());
        assert!(server.has_resources() && server.resources_subscribe());
        assert!(!server.resources_list_changed());
        assert_eq!(server.extension("a/b").unwrap().as_str(), r#"{"c":1}"#);
        assert_eq!(server.extension("d/e"), None);
        assert!(server.has_tool_tasks() && server.has_task_list() && !server.has_task_cancel());
    }
}
