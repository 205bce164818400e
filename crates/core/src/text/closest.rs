//! Suggestions for misspelled names ("did you mean").

use strsim::osa_distance;

/// Longer names are not compared: the work grows with the square of the length, and servers choose the
/// names.
const LONGEST: usize = 128;

/// Returns the candidate that `name` is most likely a misspelling of.
///
/// Counts insertions, deletions, replacements and swaps of neighbours, ignoring ASCII case and the
/// difference between `-` and `_`. At most a third of the longer name's characters may differ, and never
/// more than four. Ties are broken by exact spelling, then alphabetically, so the order of the candidates
/// does not matter.
pub fn closest<'c>(
    name: &str,
    candidates: impl IntoIterator<Item = &'c (impl AsRef<str> + ?Sized + 'c)>,
) -> Option<&'c str> {
    let (wanted, wanted_length) = fold_name(name)?;
    candidates
        .into_iter()
        .map(AsRef::as_ref)
        .filter_map(|candidate: &str| {
            let (other, other_length) = fold_name(candidate)?;
            let bound = (wanted_length.max(other_length) / 3).min(4);
            // The difference in length is a lower bound, which saves most comparisons.
            if wanted_length.abs_diff(other_length) > bound {
                return None;
            }
            let edits = osa_distance(&wanted, &other);
            (edits <= bound).then_some((edits, candidate != name, candidate))
        })
        .min()
        .map(|(_, _, candidate)| candidate)
}

/// Removes the differences that are ignored, and counts the characters; `None` for a name that is too
/// long to compare.
fn fold_name(name: &str) -> Option<(String, usize)> {
    let fold = |c: char| match c {
        '-' => '_',
        _ => c.to_ascii_lowercase(),
    };
    // A character has at most four bytes, so this bounds the work before counting.
    if name.len() > LONGEST * 4 {
        return None;
    }
    let length = name.chars().count();
    (length <= LONGEST).then(|| (name.chars().map(fold).collect(), length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_edit_counts_once() {
        // Names of three to five characters may differ by one edit.
        for slip in ["eco", "eccho", "edho", "ehco", "ceho"] {
            assert_eq!(closest(slip, &["echo"]), Some("echo"), "{slip}");
        }
        for two in ["ec", "eddo", "cehoo"] {
            assert_eq!(closest(two, &["echo"]), None, "{two}");
        }
        assert_eq!(closest("kitten", &["sitting"]), None);
        assert_eq!(closest("k\u{e4}se", &["kase"]), Some("kase"));
    }

    #[test]
    fn a_slip_of_the_finger_finds_the_tool() {
        let tools = ["echo", "get_time", "add", "slow_operation"];
        assert_eq!(closest("ecoh", &tools), Some("echo"));
        assert_eq!(closest("ad", &tools), Some("add"));
        assert_eq!(closest("get-tmie", &tools), Some("get_time"));
        assert_eq!(closest("GetTime", &tools), Some("get_time"));
        assert_eq!(closest("slow_opertaion", &tools), Some("slow_operation"));
    }

    #[test]
    fn a_different_word_finds_nothing() {
        let tools = ["echo", "get_time", "add"];
        assert_eq!(closest("delete_everything", &tools), None);
        assert_eq!(closest("x", &tools), None);
        assert_eq!(closest("", &tools), None);
        assert_eq!(closest("b", &["a"]), None);
        assert_eq!(closest("echo", &[] as &[&str]), None);
    }

    #[test]
    fn at_most_a_third_and_at_most_four_may_differ() {
        assert_eq!(closest("abcdXX", &["abcdef"]), Some("abcdef"));
        assert_eq!(closest("abcXXX", &["abcdef"]), None);
        let long = "abcdefghijklmnopqrstuvwxyz";
        assert_eq!(closest("....efghijklmnopqrstuvwxyz", &[long]), Some(long));
        assert_eq!(closest(".....fghijklmnopqrstuvwxyz", &[long]), None);
    }

    #[test]
    fn ties_do_not_depend_on_the_order() {
        assert_eq!(closest("cat", &["rat", "bat"]), Some("bat"));
        assert_eq!(closest("cat", &["bat", "rat"]), Some("bat"));
        assert_eq!(closest("Echo", &["echo", "Echo"]), Some("Echo"));
        let owned = vec![String::from("rat"), String::from("bat")];
        assert_eq!(closest("cat", &owned), Some("bat"));
    }

    #[test]
    fn names_are_compared_up_to_a_length() {
        let fits = "n".repeat(LONGEST);
        let over = "n".repeat(LONGEST + 1);
        assert_eq!(closest(&fits, &[fits.as_str()]), Some(fits.as_str()));
        assert_eq!(closest(&over, &[over.as_str()]), None);
        assert_eq!(closest(&fits, &[over.as_str()]), None);
    }
}
