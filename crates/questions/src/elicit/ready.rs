//! Answers that a program has prepared.

use switchboard_wire::Raw;

use super::form::Form;
use super::problem::Problem;

/// Prepared answers. A form is filled in with them and with its own defaults. A form that still lacks a
/// value, or does not accept an answer, is declined, and so is every URL.
#[derive(Debug, Clone, Default, PartialEq)]
#[doc(hidden)]
pub struct Answers(Vec<(String, Given)>);

#[derive(Debug, Clone, PartialEq)]
enum Given {
    /// Typed text, to be parsed by the field.
    Text(String),
    /// A JSON value, sent unchanged.
    Json(Raw),
}

impl Answers {
    /// Answers with the defaults of forms alone.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers every field of that name with the text that a user would type; the last answer counts.
    #[must_use]
    pub fn text(self, field: impl Into<String>, text: impl Into<String>) -> Self {
        self.with(field.into(), Given::Text(text.into()))
    }

    /// Answers the fields of a name with a JSON value; the last answer counts.
    #[must_use]
    pub fn json(self, field: impl Into<String>, value: Raw) -> Self {
        self.with(field.into(), Given::Json(value))
    }

    fn with(mut self, field: String, given: Given) -> Self {
        self.0.retain(|(other, _)| *other != field);
        self.0.push((field, given));
        self
    }

    /// Returns `true` if there are no answers.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if one of the answers is for a field of the form. If none is, the answers were not
    /// prepared for this form.
    pub fn concern(&self, form: &Form) -> bool {
        let is_asked = |name: &String| form.fields().iter().any(|field| field.name == *name);
        self.0.iter().any(|(name, _)| is_asked(name))
    }

    /// Returns the values for a form: the answers to its fields, and its defaults for the others.
    ///
    /// # Errors
    /// Fails if fields do not accept their answers; lists the values that each accepts.
    pub fn values(&self, form: &Form) -> Result<Vec<(String, Raw)>, Vec<Problem>> {
        let (mut values, mut problems) = (Vec::new(), Vec::new());
        for field in form.fields() {
            let given = self.0.iter().find(|(name, _)| *name == field.name);
            let value = match given {
                Some((_, Given::Text(text))) => Some(field.read(text)),
                Some((_, Given::Json(value))) => Some(field.check(value).map(|()| value.clone())),
                None => field.default.clone().map(Ok),
            };
            match value {
                Some(Ok(value)) => values.push((field.name.clone(), value)),
                Some(Err(problem)) => problems.push(problem),
                None => {}
            }
        }
        if problems.is_empty() {
            Ok(values)
        } else {
            Err(problems)
        }
    }

    /// Fills a form in.
    ///
    /// # Errors
    /// With all that it lacks or does not take.
    pub fn fill(&self, form: &Form) -> Result<Raw, Vec<Problem>> {
        form.answer(&self.values(form)?)
    }
}
