//! Tools: listing and calling them.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::{Content, FromRaw, Icon, Misfit, PageParams, Raw, RawError};

wire_object! {
    /// A server's claims about a tool's behaviour. Untrusted: never a reason to allow anything.
    pub struct ToolAnnotations {
        /// A name for people.
        title: [opt str] = "title",
        /// The tool changes nothing.
        read_only_hint: [opt copy bool] = "readOnlyHint",
        /// The tool may destroy something.
        destructive_hint: [opt copy bool] = "destructiveHint",
        /// Repeating a call has no further effect.
        idempotent_hint: [opt copy bool] = "idempotentHint",
        /// The tool interacts with systems outside the server.
        open_world_hint: [opt copy bool] = "openWorldHint",
    }
}

/// A JSON Schema, kept as sent; it is an object or it does not fit.
///
/// The specification demands one of every tool, and some servers leave it out. Such a tool is read as one whose
/// arguments are any object.
#[derive(Clone, PartialEq, Debug)]
pub struct Schema(Option<Raw>);

/// The schema of a tool that has none.
static ANY_OBJECT: LazyLock<Raw> = LazyLock::new(|| {
    let text = r#"{"type":"object"}"#;
    // A literal that is valid JSON always parses.
    Raw::parse(text).unwrap_or_else(|_| Raw::null())
});

impl Schema {
    /// Returns the schema as it was sent, unknown keywords included.
    pub fn raw(&self) -> &Raw {
        self.0.as_ref().unwrap_or(&ANY_OBJECT)
    }

    /// Returns true if the server sent no schema, and this one stands for it.
    pub fn is_missing(&self) -> bool {
        self.0.is_none()
    }
}

impl FromRaw for Schema {
    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        Self::read_at(raw, raw.start()).map(|(schema, _)| schema)
    }

    fn read_at(whole: &Raw, at: usize) -> Result<(Self, usize), Misfit> {
        if whole.text().as_bytes().get(at) != Some(&b'{') {
            return Err(whole.no_object_at(at));
        }
        let (raw, end) = Raw::read_at(whole, at)?;
        Ok((Self(Some(raw)), end))
    }

    fn when_absent() -> Result<Self, Misfit> {
        Ok(Self(None))
    }
}

wire_object! {
    /// A tool as its server lists it.
    pub struct Tool {
        /// The name to call it by.
        name: [str] = "name",
        /// A name for people.
        title: [opt str] = "title",
        /// Its purpose, in the server's words.
        description: [opt str] = "description",
        /// The schema of its arguments.
        input_schema: [of Schema] = "inputSchema",
        /// The schema of its structured content.
        output_schema: [opt of Schema] = "outputSchema",
        /// The server's claims about it. Untrusted.
        annotations: [opt box ToolAnnotations] = "annotations",
        /// Icons to show with it.
        icons: [list Icon] = "icons",
        /// 2025-11-25: the permission, or obligation, to run as a task.
        execution: [opt of Raw] = "execution",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

page! {
    /// One page of `tools/list`.
    ToolPage, "tools"
}

method! {
    /// Lists a server's tools.
    ListTools = "tools/list", PageParams => ToolPage
}

/// Parameters of `tools/call`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallToolParams {
    /// The tool's name, as its server lists it.
    pub name: String,
    /// The arguments, sent verbatim: an object.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub arguments: Option<Raw>,
}

wire_object! {
    /// The result of a tool call.
    pub struct CallToolResult {
        /// The content blocks, in order.
        content: [list Content] = "content",
        /// The result as structured data. `Some(null)` is a value; `None` is the absence of one.
        structured_content: [opt of Raw] = "structuredContent",
        /// The flag `isError`, as sent.
        is_error_flag: [opt copy bool] = "isError",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

impl CallToolResult {
    /// Returns true if the tool reports a failure.
    pub fn is_error(&self) -> bool {
        self.is_error_flag.unwrap_or(false)
    }
}

method! {
    /// Calls a tool.
    CallTool = "tools/call", CallToolParams => CallToolResult, rounds = true, write = write_call
}

fn write_call(params: &CallToolParams, out: &mut Vec<u8>) -> Result<(), RawError> {
    CallTool::write(&params.name, params.arguments.as_ref(), out)
}

impl CallTool {
    /// Writes the parameters of a call, as serde would write [`CallToolParams`], from parts that the caller keeps.
    ///
    /// The arguments are not checked again: they were when they were made.
    ///
    /// # Errors
    /// When the name has no JSON form.
    pub fn write(name: &str, arguments: Option<&Raw>, out: &mut Vec<u8>) -> Result<(), RawError> {
        out.extend_from_slice(br#"{"name":"#);
        crate::bytes::write_string(name, out)?;
        if let Some(arguments) = arguments {
            out.extend_from_slice(br#","arguments":"#);
            out.extend_from_slice(arguments.as_str().as_bytes());
        }
        out.push(b'}');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Method;

    fn result(text: &str) -> CallToolResult {
        CallToolResult::from_raw(&Raw::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn null_structured_content_is_not_absent_structured_content() {
        let null = result(r#"{"content":[],"structuredContent":null}"#);
        assert_eq!(null.structured_content(), Some(&Raw::null()));
        assert_eq!(result(r#"{"content":[]}"#).structured_content(), None);
    }

    #[test]
    fn a_tool_without_a_schema_takes_any_object() {
        let raw = Raw::parse(r#"{"name":"x"}"#).unwrap();
        let tool = Tool::from_raw(&raw).unwrap();
        assert!(tool.input_schema().is_missing());
        assert_eq!(tool.input_schema().raw().as_str(), r#"{"type":"object"}"#);
        assert!(tool.output_schema().is_none());
        assert_eq!(tool.raw().as_str(), r#"{"name":"x"}"#);
        let raw = Raw::parse(r#"{"name":"x","inputSchema":{}}"#).unwrap();
        assert!(!Tool::from_raw(&raw).unwrap().input_schema().is_missing());
    }

    #[test]
    fn a_tool_with_a_schema_that_is_not_an_object_does_not_fit() {
        let tool = Tool::from_raw(&Raw::parse(r#"{"name":"x","inputSchema":[]}"#).unwrap());
        assert_eq!(
            tool.unwrap_err().to_string(),
            "inputSchema: expected an object, found []"
        );
        let tool = Tool::from_raw(&Raw::parse(r#"{"inputSchema":{}}"#).unwrap());
        assert_eq!(tool.unwrap_err().to_string(), "name: missing");
    }

    #[test]
    fn a_call_is_written_as_serde_would() {
        for name in ["echo", "a\"b\\c\n", "é\u{1}\u{2028}", ""] {
            for arguments in [
                None,
                Some(Raw::parse(r#"{"a": [1e400, "\ud800"]}"#).unwrap()),
            ] {
                let params = CallToolParams {
                    name: name.to_owned(),
                    arguments,
                };
                let mut written = Vec::new();
                CallTool::write_params(&params, &mut written).unwrap();
                assert_eq!(written, serde_json::to_vec(&params).unwrap());
            }
        }
    }

    #[test]
    fn an_empty_cursor_is_a_cursor() {
        let page = ToolPage::from_raw(&Raw::parse(r#"{"tools":[],"nextCursor":""}"#).unwrap());
        assert_eq!(page.unwrap().next_cursor(), Some(""));
    }
}
