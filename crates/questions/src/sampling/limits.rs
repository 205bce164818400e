//! Limits on sampling requests of servers.

/// Limits on sampling requests of servers. A request over a limit is refused before the user is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct SamplingLimits {
    /// The tokens of one answer; a server that wants more gets this.
    pub request_tokens: u64,
    /// The requests of one server in a minute.
    pub requests_per_minute: usize,
    /// The tokens of one server in a minute, prompts and answers together. Until an answer is there, a
    /// request counts with all that it may take.
    pub tokens_per_minute: u64,
    /// The bytes of one question, images and sounds included.
    pub prompt_bytes: usize,
    /// The rounds of tools in a row, in one conversation.
    pub tool_rounds: usize,
}

impl Default for SamplingLimits {
    fn default() -> Self {
        Self {
            request_tokens: 4096,
            requests_per_minute: 10,
            tokens_per_minute: 100_000,
            prompt_bytes: 4 << 20,
            tool_rounds: 10,
        }
    }
}
