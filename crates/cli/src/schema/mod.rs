//! A tool's parameters, read from its schema.
//!
//! [`Parameters`] is a simplified reading of the schema with three uses: to type `key=value`, to show a
//! [signature](Parameters::signature), and to word violations by that signature ([`Parameters::misfits`]). It
//! is not a validator: the library checks arguments before it sends them.

mod detail;
mod example;
mod kind;
mod misfits;
mod shape;
mod signature;

pub(crate) use detail::{Detail, details};
pub(crate) use example::example;
pub(crate) use kind::Kind;
pub(crate) use misfits::Misfit;
pub(crate) use shape::Shape;

use switchboard::protocol::Raw;

/// The parameters of a tool, in the order of its schema.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameters {
    list: Vec<Parameter>,
    /// True if the schema forbids other arguments.
    closed: bool,
}

/// One parameter of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) shape: Shape,
}

impl Parameters {
    /// Reads the simple parts of a schema.
    pub(crate) fn read(schema: &Raw) -> Self {
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
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Parameter> {
        self.list.iter()
    }

    /// Returns the parameter of that name.
    pub(crate) fn get(&self, name: &str) -> Option<&Parameter> {
        self.list.iter().find(|parameter| parameter.name == name)
    }
}

#[cfg(test)]
pub(crate) fn parameters(schema: &str) -> Parameters {
    Parameters::read(&Raw::parse(schema).unwrap())
}

/// Checks arguments as the library does, and words what it finds.
#[cfg(test)]
pub(crate) fn misfits(schema: &str, arguments: &[(String, Raw)]) -> Vec<String> {
    use switchboard::schema::{Bounds, Checker, Verdict};
    let checker = Checker::compile(&Raw::parse(schema).unwrap(), &Bounds::default());
    let object = Raw::parse(&crate::values::object(arguments)).unwrap();
    let Verdict::Misfits(violations) = checker.check_text_now(&object) else {
        return Vec::new();
    };
    let misfits = parameters(schema).misfits(&violations, arguments);
    let misfits = misfits.into_iter();
    misfits
        .map(|misfit| format!("{}: {}", misfit.argument, misfit.what))
        .collect()
}
