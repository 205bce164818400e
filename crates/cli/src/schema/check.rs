//! What is plainly wrong with arguments, before they are sent.

use serde_json::Value;
use switchboard::protocol::Raw;
use switchboard::secret::{MASK, is_secret};
use switchboard::text::{closest, excerpt};

use super::{Kind, Parameters, Shape};

/// A longer value is cut where it is shown.
const LONGEST_VALUE: usize = 60;

/// What is wrong with one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The argument's name.
    pub(crate) argument: String,
    /// What is wrong with it.
    pub(crate) what: String,
}

impl Problem {
    /// A value that is not what the schema says.
    fn wrong(argument: &str, shape: &Shape, found: &str) -> Self {
        // What a person typed for a password does not belong on the screen.
        let found = if is_secret(argument, found.trim_matches('"')) {
            MASK.to_owned()
        } else {
            excerpt(found, LONGEST_VALUE)
        };
        Self {
            argument: argument.to_owned(),
            what: format!("expected {}, found {found}", shape.describe()),
        }
    }
}

impl Parameters {
    /// Finds what is missing, unknown or of the wrong kind.
    pub(crate) fn check(&self, arguments: &[(String, Raw)]) -> Vec<Problem> {
        let mut problems = Vec::new();
        let unknown: Vec<&str> = arguments
            .iter()
            .map(|(name, _)| name.as_str())
            .filter(|name| self.get(name).is_none())
            .collect();
        let is_given = |name: &str| arguments.iter().any(|(given, _)| given == name);
        for parameter in self.list.iter().filter(|parameter| parameter.required) {
            if is_given(&parameter.name) {
                continue;
            }
            let mut what = format!("missing ({})", parameter.shape.describe());
            // An open schema takes the misspelt name without a word.
            if !self.closed
                && let Some(given) = closest(&parameter.name, unknown.iter().copied())
            {
                what = format!("{what}; is {given:?} meant?");
            }
            problems.push(Problem {
                argument: parameter.name.clone(),
                what,
            });
        }
        if self.closed {
            problems.extend(unknown.iter().map(|name| self.unknown(name, is_given)));
        }
        for (name, value) in arguments {
            if let Some(parameter) = self.get(name)
                && !parameter.shape.may_be(value)
            {
                problems.push(Problem::wrong(name, &parameter.shape, value.as_str()));
            }
        }
        problems
    }

    fn unknown(&self, name: &str, is_given: impl Fn(&str) -> bool) -> Problem {
        let free = self.list.iter().map(|parameter| parameter.name.as_str());
        let free: Vec<&str> = free.filter(|known| !is_given(known)).collect();
        let what = match closest(name, free.iter().copied()) {
            Some(known) => format!("unknown argument; did you mean {known:?}?"),
            None => "unknown argument".to_owned(),
        };
        Problem {
            argument: name.to_owned(),
            what,
        }
    }
}

impl Shape {
    /// Whether a value may be what the schema wants.
    pub(crate) fn may_be(&self, value: &Raw) -> bool {
        let kind = Kind::of(value);
        let is_kind = self
            .kinds
            .as_ref()
            .is_none_or(|kinds| kinds.iter().any(|wanted| kind.is_a(*wanted)));
        let is_choice = self
            .choices
            .as_ref()
            .is_none_or(|choices| choices.iter().any(|choice| may_equal(choice, value)));
        is_kind && is_choice
    }
}

/// Whether two values may be the same to a server.
fn may_equal(a: &Raw, b: &Raw) -> bool {
    let (Ok(a), Ok(b)) = (a.decode::<Value>(), b.decode::<Value>()) else {
        return true;
    };
    match (&a, &b) {
        // 1 and 1.0 are the same number.
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        // Numbers may be in there.
        (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => true,
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::parameters;

    fn check(schema: &str, arguments: &str) -> Vec<String> {
        let arguments = Raw::parse(arguments).unwrap().members();
        let problems = parameters(schema).check(&arguments);
        problems
            .into_iter()
            .map(|problem| format!("{}: {}", problem.argument, problem.what))
            .collect()
    }

    const ADD: &str = r#"{"properties":{"a":{"type":"number"},"number_b":{"type":"integer"}},
        "required":["a"],"additionalProperties":false}"#;

    #[test]
    fn what_fits_has_no_problem() {
        for fits in [
            r#"{"a":1}"#,
            r#"{"a":1.5,"number_b":2.0}"#,
            r#"{"a":1e400}"#,
        ] {
            assert_eq!(check(ADD, fits), [""; 0], "{fits}");
        }
        assert_eq!(check("{}", r#"{"anything":null}"#), [""; 0]);
    }

    #[test]
    fn missing_unknown_and_wrong_arguments_are_named() {
        assert_eq!(check(ADD, "{}"), ["a: missing (number)"]);
        assert_eq!(
            check(ADD, r#"{"a":"x","numberb":1,"other":2}"#),
            [
                "numberb: unknown argument; did you mean \"number_b\"?",
                "other: unknown argument",
                "a: expected number, found \"x\"",
            ]
        );
        assert_eq!(
            check(ADD, r#"{"a":1,"number_b":2.5}"#),
            ["number_b: expected integer, found 2.5"]
        );
    }

    #[test]
    fn an_open_schema_takes_other_arguments_and_sees_a_slip() {
        let open = r#"{"properties":{"message":{"type":"string"}},"required":["message"]}"#;
        assert_eq!(check(open, r#"{"message":"","x":1}"#), [""; 0]);
        assert_eq!(
            check(open, r#"{"mesage":"hi"}"#),
            ["message: missing (string); is \"mesage\" meant?"]
        );
    }

    #[test]
    fn patterns_open_a_closed_schema() {
        let schema = r#"{"additionalProperties":false,"patternProperties":{"^x":{}}}"#;
        assert_eq!(check(schema, r#"{"xyz":1}"#), [""; 0]);
    }

    #[test]
    fn choices_are_held_to() {
        let schema = r#"{"properties":{"n":{"enum":[1,"a",null]}}}"#;
        for fits in [r#"{"n":1.0}"#, r#"{"n":"\u0061"}"#, r#"{"n":null}"#] {
            assert_eq!(check(schema, fits), [""; 0], "{fits}");
        }
        assert_eq!(
            check(schema, r#"{"n":"b"}"#),
            ["n: expected 1|\"a\"|null, found \"b\""]
        );
    }

    #[test]
    fn a_secret_that_does_not_fit_is_not_shown() {
        let schema = r#"{"properties":{"password":{"type":"integer"}}}"#;
        assert_eq!(
            check(schema, r#"{"password":"hunter2"}"#),
            ["password: expected integer, found ***"]
        );
    }
}
