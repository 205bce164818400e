//! A claim taken apart into single facts, and what differs between two.

use switchboard_core::mask::{self, Fact, MaskPolicy};

use super::{Claim, path};

/// One thing that differs from what was approved. Secrets are masked in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Difference {
    /// Where it is: a JSON pointer into the entry, `program`, `references`, `env_file` for what the file of
    /// variables sets, or `content of PATH`.
    pub pointer: String,
    /// What was approved, as JSON; nothing where it was not there.
    pub before: Option<String>,
    /// What is there now, as JSON; nothing where it is gone.
    pub after: Option<String>,
}

/// Takes a whole claim apart, for the record.
pub(super) fn of_claim(claim: &Claim) -> Vec<Fact> {
    let mut facts = mask::facts(&claim.entry, MaskPolicy::Lock);
    if let Some(program) = &claim.program {
        facts.push(Fact::outside("program", &path::to_text(program), None));
    }
    let mut references = claim.references.clone();
    references.sort_unstable();
    references.dedup();
    if !references.is_empty() {
        let (shown, all) = (
            mask::references(&references).join(" "),
            references.join(" "),
        );
        let hidden = (shown != all).then_some(all);
        facts.push(Fact::outside("references", &shown, hidden));
    }
    if let Some(file) = &claim.env_file {
        let shown = match &file.names {
            Ok(names) => names.join(" "),
            Err(why) => format!("cannot be read: {why}"),
        };
        // What the variables are set to is told apart, and kept nowhere.
        facts.push(Fact::outside(
            "env_file",
            &shown,
            file.content.map(|hash| hash.to_string()),
        ));
    }
    for content in &claim.contents {
        let name = format!("content of {}", path::to_text(&content.path));
        facts.push(Fact::outside(name, &content.shown(), None));
    }
    facts
}
