//! Choices of a field.

use switchboard_wire::Raw;

use super::limits::ElicitLimits;
use super::problem::Misread;

/// Something that may be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The value that is sent.
    pub value: String,
    /// The title, if it differs from the value.
    pub title: Option<String>,
}

impl Choice {
    /// Returns the title, or else the value.
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.value)
    }
}

/// Reads the choices of a schema: `enum`, with `enumNames` beside it, or a list of `const` with `title`.
///
/// # Errors
/// Fails if the choices are not texts, if there are none, or if there are too many.
pub(super) fn read(schema: &Raw, limits: &ElicitLimits) -> Result<Option<Vec<Choice>>, Misread> {
    let titled = schema.member("oneOf").or_else(|| schema.member("anyOf"));
    let choices: Option<Vec<Choice>> = match (schema.member("enum"), titled) {
        // `enum`, with the titles of the older `enumNames` at the same places.
        (Some(values), _) => {
            let names = schema.member("enumNames");
            let names = names.map(|names| names.items()).unwrap_or_default();
            let mut names = names.iter();
            let choice = |value: &Raw| {
                let value = value.as_text()?;
                let title = names.next().and_then(Raw::as_text);
                let title = title.filter(|title| *title != value);
                Some(Choice { value, title })
            };
            values.items().iter().map(choice).collect()
        }
        // Constants with titles: `oneOf` for one choice, `anyOf` for several.
        (None, Some(titled)) => {
            let choice = |choice: &Raw| {
                let value = choice.member("const")?.as_text()?;
                let title = choice.member("title").and_then(|title| title.as_text());
                let title = title.filter(|title| *title != value);
                Some(Choice { value, title })
            };
            titled.items().iter().map(choice).collect()
        }
        (None, None) => return Ok(None),
    };
    let choices = choices.ok_or_else(|| Misread::new("has choices that are no texts"))?;
    if choices.is_empty() {
        return Err(Misread::new("has nothing to choose from"));
    }
    if choices.len() > limits.choices {
        let most = limits.choices;
        return Err(Misread::new(format!("has more than {most} choices")));
    }
    let is_long = |text: &str| text.len() > limits.name_bytes;
    if choices
        .iter()
        .any(|choice| is_long(&choice.value) || is_long(choice.label()))
    {
        let most = limits.name_bytes;
        return Err(Misread::new(format!(
            "has a choice of more than {most} bytes"
        )));
    }
    Ok(Some(choices))
}

/// Finds the choice for a typed text: the value itself, its title in any case, or its number from 1.
pub(super) fn find_choice<'c>(choices: &'c [Choice], text: &str) -> Option<&'c Choice> {
    let exact = choices.iter().find(|choice| choice.value == text);
    let named = || {
        let is_so = |name: &str| name.to_lowercase() == text.to_lowercase();
        let mut named = choices
            .iter()
            .filter(|choice| is_so(choice.label()) || is_so(&choice.value));
        // Do not guess between two choices that differ only in case.
        named.next().filter(|_| named.next().is_none())
    };
    let numbered = || {
        let number: usize = text.parse().ok()?;
        choices.get(number.checked_sub(1)?)
    };
    // The exact value first: it may look like the number of another choice.
    exact.or_else(named).or_else(numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(schema: &str) -> Result<Option<Vec<Choice>>, Misread> {
        read(&Raw::parse(schema).unwrap(), &ElicitLimits::default())
    }

    fn shown(schema: &str) -> Vec<(String, String)> {
        let choices = choices(schema).unwrap().unwrap();
        let both = |choice: &Choice| (choice.value.clone(), choice.label().to_owned());
        choices.iter().map(both).collect()
    }

    #[test]
    fn choices_are_read_in_each_of_their_spellings() {
        let plain = [("a", "a"), ("b", "b")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(shown(r#"{"enum":["a","b"]}"#), plain);
        let titled = [("a", "A!"), ("b", "b")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(shown(r#"{"enum":["a","b"],"enumNames":["A!"]}"#), titled);
        let listed = r#"[{"const":"a","title":"A!"},{"const":"b"}]"#;
        assert_eq!(shown(&format!(r#"{{"oneOf":{listed}}}"#)), titled);
        assert_eq!(shown(&format!(r#"{{"anyOf":{listed}}}"#)), titled);
        assert_eq!(choices("{}"), Ok(None));
    }

    #[test]
    fn choices_that_nobody_could_make_are_refused() {
        for schema in [
            r#"{"enum":[]}"#,
            r#"{"enum":[1]}"#,
            r#"{"oneOf":[{"title":"x"}]}"#,
        ] {
            assert!(choices(schema).is_err(), "{schema}");
        }
        let many = |count: usize| format!(r#"{{"enum":[{}]}}"#, vec![r#""x""#; count].join(","));
        let most = ElicitLimits::default().choices;
        assert!(choices(&many(most)).is_ok());
        assert!(choices(&many(most + 1)).is_err());
        let long = |bytes: usize| format!(r#"{{"enum":["{}"]}}"#, "x".repeat(bytes));
        let most = ElicitLimits::default().name_bytes;
        assert!(choices(&long(most)).is_ok());
        assert!(choices(&long(most + 1)).is_err());
    }

    #[test]
    fn a_choice_is_meant_by_its_value_its_title_or_its_number() {
        let listed = r#"{"oneOf":[{"const":"s","title":"Small"},{"const":"1","title":"Large"},{"const":"S2","title":"s2"}]}"#;
        let choices = choices(listed).unwrap().unwrap();
        let value = |text: &str| find_choice(&choices, text).map(|choice| choice.value.as_str());
        assert_eq!(value("s"), Some("s"));
        assert_eq!(value("SMALL"), Some("s"));
        // Its own value before its place.
        assert_eq!(value("1"), Some("1"));
        assert_eq!(value("3"), Some("S2"));
        assert_eq!(value("0"), None);
        assert_eq!(value("4"), None);
        assert_eq!(value("huge"), None);
    }
}
