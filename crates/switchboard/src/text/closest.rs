//! Did you mean.

/// Names longer than this are not compared: the work grows with the square of the length, and
/// servers choose the names.
const LONGEST: usize = 128;

/// Finds the candidate that `name` is most likely a misspelling of.
///
/// Counts insertions, deletions, replacements and swaps of neighbours, without regard to ASCII case
/// and to `-` against `_`. At most a third of the longer name's characters may differ, and never
/// more than four. Equal counts are decided by spelling, then by alphabet, so the order of
/// the candidates does not matter.
pub fn closest<'c>(
    name: &str,
    candidates: impl IntoIterator<Item = &'c (impl AsRef<str> + ?Sized + 'c)>,
) -> Option<&'c str> {
    let wanted = folded(name)?;
    candidates
        .into_iter()
        .map(AsRef::as_ref)
        .filter_map(|candidate: &str| {
            let other = folded(candidate)?;
            let bound = (wanted.len().max(other.len()) / 3).min(4);
            // The difference in length is a lower bound, and saves most comparisons.
            if wanted.len().abs_diff(other.len()) > bound {
                return None;
            }
            let edits = distance(&wanted, &other);
            (edits <= bound).then_some((edits, candidate != name, candidate))
        })
        .min()
        .map(|(_, _, candidate)| candidate)
}

/// Drops the differences that do not count; nothing for a name that is too long to compare.
fn folded(name: &str) -> Option<Vec<char>> {
    let fold = |c: char| match c {
        '-' => '_',
        _ => c.to_ascii_lowercase(),
    };
    // A character has at most four bytes, so this bounds the work before the walk.
    if name.len() > LONGEST * 4 {
        return None;
    }
    let chars: Vec<char> = name.chars().map(fold).collect();
    (chars.len() <= LONGEST).then_some(chars)
}

/// Counts the edits between two names, a swap of neighbours being one (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut older: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut above_char = None;
    for (row, &from) in a.iter().enumerate() {
        let mut current = Vec::with_capacity(b.len() + 1);
        let mut left = row + 1;
        current.push(left);
        let mut left_char = None;
        for (column, (&to, diagonal)) in b.iter().zip(above.windows(2)).enumerate() {
            let &[upper_left, upper] = diagonal else {
                break;
            };
            let mut best = (upper_left + usize::from(from != to))
                .min(upper + 1)
                .min(left + 1);
            if above_char == Some(to) && left_char == Some(from) {
                let swapped = column.checked_sub(1).and_then(|at| older.get(at));
                best = best.min(swapped.map_or(best, |edits| edits + 1));
            }
            current.push(best);
            left = best;
            left_char = Some(to);
        }
        above_char = Some(from);
        older = std::mem::replace(&mut above, current);
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(a: &str, b: &str) -> usize {
        distance(&folded(a).unwrap(), &folded(b).unwrap())
    }

    #[test]
    fn every_kind_of_edit_counts_once() {
        assert_eq!(edits("echo", "echo"), 0);
        assert_eq!(edits("echo", "eco"), 1);
        assert_eq!(edits("echo", "eccho"), 1);
        assert_eq!(edits("echo", "edho"), 1);
        assert_eq!(edits("echo", "ehco"), 1);
        assert_eq!(edits("echo", "ceho"), 1);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("abc", ""), 3);
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("ab", "ba"), 1);
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
