//! A tool's signature in one line.

use switchboard_core::text::excerpt;

use super::{JsonType, Parameters, Shape};

/// Maximum number of choices in a signature.
const MOST_CHOICES: usize = 6;

/// Maximum number of choices in a detailed description.
const MOST_CHOICES_IN_ALL: usize = 50;

/// Maximum length of a choice.
const LONGEST_CHOICE: usize = 40;

impl Parameters {
    /// Formats a tool like a function: `add(a: number, b?: number)`. Names are as servers wrote them, so the
    /// text must be sanitised before it is shown.
    pub fn signature(&self, tool: &str) -> String {
        let parameters: Vec<String> = self
            .list
            .iter()
            .map(|parameter| {
                let optional = if parameter.required { "" } else { "?" };
                format!(
                    "{}{optional}: {}",
                    parameter.name,
                    parameter.shape.describe()
                )
            })
            .collect();
        format!("{tool}({})", parameters.join(", "))
    }
}

impl Shape {
    /// Formats the possible values: `integer`, `string[]`, `"a"|"b"`, `any`.
    pub fn describe(&self) -> String {
        self.describe_with(MOST_CHOICES)
    }

    /// Formats the possible values with more choices, for a detailed description.
    pub fn describe_all(&self) -> String {
        self.describe_with(MOST_CHOICES_IN_ALL)
    }

    fn describe_with(&self, most: usize) -> String {
        if let Some(choices) = &self.choices {
            let mut shown: Vec<String> = choices
                .iter()
                .take(most)
                .map(|choice| excerpt(choice.as_str(), LONGEST_CHOICE))
                .collect();
            if choices.len() > most {
                shown.push("…".to_owned());
            }
            return shown.join("|");
        }
        // Without choices the types are shown, items of arrays included.
        let Some(kinds) = &self.kinds else {
            return "any".to_owned();
        };
        let names: Vec<String> = kinds
            .iter()
            .map(|kind| match (kind, &self.item) {
                (JsonType::Array, Some(item)) => match item.describe_with(most) {
                    item if item == "any" => kind.name().to_owned(),
                    item if item.contains('|') => format!("({item})[]"),
                    item => format!("{item}[]"),
                },
                (kind, _) => kind.name().to_owned(),
            })
            .collect();
        names.join("|")
    }
}

#[cfg(test)]
mod tests {
    use crate::parameters::parameters;

    #[test]
    fn a_signature_shows_names_types_and_what_may_be_left_out() {
        let schema = r#"{"properties":{
            "a":{"type":"number"},
            "tags":{"type":"array","items":{"type":"string"}},
            "both":{"type":"array","items":{"type":["string","null"]}},
            "list":{"type":"array"},
            "mode":{"enum":["fast","slow",3]},
            "maybe":{"anyOf":[{"type":"object"},{"type":"null"}]},
            "free":{}},
            "required":["a","elsewhere"]}"#;
        assert_eq!(
            parameters(schema).signature("t"),
            "t(a: number, tags?: string[], both?: (string|null)[], list?: array, \
             mode?: \"fast\"|\"slow\"|3, maybe?: object|null, free?: any, elsewhere: any)"
        );
        assert_eq!(parameters("{}").signature("none"), "none()");
    }

    #[test]
    fn many_choices_are_cut() {
        let many = parameters(r#"{"properties":{"n":{"enum":[1,2,3,4,5,6,7]}}}"#);
        assert_eq!(many.signature("t"), "t(n?: 1|2|3|4|5|6|…)");
        let six = parameters(r#"{"properties":{"n":{"enum":[1,2,3,4,5,6]}}}"#);
        assert_eq!(six.signature("t"), "t(n?: 1|2|3|4|5|6)");
    }
}
