//! Answers that a program knows before it is asked.

use switchboard_wire::Raw;

use super::form::Form;
use super::problem::Problem;

/// Answers that are known beforehand. A form is filled in with them and with its own defaults; one that still lacks
/// something, or does not take what there is, is declined, and so is every address.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers(Vec<(String, Given)>);

#[derive(Debug, Clone, PartialEq)]
enum Given {
    /// To be read by the field.
    Text(String),
    /// As it is.
    Json(Raw),
}

impl Answers {
    /// Answers with the defaults of forms alone.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers the fields of a name with what somebody would type; the last answer counts.
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

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of them is for a field of a form. Where none is, the form is one that nobody has thought of.
    pub fn concern(&self, form: &Form) -> bool {
        let is_asked = |name: &String| form.fields().iter().any(|field| field.name == *name);
        self.0.iter().any(|(name, _)| is_asked(name))
    }

    /// What is known for a form: the answers to its fields, and its defaults for the others.
    ///
    /// # Errors
    /// When fields do not take their answers, with what each wants.
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
        match problems.is_empty() {
            true => Ok(values),
            false => Err(problems),
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
