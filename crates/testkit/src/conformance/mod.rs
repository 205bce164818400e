//! The fixture of the official conformance suite's server scenarios.
//!
//! With `Options::conformance` the server offers what the suite asks for by name, in place of its
//! usual tools, prompts and resources, and in both eras. Everything here is data: `tools`, `prompts`
//! and `resources` say what is offered, and `asking` what a client is asked. `service` plays it, with
//! the machinery that all other tools use.

mod asking;
mod content;
mod prompts;
mod resources;
mod tools;

pub(crate) use asking::{Ask, Asking, InputResponses};
pub(crate) use prompts::asking as prompt_asking;
pub(crate) use resources::from_template;
#[cfg(feature = "http")]
pub(crate) use tools::RECONNECTING;
pub(crate) use tools::{Behaviour, Script, ScriptStep, TOGGLED, behaviour};

use crate::catalog::Catalog;
use crate::completion::Of;

/// Everything that the fixture offers.
pub(crate) fn catalog() -> Catalog {
    Catalog {
        tools: tools::all(),
        resources: resources::all(),
        templates: resources::templates(),
        prompts: prompts::all(),
    }
}

/// Returns all values of an argument that can be completed.
pub(crate) fn completions(of: Of<'_>, argument: &str) -> Vec<String> {
    let values: &[&str] = match (of, argument) {
        (Of::Prompt(prompts::WITH_ARGUMENTS), "arg1") => &["paris", "park", "party", "test"],
        (Of::Prompt(prompts::WITH_ARGUMENTS), "arg2") => &["one", "two"],
        (Of::Template(resources::TEMPLATE), "id") => &["123", "456"],
        _ => &[],
    };
    values.iter().map(|value| (*value).to_owned()).collect()
}
