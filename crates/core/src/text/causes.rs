//! The text of an error with its causes.

use std::error::Error;

/// The text of an error, and of each of its causes that the text does not name yet.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let words = cause.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Caused {
        text: &'static str,
        source: Option<Box<Self>>,
    }

    fn chain(texts: &[&'static str]) -> Option<Box<Caused>> {
        let (text, rest) = texts.split_first()?;
        let source = chain(rest);
        Some(Box::new(Caused { text, source }))
    }

    #[test]
    fn causes_that_the_text_names_already_are_not_repeated() {
        let chain = |texts: &[&'static str]| with_causes(&*chain(texts).unwrap());
        assert_eq!(chain(&["could not connect"]), "could not connect");
        let three = ["could not connect", "tcp error", "refused"];
        assert_eq!(chain(&three), "could not connect: tcp error: refused");
        let named = ["could not connect: refused", "refused", "os error 111"];
        assert_eq!(chain(&named), "could not connect: refused: os error 111");
    }
}
