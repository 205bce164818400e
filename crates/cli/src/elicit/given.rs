//! Answers that are known when a command begins.

use std::path::PathBuf;

use clap::Args;
use switchboard::talk::Answers;

use crate::report::{Failure, Report};
use crate::values;

/// What to answer servers that ask.
#[derive(Debug, Default, Args)]
pub(crate) struct Given {
    /// Answer servers that ask for a field of this name: key=value, key:=JSON or key=@FILE; can be given
    /// several times. What is not answered has the form's default, or is asked at a terminal.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) answer: Vec<String>,
    /// Answer servers that ask for fields with those of a JSON object in this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) answers: Option<PathBuf>,
}

impl Given {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.answer.is_empty() && self.answers.is_none()
    }

    /// Reads them.
    ///
    /// # Errors
    /// When they are not written as answers.
    pub(crate) fn read(&self) -> Result<Answers, Failure> {
        let answers = values::answers(self.answers.as_deref(), &self.answer);
        answers.map_err(|error| Report::usage(error.to_string()))
    }
}
