//! Members of an object schema, for people.

use switchboard_wire::Raw;

use super::shape::resolve;
use super::{Parameters, Shape};

/// Maximum number of references that are followed in a row.
const MOST_STEPS: usize = 8;

/// A member of an object.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Detail {
    /// Its name.
    pub name: String,
    /// True if an object must have it.
    pub required: bool,
    /// The values that it may have.
    pub shape: Shape,
    /// The server's description.
    pub description: Option<String>,
    /// The default value.
    pub default: Option<Raw>,
    /// The schema of the member, with its reference followed.
    pub(super) schema: Raw,
}

/// Reads the members of an object schema, in its order.
pub fn details(schema: &Raw) -> Vec<Detail> {
    details_within(schema, schema)
}

/// Reads the members of an inner object; references point into `root`.
pub(super) fn details_within(schema: &Raw, root: &Raw) -> Vec<Detail> {
    let properties = schema.member("properties");
    let list = Parameters::read(schema).list.into_iter();
    let details = list.map(|parameter| {
        let own = properties
            .as_ref()
            .and_then(|properties| properties.member(&parameter.name))
            .unwrap_or_else(Raw::empty_object);
        let target = follow(&own, root);
        // A keyword beside a reference is about this member; the target's is about all members of that type.
        let said = |key: &str| own.member(key).or_else(|| target.member(key));
        Detail {
            description: said("description").and_then(|text| text.as_text()),
            default: said("default"),
            name: parameter.name,
            required: parameter.required,
            shape: Shape::read(&own, root),
            schema: target,
        }
    });
    details.collect()
}

/// Returns the schema that a reference leads to, or the schema itself.
pub(super) fn follow(schema: &Raw, root: &Raw) -> Raw {
    let mut schema = schema.clone();
    for _ in 0..MOST_STEPS {
        let reference = schema.member("$ref").and_then(|text| text.as_text());
        match reference.and_then(|reference| resolve(root, &reference)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

impl Detail {
    /// Formats the type, as in `string, required` or `integer, default 3`.
    pub fn words(&self) -> String {
        let mut words = vec![self.shape.describe_all()];
        words.extend(self.required.then(|| "required".to_owned()));
        let default = self.default.as_ref();
        words.extend(default.map(|default| format!("default {}", default.as_str())));
        words.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_member_is_told_of() {
        let schema = Raw::parse(
            r##"{"properties":{
                "a":{"type":"string","description":"The first."},
                "b":{"$ref":"#/$defs/B","default":3},
                "c":{"enum":[1,2,3,4,5,6,7,8]}},
                "required":["a","z"],
                "$defs":{"B":{"type":"integer","description":"Any B."}}}"##,
        );
        let all = details(&schema.unwrap());
        let told: Vec<(&str, String, Option<&str>)> = all
            .iter()
            .map(|one| (one.name.as_str(), one.words(), one.description.as_deref()))
            .collect();
        assert_eq!(
            told,
            [
                ("a", "string, required".to_owned(), Some("The first.")),
                ("b", "integer, default 3".to_owned(), Some("Any B.")),
                ("c", "1|2|3|4|5|6|7|8".to_owned(), None),
                ("z", "any, required".to_owned(), None),
            ]
        );
    }

    #[test]
    fn a_reference_to_itself_ends() {
        let schema = Raw::parse(r##"{"properties":{"a":{"$ref":"#/properties/a"}}}"##).unwrap();
        assert_eq!(details(&schema).len(), 1);
    }
}
