//! The result of a tool call.

use serde_json::Value;
use switchboard_wire::{CallToolResult, Content, Raw};

use crate::error::{Error, HostError};
use crate::formats::{self, Adapted, anthropic, openai};
use crate::schema::Verdict;

/// The complete result of a tool call, with a rendering of it as text.
///
/// ```no_run
/// use serde_json::json;
/// use switchboard::Host;
///
/// # async fn example(host: Host) -> Result<(), switchboard::Error> {
/// let result = host.call("demo/add", json!({ "a": 2, "b": 3 })).await?;
/// if result.is_error() {
///     println!("the tool failed: {}", result.safe_text());
/// } else if let Some(data) = result.structured() {
///     println!("{}", data.as_str());
/// }
/// # Ok(())
/// # }
/// ```
///
/// A result that was stored becomes one again; there is no verdict of a schema about it then:
///
/// ```
/// use switchboard::ToolResult;
/// use switchboard::protocol::CallToolResult;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let stored = r#"{ "content": [{ "type": "text", "text": "5" }] }"#;
/// let stored: CallToolResult = serde_json::from_str(stored)?;
/// assert_eq!(ToolResult::from(stored).text(), "5");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ToolResult {
    result: CallToolResult,
    fits: Option<Verdict>,
}

impl ToolResult {
    pub(super) fn new(result: CallToolResult, fits: Option<Verdict>) -> Self {
        Self { result, fits }
    }

    /// The result as a text: text blocks as they are, others by name; at most 10 MiB, with a note
    /// if it is cut.
    pub fn text(&self) -> String {
        formats::text(&self.result, &formats::TextLimits::default()).text
    }

    /// The same made safe for a terminal: escape sequences and characters that reorder or hide text are
    /// replaced by visible ones. [`text::sanitise`](crate::text::sanitise) does it for any text of a server.
    pub fn safe_text(&self) -> String {
        crate::text::sanitise(&self.text()).into_owned()
    }

    /// Returns true if the tool reported an error.
    pub fn is_error(&self) -> bool {
        self.result.is_error()
    }

    /// The blocks of the result.
    pub fn content(&self) -> &[Content] {
        self.result.content()
    }

    /// The structured result, if there is one.
    pub fn structured(&self) -> Option<&Raw> {
        self.result.structured_content()
    }

    /// Returns the verdict of the tool's output schema on the structured result; `None` if there is
    /// no schema, or the tool reported an error.
    pub fn fits(&self) -> Option<&Verdict> {
        self.fits.as_ref()
    }

    /// Reads the structured result into a type.
    ///
    /// # Errors
    /// Fails if there is no structured result, the tool reported an error, or the value does not
    /// fit the tool's output schema or the type.
    pub fn structured_as<T: serde::de::DeserializeOwned>(&self) -> Result<T, Error> {
        let wrong = |why: String| Error::from(HostError::Structure { why });
        if self.is_error() {
            return Err(wrong("the tool reported an error".to_owned()));
        }
        if let Some(Verdict::Misfits(violations)) = &self.fits {
            let each: Vec<_> = violations.iter().map(ToString::to_string).collect();
            let each = each.join("; ");
            return Err(wrong(format!("it breaks the tool's own schema: {each}")));
        }
        let Some(structured) = self.structured() else {
            return Err(wrong("the tool gave no structured content".to_owned()));
        };
        structured
            .decode()
            .map_err(|error| wrong(error.to_string()))
    }

    /// The whole result, verbatim.
    pub fn whole(&self) -> &CallToolResult {
        &self.result
    }

    /// The result as a message for OpenAI's Chat Completions; `id` is that of the call. Blocks that the
    /// API does not take are adapted: [`ToolResult::openai_chat`] says how.
    pub fn to_openai(&self, id: &str) -> Value {
        self.openai_chat(id).value
    }

    /// The result as a block for Anthropic's Messages; `id` is that of the call. Blocks that the API
    /// does not take are adapted: [`ToolResult::anthropic`] says how.
    pub fn to_anthropic(&self, id: &str) -> Value {
        self.anthropic(id).value
    }

    /// The result as a message for OpenAI's Chat Completions; `id` is that of the call.
    pub fn openai_chat(&self, id: &str) -> Adapted<Value> {
        openai::chat_result(id, self.whole(), &formats::TextLimits::default())
    }

    /// The result as an item for OpenAI's Responses; `id` is that of the call.
    pub fn openai_responses(&self, id: &str) -> Adapted<Value> {
        openai::responses_result(id, self.whole(), &formats::TextLimits::default())
    }

    /// The result as a block for Anthropic's Messages; `id` is that of the call.
    pub fn anthropic(&self, id: &str) -> Adapted<Value> {
        anthropic::result(id, self.whole(), &formats::TextLimits::default())
    }
}

impl From<CallToolResult> for ToolResult {
    fn from(result: CallToolResult) -> Self {
        Self::new(result, None)
    }
}
