//! A rough line scanner for YAML that also works on broken files.

use std::ops::Range;

use super::{ValuePlace, is_number};

/// Returns the ranges of a YAML text that must not be shown.
pub(crate) fn mask(text: &str) -> Vec<Range<usize>> {
    let mut masks = Vec::new();
    let (mut start, mut before) = (0, "");
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end();
        let content = line.trim_start().trim_start_matches("- ").trim_start();
        let at = start + line.len() - content.len();
        let end = start + line.len();
        start += whole.len();
        let (key, value) = match content.split_once(':') {
            Some((key, value)) if is_key(key) && (value.is_empty() || value.starts_with(' ')) => {
                (key, value.trim_start())
            }
            _ => ("", content),
        };
        let bare = value.trim_matches(['"', '\'']);
        let place = ValuePlace {
            map: None,
            key,
            before: std::mem::replace(&mut before, bare),
            // Arguments are the items of lists; variables have names that say nothing.
            is_in_section: key == "cmd" || (key.is_empty() && line.trim_start().starts_with("- ")),
        };
        let is_comment = value.starts_with('#');
        // A block of text or a flow collection may contain anything.
        let is_open = value.starts_with(['|', '>', '{', '[', '&', '*', '!']);
        let is_shown = value.is_empty() || is_number(value) || place.shows(bare);
        if is_comment || is_open || !is_shown {
            masks.push(at.max(end - value.len())..end);
        }
    }
    masks.retain(|mask| !mask.is_empty());
    masks
}

fn is_key(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-. ".contains(c);
    !text.is_empty() && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str) -> String {
        let mut out = text.to_owned();
        for range in mask(text).into_iter().rev() {
            out.replace_range(range, "***");
        }
        out
    }

    #[test]
    fn secrets_are_masked_and_the_rest_is_shown() {
        let text = "extensions:\n  a:\n    cmd: npx\n    args:\n    - --token\n    - hunter2x\n    \
                    envs:\n      API_KEY: hunter2y\n      LEVEL: info\n    # old: z\n";
        let shown = "extensions:\n  a:\n    cmd: npx\n    args:\n    - --token\n    - ***\n    \
                     envs:\n      API_KEY: ***\n      LEVEL: ***\n    ***\n";
        assert_eq!(masked(text), shown);
    }
}
