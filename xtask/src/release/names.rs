//! Whether the names that releases use are still free where they would be published.

use std::process::Command;

use super::wheel;
use super::{NAME, npm, platform};
use crate::tool;

/// Prints, for each name, whether a registry has it. A name that is taken is ours only if we have published it: that
/// is for a person to judge.
pub(super) fn report() {
    println!("names");
    let mut cargo = tool::cargo();
    tell(
        "crates.io",
        NAME,
        cargo.args(["info", "--registry", "crates-io", NAME]),
    );
    let mut names = vec![NAME.to_owned()];
    names.extend(platform::ALL.map(npm::package_of));
    for name in names {
        tell("npm", &name, tool::npm().args(["view", &name, "version"]));
    }
    let mut pip = Command::new(wheel::program("python"));
    tell(
        "PyPI",
        NAME,
        pip.args(["-m", "pip", "index", "versions", NAME]),
    );
}

fn tell(registry: &str, name: &str, question: &mut Command) {
    let state = match tool::output(question) {
        Ok(_) => "taken",
        Err(told) if is_missing(&told) => "free",
        Err(_) => "the registry did not answer",
    };
    println!("  {registry} {name}: {state}");
}

/// Returns true if a registry said that it has no such package.
fn is_missing(told: &str) -> bool {
    ["E404", "could not find", "No matching distribution"]
        .iter()
        .any(|sign| told.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registry_that_does_not_answer_is_no_free_name() {
        assert!(is_missing("npm error code E404"));
        assert!(is_missing("error: could not find `x` in registry"));
        assert!(!is_missing("npm error code ENOTFOUND"));
    }
}
