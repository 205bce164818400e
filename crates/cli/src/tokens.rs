//! Estimates of what definitions cost of a model's context.
//!
//! Models count tokens in ways of their own, and no tokenizer is right for all of them. The estimate is the
//! definition as the Messages API of Anthropic takes it (name, description and input schema, as compact JSON),
//! with four characters for each token. Real counts differ by about a third.

use std::sync::Arc;

use switchboard::catalog::ToolEntry;
use switchboard::formats::anthropic;
use switchboard_terminal::count::{round, thousands};

/// Characters of JSON that count as one token.
const CHARACTERS: usize = 4;

/// The method in a sentence, for people.
pub(crate) const METHOD: &str = "Tokens are estimated: name, description and schema of each tool as JSON, 4 characters per token.";

/// Estimates the tokens of one definition.
pub(crate) fn of_tool(entry: &ToolEntry) -> usize {
    let definition = anthropic::definition(entry.exposed(), entry.tool()).value;
    definition.to_string().chars().count().div_ceil(CHARACTERS)
}

/// Estimates the tokens of several definitions.
pub(crate) fn of_tools<'e>(entries: impl IntoIterator<Item = &'e Arc<ToolEntry>>) -> usize {
    entries.into_iter().map(|entry| of_tool(entry)).sum()
}

/// Formats an estimate, rounded: `about 2,100 tokens`.
pub(crate) fn format_estimate(tokens: usize) -> String {
    format!("about {} tokens", thousands(round(tokens)))
}
