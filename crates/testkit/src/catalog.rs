//! The catalog of the server, and the part of it that each protocol version may see.

use serde_json::{Map, Value};
use switchboard_wire::Version;

use crate::Options;
use crate::completion;
use crate::conformance;
use crate::prompts::{self, Prompt};
use crate::resources::{self, Resource};
use crate::tools::{self, Tool};

/// Everything that can be listed; the same for every client.
#[derive(Clone)]
pub(crate) struct Catalog {
    pub(crate) tools: Vec<Tool>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) templates: Vec<Value>,
    pub(crate) prompts: Vec<Prompt>,
}

impl Catalog {
    pub(crate) fn new(options: &Options) -> Self {
        if options.conformance {
            return conformance::catalog();
        }
        let mut catalog = Self {
            tools: tools::all(options),
            resources: resources::all(),
            templates: resources::templates(),
            prompts: prompts::all(),
        };
        // At the end of their lists, so that the others keep their places.
        if options.talking {
            catalog.templates.push(completion::template());
            catalog.prompts.push(prompts::travel());
        }
        catalog
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    pub(crate) fn resource(&self, uri: &str) -> Option<&Resource> {
        self.resources.iter().find(|resource| resource.uri == uri)
    }

    pub(crate) fn prompt(&self, name: &str) -> Option<&Prompt> {
        self.prompts.iter().find(|prompt| prompt.name == name)
    }
}

/// The features that a version has and an older one lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Features {
    /// Tool annotations, messages in progress notifications, and the `completions` capability.
    pub(crate) annotations: bool,
    /// `title`, `outputSchema` and `structuredContent`.
    pub(crate) structure: bool,
    /// `$schema` in schemas, `mode` in elicitation, and invalid arguments as tool errors that a
    /// model sees.
    pub(crate) dialect: bool,
}

impl Features {
    pub(crate) fn of(version: Version) -> Self {
        let (annotations, structure, dialect) = match version {
            Version::V2024_11_05 => (false, false, false),
            Version::V2025_03_26 => (true, false, false),
            Version::V2025_06_18 => (true, true, false),
            Version::V2025_11_25 | Version::V2026_07_28 => (true, true, true),
        };
        Self {
            annotations,
            structure,
            dialect,
        }
    }

    /// Removes the members of a definition that the version does not know.
    pub(crate) fn fit(self, definition: &Value) -> Value {
        let mut fitted = definition.clone();
        if let Some(object) = fitted.as_object_mut() {
            self.strip(object);
        }
        fitted
    }

    fn strip(self, object: &mut Map<String, Value>) {
        if !self.annotations {
            object.shift_remove("annotations");
        }
        if !self.structure {
            object.shift_remove("title");
            object.shift_remove("outputSchema");
        }
        if !self.dialect {
            for key in ["inputSchema", "outputSchema"] {
                if let Some(schema) = object.get_mut(key).and_then(Value::as_object_mut) {
                    schema.shift_remove("$schema");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_version_sees_only_the_members_it_knows() {
        let full = json!({
            "name": "x", "title": "X", "annotations": {},
            "inputSchema": {"$schema": "s", "type": "object"},
            "outputSchema": {"$schema": "s"},
        });
        let fit = |version| Features::of(version).fit(&full);
        assert_eq!(
            fit(Version::V2024_11_05),
            json!({"name": "x", "inputSchema": {"type": "object"}})
        );
        assert_eq!(
            fit(Version::V2025_03_26),
            json!({"name": "x", "annotations": {}, "inputSchema": {"type": "object"}})
        );
        assert_eq!(
            fit(Version::V2025_06_18),
            json!({
                "name": "x", "title": "X", "annotations": {},
                "inputSchema": {"type": "object"}, "outputSchema": {},
            })
        );
        assert_eq!(fit(Version::V2025_11_25), full);
        assert_eq!(fit(Version::V2026_07_28), full);
    }
}
