//! Forms that a server asks the user to fill in.

use std::collections::HashSet;

use switchboard_wire::{ElicitMode, ElicitParams, Raw};

use super::field::Field;
use super::limits::ElicitLimits;
use super::problem::{Misread, Problem};
use super::{schema, secrets};

/// A form that a server asks the user to fill in: fields in the server's order.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    message: String,
    fields: Vec<Field>,
    /// The first field that asks for a secret.
    secret: Option<String>,
}

impl Form {
    /// Reads the form of a question. Fields are texts, numbers, booleans and choices; patterns are left
    /// to the server.
    ///
    /// # Errors
    /// Fails if the question has no form, or one that cannot be filled in or exceeds a limit.
    pub fn read(question: &ElicitParams, limits: &ElicitLimits) -> Result<Self, Misread> {
        if question.mode() != ElicitMode::Form {
            return Err(Misread::new("the question has no form"));
        }
        let message = question.message();
        if message.len() > limits.message_bytes {
            let most = limits.message_bytes;
            return Err(Misread::new(format!(
                "the message has more than {most} bytes"
            )));
        }
        let schema = question.requested_schema();
        let schema = schema.ok_or_else(|| Misread::new("the question has no requestedSchema"))?;
        if !schema.is_object() {
            return Err(Misread::new("the requestedSchema is no object"));
        }
        let properties = schema.member("properties");
        let properties = properties.unwrap_or_else(Raw::empty_object);
        if !properties.is_object() {
            return Err(Misread::new("the properties of the form are no object"));
        }
        let properties = properties.members();
        // The number first: no field of a form that is too long is read.
        if properties.len() > limits.fields {
            let most = limits.fields;
            return Err(Misread::new(format!(
                "the form has more than {most} fields"
            )));
        }
        let required = schema.member("required").map(|names| names.items());
        let required: HashSet<String> = required
            .unwrap_or_default()
            .iter()
            .filter_map(Raw::as_text)
            .collect();
        let mut names = HashSet::new();
        let (mut fields, mut secret) = (Vec::new(), None);
        for (name, schema) in &properties {
            if name.len() > limits.name_bytes {
                let most = limits.name_bytes;
                return Err(Misread::new(format!(
                    "a field has a name of more than {most} bytes"
                )));
            }
            // A second value would replace the first, and the user could not tell which one is meant.
            if !names.insert(name) {
                return Err(Misread::of_field(name, "is there twice"));
            }
            let field = schema::field(name, schema, required.contains(name), limits);
            let field = field.map_err(|error| Misread::of_field(name, &error.to_string()))?;
            // The formats come from the schema: a field keeps only those that it checks.
            if secret.is_none() && secrets::asks(&field, &schema::formats(schema)) {
                secret = Some(name.clone());
            }
            fields.push(field);
        }
        // Without such a field no answer would be complete.
        if let Some(missing) = required.iter().find(|name| !names.contains(name)) {
            let missing = switchboard_core::text::excerpt(missing, limits.name_bytes);
            return Err(Misread::of_field(&missing, "is required and not there"));
        }
        Ok(Self {
            message: message.to_owned(),
            fields,
            secret,
        })
    }

    /// Returns the server's message. Untrusted.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The fields, in the server's order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The field of a name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns the name of a field that asks for a secret, if there is one. Such a form should not be
    /// shown to the user: a server that needs a secret has to send them to a URL.
    ///
    /// The check looks at the words of a field's name, title and description, and at the format
    /// `password`. Booleans and choices never count as secrets.
    pub fn asks_for_secret(&self) -> Option<&str> {
        self.secret.as_deref()
    }

    /// Returns the defaults of the fields.
    pub fn defaults(&self) -> Vec<(String, Raw)> {
        let default = |field: &Field| Some((field.name.clone(), field.default.clone()?));
        self.fields.iter().filter_map(default).collect()
    }

    /// Makes an answer of values: an object, in the order of the fields, with every value as it is spelled. A field
    /// without a value is left out.
    ///
    /// # Errors
    /// With all that is wrong: values that a field does not take, required ones that are not there, and those that
    /// have no field.
    pub fn answer(&self, values: &[(String, Raw)]) -> Result<Raw, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut members = Vec::new();
        for field in &self.fields {
            match values.iter().find(|(name, _)| *name == field.name) {
                Some((name, value)) => match field.check(value) {
                    Ok(()) => members.push(format!("{}:{}", json_string(name), value.as_str())),
                    Err(problem) => problems.push(problem),
                },
                None if field.is_required => problems.push(field.problem("a value is required")),
                None => {}
            }
        }
        for (name, _) in values {
            if self.field(name).is_none() {
                problems.push(Problem::new(name, "the form has no such field"));
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let object = format!("{{{}}}", members.join(","));
        // Made of JSON values and names in quotes, so it is an object.
        Ok(Raw::parse(&object).unwrap_or_else(|_| Raw::empty_object()))
    }
}

fn json_string(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
