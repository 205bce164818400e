//! A tool's parameters, read from its schema for people.
//!
//! [`Parameters`] is a simplified reading of an `inputSchema`. It gives texts a type, shows a
//! [signature](Parameters::signature) and words violations by that signature ([`Parameters::misfits`]);
//! [`details`] and [`example`] are for a page about the tool. It is not a validator: that is
//! [`Checker`](crate::Checker).
//!
//! ```
//! use switchboard_schema::parameters::{Parameters, example, to_object};
//! use switchboard_wire::Raw;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let schema = Raw::parse(
//!     r#"{"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}"#,
//! )?;
//! let parameters = Parameters::read(&schema);
//! assert_eq!(parameters.signature("forecast"), "forecast(city: string, days?: integer)");
//! assert_eq!(to_object(&example(&schema)), r#"{"city":"hello"}"#);
//! # Ok(())
//! # }
//! ```

mod detail;
mod example;
mod json_type;
mod misfits;
mod shape;
mod signature;

pub use detail::{Detail, details};
pub use example::example;
pub use json_type::JsonType;
pub use misfits::Misfit;
pub use shape::Shape;

use switchboard_wire::Raw;

/// The parameters of a tool, in the order of its schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    list: Vec<Parameter>,
    /// True if the schema forbids other arguments.
    closed: bool,
}

/// One parameter of a tool.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// True if a call must have it.
    pub required: bool,
    /// The values that it may have.
    pub shape: Shape,
}

impl Parameters {
    /// Reads the simple parts of a schema.
    pub fn read(schema: &Raw) -> Self {
        let required: Vec<String> = schema
            .member("required")
            .map(|names| names.items().iter().filter_map(Raw::as_text).collect())
            .unwrap_or_default();
        let properties = schema.member("properties").map(|all| all.members());
        let mut list: Vec<Parameter> = Vec::new();
        for (name, property) in properties.unwrap_or_default() {
            let shape = Shape::read(&property, schema);
            let required = required.contains(&name);
            // Of duplicate names, JSON parsers keep the last.
            list.retain(|earlier| earlier.name != name);
            list.push(Parameter {
                name,
                required,
                shape,
            });
        }
        for name in required {
            if !list.iter().any(|known| known.name == name) {
                let shape = Shape::default();
                list.push(Parameter {
                    name,
                    required: true,
                    shape,
                });
            }
        }
        let forbids = |key: &str| {
            schema
                .member(key)
                .is_some_and(|value| value.as_str() == "false")
        };
        // `patternProperties` may allow names that the list does not have.
        let closed =
            forbids("additionalProperties") && schema.member("patternProperties").is_none();
        Self { list, closed }
    }

    /// Returns all parameters.
    pub fn iter(&self) -> impl Iterator<Item = &Parameter> {
        self.list.iter()
    }

    /// Returns the parameter of that name.
    pub fn get(&self, name: &str) -> Option<&Parameter> {
        self.list.iter().find(|parameter| parameter.name == name)
    }
}

/// Writes arguments as a JSON object. Values keep their spelling.
pub fn to_object(arguments: &[(String, Raw)]) -> String {
    let members: Vec<String> = arguments
        .iter()
        .map(|(key, value)| {
            let key = serde_json::Value::from(key.as_str());
            format!("{key}:{}", value.as_str())
        })
        .collect();
    format!("{{{}}}", members.join(","))
}

#[cfg(test)]
fn parameters(schema: &str) -> Parameters {
    Parameters::read(&Raw::parse(schema).unwrap())
}
