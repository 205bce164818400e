//! One field of a form, and the values that it accepts.

use switchboard_wire::Raw;

use super::choices::{self, Choice};
use super::formats;
use super::problem::Problem;

/// One field of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name in the answer. Untrusted, as are title and description.
    pub name: String,
    /// The title.
    pub title: Option<String>,
    /// The description of its purpose.
    pub description: Option<String>,
    /// Set if the form cannot be answered without it.
    pub is_required: bool,
    /// The kind of value that it accepts.
    pub kind: Kind,
    /// The initial value; always one that the field accepts.
    pub default: Option<Raw>,
    pub(super) answer_bytes: usize,
}

/// The kind of value that a field accepts.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// A text.
    Text {
        /// The format that it is held to.
        format: Option<TextFormat>,
        /// The fewest characters.
        least: Option<u64>,
        /// The most characters.
        most: Option<u64>,
    },
    /// A number.
    Number {
        /// Set if it must be an integer.
        is_whole: bool,
        /// The smallest.
        least: Option<f64>,
        /// The largest.
        most: Option<f64>,
    },
    /// Yes or no.
    Truth,
    /// One of these.
    One(Vec<Choice>),
    /// Some of these.
    Many {
        /// The choices.
        choices: Vec<Choice>,
        /// The fewest.
        least: Option<u64>,
        /// The most.
        most: Option<u64>,
    },
}

/// The formats that texts are held to. Others are not known, and a text of theirs is just a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextFormat {
    /// An email address.
    Email,
    /// An absolute URI.
    Uri,
    /// A date: `2026-07-28`.
    Date,
    /// A date with a time and its zone: `2026-07-28T09:30:00Z`.
    DateTime,
}

impl Field {
    /// Returns the title, or else the name.
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// Parses typed text: `yes` for a boolean, the number or the name of a choice, or several of them
    /// separated by commas.
    ///
    /// # Errors
    /// Fails if the field does not accept the text; the error says which values it accepts.
    pub fn read(&self, text: &str) -> Result<Raw, Problem> {
        let words = text.trim();
        let value = match &self.kind {
            // Free text keeps the spaces that the user typed around it.
            Kind::Text { format: None, .. } => json(&text),
            Kind::Text { .. } => json(&words),
            Kind::Number { is_whole, .. } => Raw::parse(words)
                .ok()
                .filter(is_number)
                .ok_or_else(|| self.problem(wanted_number(*is_whole)))?,
            Kind::Truth => match words.to_lowercase().as_str() {
                "y" | "yes" | "true" => json(&true),
                "n" | "no" | "false" => json(&false),
                _ => return Err(self.problem("enter yes or no")),
            },
            Kind::One(choices) => {
                let choice = choices::find_choice(choices, words);
                json(&choice.ok_or_else(|| self.no_choice(words))?.value)
            }
            Kind::Many { choices, .. } => json(&self.several(choices, words)?),
        };
        self.check(&value)?;
        Ok(value)
    }

    /// Parses several choices. A choice that contains a comma is found only if it is the single one.
    fn several<'c>(&self, choices: &'c [Choice], words: &str) -> Result<Vec<&'c str>, Problem> {
        // The whole text first: a choice may have a comma in it.
        if let Some(choice) = choices::find_choice(choices, words) {
            return Ok(vec![&choice.value]);
        }
        let mut chosen: Vec<&str> = Vec::new();
        let words = words.split(',').map(str::trim);
        for word in words.filter(|word| !word.is_empty()) {
            let choice = choices::find_choice(choices, word);
            let choice = choice.ok_or_else(|| self.no_choice(word))?;
            // What was typed twice is sent once.
            if !chosen.contains(&choice.value.as_str()) {
                chosen.push(&choice.value);
            }
        }
        Ok(chosen)
    }

    /// Checks that the field accepts a value.
    ///
    /// # Errors
    /// Fails if it does not; the error says which values it accepts.
    pub fn check(&self, value: &Raw) -> Result<(), Problem> {
        // The size first: a value that is too large is not decoded.
        if value.len_bytes() > self.answer_bytes {
            let most = self.answer_bytes;
            return Err(self.problem(format!("at most {most} bytes are sent")));
        }
        match &self.kind {
            Kind::Text {
                format,
                least,
                most,
            } => {
                let text = value.as_text();
                let text = text.ok_or_else(|| self.problem("enter text"))?;
                // Characters, as JSON Schema counts them, not bytes.
                let count = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
                self.within(count, *least, *most, "characters")?;
                match format.and_then(|format| formats::misfit(format, &text)) {
                    Some(wanted) => Err(self.problem(format!("enter {wanted}"))),
                    None => Ok(()),
                }
            }
            Kind::Number {
                is_whole,
                least,
                most,
            } => self.check_number(value, *is_whole, *least, *most),
            Kind::Truth => match value.as_str() {
                "true" | "false" => Ok(()),
                _ => Err(self.problem("enter yes or no")),
            },
            Kind::One(choices) => self.check_choice(choices, value),
            Kind::Many {
                choices,
                least,
                most,
            } => {
                if !value.is_array() {
                    return Err(self.problem("enter a list of choices"));
                }
                let items = value.items();
                for item in &items {
                    self.check_choice(choices, item)?;
                }
                let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
                self.within(count, *least, *most, "choices")
            }
        }
    }

    fn check_number(
        &self,
        value: &Raw,
        is_whole: bool,
        least: Option<f64>,
        most: Option<f64>,
    ) -> Result<(), Problem> {
        let number: Option<f64> = value.as_str().parse().ok().filter(|_| is_number(value));
        let number = number.filter(|number| !is_whole || number.fract() == 0.0);
        let number = number.ok_or_else(|| self.problem(wanted_number(is_whole)))?;
        if let Some(least) = least.filter(|least| number < *least) {
            return Err(self.problem(format!("must be at least {least}")));
        }
        match most.filter(|most| number > *most) {
            Some(most) => Err(self.problem(format!("must be at most {most}"))),
            None => Ok(()),
        }
    }

    fn check_choice(&self, choices: &[Choice], value: &Raw) -> Result<(), Problem> {
        let text = value.as_text();
        let text = text.ok_or_else(|| self.problem("choose one"))?;
        if choices.iter().any(|choice| choice.value == text) {
            Ok(())
        } else {
            Err(self.no_choice(&text))
        }
    }

    fn within(
        &self,
        count: u64,
        least: Option<u64>,
        most: Option<u64>,
        what: &str,
    ) -> Result<(), Problem> {
        if let Some(least) = least.filter(|least| count < *least) {
            return Err(self.problem(format!("must have at least {least} {what}")));
        }
        match most.filter(|most| count > *most) {
            Some(most) => Err(self.problem(format!("must have at most {most} {what}"))),
            None => Ok(()),
        }
    }

    fn no_choice(&self, text: &str) -> Problem {
        let text = switchboard_core::text::excerpt(text, 60);
        self.problem(format!("{text:?} is not one of the choices"))
    }

    pub(super) fn problem(&self, what: impl Into<String>) -> Problem {
        Problem::new(&self.name, what)
    }
}

fn wanted_number(is_whole: bool) -> &'static str {
    if is_whole {
        "enter a whole number"
    } else {
        "enter a number"
    }
}

fn is_number(value: &Raw) -> bool {
    let first = |c: char| c == '-' || c.is_ascii_digit();
    value.as_str().starts_with(first)
}

/// Texts, truths and lists of texts always have a JSON form.
fn json(value: &(impl serde::Serialize + ?Sized)) -> Raw {
    Raw::of(value).unwrap_or_else(|_| Raw::null())
}
