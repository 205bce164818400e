//! The rules for tools in a conversation.
//!
//! 2025-11-25 sampling: a message with results of tools has nothing else in it, and every use of a tool is
//! answered by exactly one result, in the message right after it.

use std::collections::BTreeSet;

use super::model::{Part, Role, Turn};

/// Checks the rules and returns the largest number of consecutive tool rounds.
///
/// # Errors
/// Fails if a rule is broken, with a message for the server.
pub fn check_rounds(turns: &[Turn]) -> Result<usize, String> {
    let (mut row, mut most) = (0_usize, 0_usize);
    // Uses that wait for their results. The APIs refuse prompts in which they do not pair up.
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (at, turn) in turns.iter().enumerate() {
        let at = at + 1;
        let uses = turn.parts.iter().filter_map(|part| match part {
            Part::Use { id, .. } => Some(id.as_str()),
            _ => None,
        });
        let results = turn.parts.iter().filter_map(|part| match part {
            Part::Result { id, .. } => Some(id.as_str()),
            _ => None,
        });
        let (uses, results): (Vec<&str>, Vec<&str>) = (uses.collect(), results.collect());
        if turn.role == Role::User && !uses.is_empty() {
            return Err(format!("message {at} is the user's and uses a tool"));
        }
        if turn.role == Role::Assistant && !results.is_empty() {
            return Err(format!(
                "message {at} is the assistant's and has a result of a tool"
            ));
        }
        if !results.is_empty() && results.len() < turn.parts.len() {
            return Err(format!(
                "message {at} has something else beside results of tools"
            ));
        }
        // Results close uses of the turn before, so they are taken before new uses are opened.
        for id in &results {
            if !open.remove(id) {
                return Err(format!(
                    "a result in message {at} answers no use in the message before it, or answers it twice"
                ));
            }
        }
        // Each use is answered in the very next message, or the prompt is refused.
        if !open.is_empty() {
            return Err(format!("a use of a tool has no result in message {at}"));
        }
        for id in &uses {
            if !open.insert(id) {
                return Err(format!(
                    "two uses of tools in message {at} have the same id"
                ));
            }
        }
        match (uses.is_empty(), results.is_empty()) {
            (false, _) => row += 1,
            // Results alone neither continue nor end a row: the next turn decides.
            (true, false) => {}
            (true, true) => row = 0,
        }
        most = most.max(row);
    }
    if open.is_empty() {
        Ok(most)
    } else {
        Err("the last message uses a tool, and there is no result".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Raw;

    use super::*;

    /// `u` and `a` for texts; `uses` and `results` by their ids.
    fn turn(role: Role, uses: &[&str], results: &[&str], text: bool) -> Turn {
        let mut parts: Vec<Part> = Vec::new();
        parts.extend(text.then(|| Part::Text("x".to_owned())));
        parts.extend(uses.iter().map(|id| Part::Use {
            id: (*id).to_owned(),
            name: "t".to_owned(),
            input: Raw::empty_object(),
        }));
        parts.extend(results.iter().map(|id| Part::Result {
            id: (*id).to_owned(),
            parts: Vec::new(),
            is_error: false,
        }));
        Turn { role, parts }
    }

    fn says() -> Turn {
        turn(Role::User, &[], &[], true)
    }

    fn asks(uses: &[&str]) -> Turn {
        turn(Role::Assistant, uses, &[], true)
    }

    fn answers(results: &[&str]) -> Turn {
        turn(Role::User, &[], results, false)
    }

    #[test]
    fn rounds_in_a_row_are_counted() {
        assert_eq!(check_rounds(&[]), Ok(0));
        assert_eq!(check_rounds(&[says()]), Ok(0));
        let round = |id| [asks(&[id]), answers(&[id])];
        let turns = [vec![says()], round("1").to_vec(), round("2").to_vec()].concat();
        assert_eq!(check_rounds(&turns), Ok(2));
        // An id may come back in another round, and a text between two rounds begins anew.
        let turns = [round("1").to_vec(), vec![says()], round("1").to_vec()].concat();
        assert_eq!(check_rounds(&turns), Ok(1));
        // Results may come in any order.
        assert_eq!(
            check_rounds(&[says(), asks(&["1", "2"]), answers(&["2", "1"])]),
            Ok(1)
        );
    }

    #[test]
    fn what_is_not_balanced_is_told() {
        for (turns, told) in [
            (vec![says(), asks(&["1"])], "the last message"),
            (vec![asks(&["1"]), says()], "no result in message 2"),
            (
                vec![asks(&["1", "2"]), answers(&["1"])],
                "no result in message 2",
            ),
            (vec![asks(&["1"]), answers(&["1", "1"])], "twice"),
            (vec![asks(&["1"]), answers(&["2"])], "answers no use"),
            (vec![answers(&["1"])], "answers no use"),
            (
                vec![asks(&["1"]), answers(&["1"]), answers(&["1"])],
                "answers no use",
            ),
            (vec![asks(&["1", "1"]), answers(&["1"])], "the same id"),
            (
                vec![asks(&["1"]), turn(Role::User, &[], &["1"], true)],
                "something else",
            ),
            (vec![turn(Role::User, &["1"], &[], false)], "the user's"),
            (
                vec![turn(Role::Assistant, &[], &["1"], false)],
                "the assistant's",
            ),
        ] {
            let error = check_rounds(&turns).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }
}
