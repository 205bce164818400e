//! Changes of the catalog while the server runs.

use serde_json::{Map, Value};

use crate::catalog::Catalog;
use crate::prompts::{Prompt, block};
use crate::resources::Resource;
use crate::tools::{Kind, grown};

type GrowthArguments = Map<String, Value>;

fn text<'a>(arguments: &'a GrowthArguments, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str)
}

impl Catalog {
    /// Adds an item that does not exist yet.
    pub(crate) fn add(&mut self, kind: Kind, arguments: &GrowthArguments) -> Result<(), String> {
        let name = text(arguments, kind.key()).unwrap_or_default();
        if self.definition(kind, name).is_some() {
            return Err(format!("there is a {} {name} already", kind.word()));
        }
        let described = |otherwise| text(arguments, "description").unwrap_or(otherwise);
        let words = text(arguments, "text");
        match kind {
            Kind::Tool => self.tools.push(grown(name, arguments)),
            Kind::Prompt => {
                let description = described("Says what it was told to say");
                let content = arguments.get("content").cloned();
                let content = content.unwrap_or_else(|| block(words.unwrap_or(name)));
                self.prompts.push(Prompt::fixed(name, description, content));
            }
            Kind::Resource => {
                let description = described("Holds what it was told to hold");
                let words = words.unwrap_or(name);
                let mut resource = Resource::new(name, name, "text/plain", description, words);
                if let Some(members) = arguments.get("definition").and_then(Value::as_object) {
                    resource.define(members);
                }
                self.resources.push(resource);
            }
        }
        Ok(())
    }

    /// Removes an existing item.
    pub(crate) fn remove(&mut self, kind: Kind, arguments: &GrowthArguments) -> Result<(), String> {
        let name = text(arguments, kind.key()).unwrap_or_default();
        if self.definition(kind, name).is_none() {
            return Err(missing(kind, name));
        }
        match kind {
            Kind::Tool => self.tools.retain(|tool| tool.name != name),
            Kind::Prompt => self.prompts.retain(|prompt| prompt.name != name),
            Kind::Resource => self.resources.retain(|resource| resource.uri != name),
        }
        Ok(())
    }

    /// Changes the definition of an existing item.
    pub(crate) fn change(&mut self, kind: Kind, arguments: &GrowthArguments) -> Result<(), String> {
        let name = text(arguments, kind.key()).unwrap_or_default();
        let definition = self.definition(kind, name).and_then(Value::as_object_mut);
        let definition = definition.ok_or_else(|| missing(kind, name))?;
        for (argument, member) in [("description", "description"), ("schema", "inputSchema")] {
            if let Some(value) = arguments.get(argument) {
                definition.insert(member.to_owned(), value.clone());
            }
        }
        Ok(())
    }

    /// Changes the text of a resource. An unknown URI is ignored: it may be below a known one.
    pub(crate) fn touch(&mut self, arguments: &GrowthArguments) {
        let uri = text(arguments, "uri").unwrap_or_default();
        let resource = self.resources.iter_mut().find(|known| known.uri == uri);
        if let Some((resource, text)) = resource.zip(text(arguments, "text")) {
            resource.hold(text);
        }
    }

    fn definition(&mut self, kind: Kind, name: &str) -> Option<&mut Value> {
        match kind {
            Kind::Tool => {
                let tool = self.tools.iter_mut().find(|tool| tool.name == name)?;
                Some(&mut tool.definition)
            }
            Kind::Prompt => {
                let prompt = self.prompts.iter_mut().find(|prompt| prompt.name == name)?;
                Some(&mut prompt.definition)
            }
            Kind::Resource => {
                let mut resources = self.resources.iter_mut();
                let resource = resources.find(|resource| resource.uri == name)?;
                Some(&mut resource.definition)
            }
        }
    }
}

fn missing(kind: Kind, name: &str) -> String {
    format!("there is no {} {name}", kind.word())
}
