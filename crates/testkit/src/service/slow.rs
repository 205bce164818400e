//! The tool `slow_operation`, with progress.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep_until};

use super::wire::Sink;
use crate::catalog::Features;
use crate::tools::{Outcome, number, whole_number};

/// The arguments of a call of `slow_operation`.
pub(crate) struct Slow {
    duration: Duration,
    steps: u32,
    progress_token: Option<Value>,
    /// Progress may have a message.
    words: bool,
}

impl Slow {
    /// Reads arguments that fit the tool's schema, with its defaults.
    pub(crate) fn new(
        arguments: &Map<String, Value>,
        params: &Map<String, Value>,
        features: Features,
    ) -> Self {
        let seconds = number(arguments, "duration").unwrap_or(1.0);
        Self {
            duration: Duration::try_from_secs_f64(seconds).unwrap_or_default(),
            steps: whole_number(arguments, "steps").unwrap_or(5).max(1),
            progress_token: progress_token(params),
            words: features.annotations,
        }
    }

    /// Takes the steps one by one. Dropping the future stops between two of them.
    pub(crate) async fn run(self, client: &Sink) -> Outcome {
        let Self {
            duration, steps, ..
        } = self;
        let start = Instant::now();
        for step in 1..=steps {
            // Measured from the start, so that delays do not add up.
            sleep_until(start + duration.mul_f64(f64::from(step) / f64::from(steps))).await;
            self.report(step, client).await;
        }
        let seconds = duration.as_secs_f64();
        Outcome::text(format!("finished {steps} steps in {seconds} seconds"))
    }

    async fn report(&self, step: u32, client: &Sink) {
        let Some(token) = &self.progress_token else {
            return;
        };
        let mut params = json!({"progressToken": token, "progress": step, "total": self.steps});
        if let Some(params) = params.as_object_mut().filter(|_| self.words) {
            let message = format!("step {step} of {}", self.steps);
            params.insert("message".to_owned(), message.into());
        }
        client.notify("notifications/progress", Some(&params)).await;
    }
}

/// The progress token of a request, if it has a valid one.
pub(super) fn progress_token(params: &Map<String, Value>) -> Option<Value> {
    let token = params.get("_meta")?.get("progressToken")?;
    (token.is_string() || token.is_number()).then(|| token.clone())
}
