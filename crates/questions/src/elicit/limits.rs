//! Limits on elicitation requests.

/// Limits on elicitation requests. A request over one of them is refused as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitLimits {
    /// Fields of a form.
    pub fields: usize,
    /// Choices of a field.
    pub choices: usize,
    /// Longest name of a field, and longest choice.
    pub name_bytes: usize,
    /// Longest title, description or default.
    pub text_bytes: usize,
    /// Longest message that comes with a question.
    pub message_bytes: usize,
    /// Longest answer to one field.
    pub answer_bytes: usize,
    /// Longest address.
    pub url_bytes: usize,
    /// Refused requests of a server that are reported per minute; the others are only counted.
    pub refusals: usize,
}

impl Default for ElicitLimits {
    fn default() -> Self {
        Self {
            fields: 64,
            choices: 256,
            name_bytes: 256,
            text_bytes: 4 * 1024,
            message_bytes: 16 * 1024,
            answer_bytes: 64 * 1024,
            url_bytes: 4 * 1024,
            refusals: 20,
        }
    }
}
