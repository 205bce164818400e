//! The library's own handlers, as a program would plug them in that asks nobody.

use std::sync::Arc;

use switchboard::talk::sampling::{
    Completing, ModelAnswer, ModelRequest, Part, Provider, Sampler, Stop,
};
use switchboard::talk::{Answers, Handlers, Roots, SharedOperator, Unasked};

/// A model of one sentence.
#[derive(Debug)]
pub struct Sentence(Vec<String>);

impl Default for Sentence {
    fn default() -> Self {
        Self(vec!["none".to_owned()])
    }
}

impl Provider for Sentence {
    fn name(&self) -> &str {
        "sentence"
    }

    fn models(&self) -> &[String] {
        &self.0
    }

    fn complete<'a>(&'a self, request: &'a ModelRequest) -> Completing<'a> {
        let answer = ModelAnswer {
            model: request.model.clone(),
            parts: vec![Part::Text("I have nothing to say.".to_owned())],
            stop: Stop::EndTurn,
            tokens: Some(6),
        };
        Box::pin(std::future::ready(Ok(answer)))
    }
}

/// Takes forms as they are filled in, goes to no address, has a model of one sentence and the folder that the program
/// runs in.
#[must_use]
pub fn handlers() -> Handlers {
    Handlers {
        operator: Some(SharedOperator::new(Answers::new())),
        sample: Some(Arc::new(Sampler::new(Sentence::default(), Unasked))),
        roots: Some(Roots::of(["."])),
    }
}
