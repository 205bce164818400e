//! Lists of texts.

use super::placed::Placed;
use super::wrong;
use crate::report::Report;
use crate::tree::{Kind, Node};

/// A list of texts; nothing where it is none, or not all of it.
pub(super) fn texts(
    node: &Node,
    what: &str,
    expected: &str,
    report: &mut Report,
) -> Option<Vec<Placed>> {
    let Kind::List(items) = &node.kind else {
        wrong(what, node, expected, report);
        return None;
    };
    let mut is_whole = true;
    let mut texts = Vec::new();
    for item in items {
        match item.text() {
            Some(_) => texts.push(Placed::of(item, report)),
            None => {
                wrong(&format!("an item of {what}"), item, "a text", report);
                is_whole = false;
            }
        }
    }
    is_whole.then_some(texts)
}
