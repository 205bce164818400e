//! Schema violations in the words of the tool's signature.

use switchboard_core::secret::{MASK, is_secret};
use switchboard_core::text::{closest, excerpt};
use switchboard_wire::Raw;

use super::{Parameters, Shape};
use crate::Violation;

/// Maximum length of a value in a message.
const LONGEST_VALUE: usize = 60;

/// An argument that does not match the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The argument's name.
    pub argument: String,
    /// The problem.
    pub problem: String,
}

impl Misfit {
    /// Creates a misfit for a value of the wrong type.
    fn wrong(argument: &str, shape: &Shape, found: &str) -> Self {
        // A typed password does not belong on the screen.
        let found = if is_secret(argument, found.trim_matches('"')) {
            MASK.to_owned()
        } else {
            excerpt(found, LONGEST_VALUE)
        };
        Self {
            argument: argument.to_owned(),
            problem: format!("expected {}, found {found}", shape.describe()),
        }
    }
}

impl Parameters {
    /// Words violations by argument: first missing arguments, then unknown ones, then values of the wrong
    /// type, then everything else. Returns none if the signature explains none of them, such as a number out
    /// of its range: the library's own message is better then.
    pub fn misfits(&self, violations: &[Violation], arguments: &[(String, Raw)]) -> Vec<Misfit> {
        let closed = ["additionalProperties", "unevaluatedProperties"];
        let (required, others) = partition(violations, |it| is_of_whole(it, &["required"]));
        let (unexpected, others) = partition(others, |it| is_of_whole(it, &closed));
        let (mut misfits, mut unexplained) = (Vec::new(), Vec::new());
        // Such a violation names its members only in its message, and the library reports a bounded number:
        // the signature knows all of them.
        for (found, explained) in [
            (required, self.missing(arguments)),
            (unexpected, self.unknown(arguments)),
        ] {
            if explained.is_empty() {
                unexplained.extend(found);
            } else if !found.is_empty() {
                misfits.extend(explained);
            }
        }
        let (wrong, others) = partition(others, |it| self.is_wrong(it, arguments));
        for (name, value) in arguments {
            if let Some(parameter) = self.get(name)
                && wrong.iter().any(|it| argument_of(it).0 == *name)
            {
                misfits.push(Misfit::wrong(name, &parameter.shape, value.as_str()));
            }
        }
        // The signature explains nothing: let the library's message stand.
        if misfits.is_empty() {
            return misfits;
        }
        let rest = unexplained.into_iter().chain(others);
        misfits.extend(rest.map(|violation| Misfit {
            argument: argument_of(violation).0,
            problem: violation.message.clone(),
        }));
        misfits
    }

    /// Returns the required parameters that are not given.
    fn missing(&self, arguments: &[(String, Raw)]) -> Vec<Misfit> {
        let unknown: Vec<&str> = self.unknown_names(arguments).collect();
        let missing = self.list.iter().filter(|parameter| {
            parameter.required && !arguments.iter().any(|(given, _)| *given == parameter.name)
        });
        let misfits = missing.map(|parameter| {
            let mut problem = format!("missing ({})", parameter.shape.describe());
            // An open schema accepts a misspelt name silently.
            if !self.closed
                && let Some(given) = closest(&parameter.name, unknown.iter().copied())
            {
                problem = format!("{problem}; is {given:?} meant?");
            }
            Misfit {
                argument: parameter.name.clone(),
                problem,
            }
        });
        misfits.collect()
    }

    /// Returns the arguments that a closed schema does not name.
    fn unknown(&self, arguments: &[(String, Raw)]) -> Vec<Misfit> {
        let is_free = |name: &&str| !arguments.iter().any(|(given, _)| given == name);
        let free = self.list.iter().map(|parameter| parameter.name.as_str());
        let free: Vec<&str> = free.filter(is_free).collect();
        let unknown = self.unknown_names(arguments).filter(|_| self.closed);
        let misfits = unknown.map(|name| Misfit {
            argument: name.to_owned(),
            problem: match closest(name, free.iter().copied()) {
                Some(known) => format!("unknown argument; did you mean {known:?}?"),
                None => "unknown argument".to_owned(),
            },
        });
        misfits.collect()
    }

    fn unknown_names<'a>(&self, arguments: &'a [(String, Raw)]) -> impl Iterator<Item = &'a str> {
        let names = arguments.iter().map(|(name, _)| name.as_str());
        names.filter(|name| self.get(name).is_none())
    }

    /// Returns true if a violation is about the type of an argument, which the signature shows.
    fn is_wrong(&self, violation: &Violation, arguments: &[(String, Raw)]) -> bool {
        let (name, is_inside) = argument_of(violation);
        let value = arguments.iter().find(|(given, _)| *given == name);
        match (self.get(&name), value) {
            (Some(parameter), Some((_, value))) => !is_inside && !parameter.shape.may_be(value),
            _ => false,
        }
    }
}

fn partition<'v>(
    violations: impl IntoIterator<Item = &'v Violation>,
    is_one: impl Fn(&Violation) -> bool,
) -> (Vec<&'v Violation>, Vec<&'v Violation>) {
    violations.into_iter().partition(|it| is_one(it))
}

/// Returns true if a violation is about all arguments together, by one of these keywords.
fn is_of_whole(violation: &Violation, keywords: &[&str]) -> bool {
    let keyword = violation.rule.rsplit('/').next().unwrap_or_default();
    violation.pointer.is_empty() && keywords.contains(&keyword)
}

/// Returns the argument that a violation is about, and true if it is about a value inside of it.
fn argument_of(violation: &Violation) -> (String, bool) {
    let path = violation.pointer.trim_start_matches('/');
    let (name, is_inside) = match path.split_once('/') {
        Some((name, _)) => (name, true),
        None => (path, false),
    };
    (name.replace("~1", "/").replace("~0", "~"), is_inside)
}

#[cfg(all(test, feature = "validation"))]
mod tests {
    use super::*;
    use crate::parameters::parameters;
    use crate::{Checker, SchemaLimits, Verdict};

    fn check(schema: &str, arguments: &str) -> Vec<String> {
        let checker =
            Checker::compile(&Raw::parse(schema).expect("JSON"), &SchemaLimits::default());
        let arguments = Raw::parse(arguments).expect("JSON");
        let Verdict::Misfits(violations) = checker.check_text_now(&arguments) else {
            return Vec::new();
        };
        let misfits = parameters(schema).misfits(&violations, &arguments.members());
        let misfits = misfits.into_iter();
        misfits
            .map(|misfit| format!("{}: {}", misfit.argument, misfit.problem))
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

    #[test]
    fn what_a_signature_does_not_show_is_left_to_the_library_to_word() {
        let schema = r#"{"properties":{"n":{"type":"integer","minimum":1},"s":{"type":"string"}}}"#;
        assert_eq!(check(schema, r#"{"n":0}"#), [""; 0]);
        assert_eq!(
            check(schema, r#"{"n":0,"s":1}"#),
            ["s: expected string, found 1", "n: `/n` must be at least 1",]
        );
    }

    #[test]
    fn all_that_is_missing_is_named_also_beyond_the_library_s_bound() {
        let names: Vec<String> = (0..30).map(|n| format!("a{n}")).collect();
        let schema = serde_json::json!({"required": names}).to_string();
        assert_eq!(check(&schema, "{}").len(), 30);
    }
}
