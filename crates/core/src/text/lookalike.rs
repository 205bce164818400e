//! Detects names that can be mistaken for another.

/// Longer names are not compared letter by letter.
const LONGEST: usize = 128;

/// The shortest name for which a difference of one letter counts: `a1` and `a2` are two names.
const SHORTEST: usize = 4;

/// Characters of other scripts or forms that look like a Latin letter: Latin without a dot, Greek,
/// Cyrillic, Armenian, Cherokee. Sorted, for binary search.
#[rustfmt::skip]
const PAIRS: &[(char, char)] = &[
    ('\u{0131}', 'i'), ('\u{0237}', 'j'), ('\u{0251}', 'a'), ('\u{0261}', 'g'), ('\u{0269}', 'i'),
    ('\u{0391}', 'A'), ('\u{0392}', 'B'), ('\u{0395}', 'E'), ('\u{0396}', 'Z'), ('\u{0397}', 'H'),
    ('\u{0399}', 'I'), ('\u{039a}', 'K'), ('\u{039c}', 'M'), ('\u{039d}', 'N'), ('\u{039f}', 'O'),
    ('\u{03a1}', 'P'), ('\u{03a4}', 'T'), ('\u{03a5}', 'Y'), ('\u{03a7}', 'X'), ('\u{03b1}', 'a'),
    ('\u{03b3}', 'y'), ('\u{03b9}', 'i'), ('\u{03bd}', 'v'), ('\u{03bf}', 'o'), ('\u{03c1}', 'p'),
    ('\u{03c4}', 't'), ('\u{03c5}', 'u'), ('\u{03c7}', 'x'), ('\u{03c9}', 'w'), ('\u{0401}', 'E'),
    ('\u{0405}', 'S'), ('\u{0406}', 'I'), ('\u{0407}', 'I'), ('\u{0408}', 'J'), ('\u{0410}', 'A'),
    ('\u{0412}', 'B'), ('\u{0415}', 'E'), ('\u{041a}', 'K'), ('\u{041c}', 'M'), ('\u{041d}', 'H'),
    ('\u{041e}', 'O'), ('\u{0420}', 'P'), ('\u{0421}', 'C'), ('\u{0422}', 'T'), ('\u{0425}', 'X'),
    ('\u{0430}', 'a'), ('\u{0435}', 'e'), ('\u{043a}', 'k'), ('\u{043c}', 'm'), ('\u{043d}', 'h'),
    ('\u{043e}', 'o'), ('\u{0440}', 'p'), ('\u{0441}', 'c'), ('\u{0442}', 't'), ('\u{0443}', 'y'),
    ('\u{0445}', 'x'), ('\u{0451}', 'e'), ('\u{0455}', 's'), ('\u{0456}', 'i'), ('\u{0457}', 'i'),
    ('\u{0458}', 'j'), ('\u{04bb}', 'h'), ('\u{04cf}', 'l'), ('\u{0501}', 'd'), ('\u{051b}', 'q'),
    ('\u{051d}', 'w'), ('\u{0570}', 'h'), ('\u{0578}', 'n'), ('\u{057d}', 'u'), ('\u{0585}', 'o'),
    ('\u{13a0}', 'D'), ('\u{13a2}', 'T'), ('\u{13aa}', 'A'), ('\u{13b3}', 'W'), ('\u{13bb}', 'H'),
    ('\u{13c0}', 'G'), ('\u{13de}', 'L'), ('\u{13e2}', 'P'),
];

/// The similarity of two names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// They look the same but consist of different characters.
    Same,
    /// They differ by one letter that is replaced, added, missing or swapped with its neighbour.
    OneLetter,
}

/// Returns the similarity of two names; `None` if they are equal, or not alike.
pub fn likeness(name: &str, other: &str) -> Option<Likeness> {
    if name == other || name.len() > 4 * LONGEST || other.len() > 4 * LONGEST {
        return None;
    }
    // Compare what a reader sees, not the characters.
    let (one, two) = (skeleton(name), skeleton(other));
    if one == two {
        return Some(Likeness::Same);
    }
    let (one, two): (Vec<char>, Vec<char>) = (one.chars().collect(), two.chars().collect());
    let is_long = one.len().min(two.len()) >= SHORTEST;
    (is_long && is_one_edit(&one, &two)).then_some(Likeness::OneLetter)
}

/// Returns the Latin reading of a name in which letters of another script pass for Latin ones; `None`
/// for any other name.
pub fn skeleton_if_foreign(name: &str) -> Option<String> {
    let is_foreign = |c: char| !c.is_ascii() && latin(c).is_some();
    if !name.chars().any(is_foreign) {
        return None;
    }
    let read: String = name.chars().map(|c| latin(c).unwrap_or(c)).collect();
    // Mixed with Latin, or entirely readable as Latin; other words of another script are just words.
    let has_latin = name.chars().any(|c| c.is_ascii_alphabetic());
    (has_latin || read.is_ascii()).then_some(read)
}

/// Returns the appearance of a name: lookalikes become one letter, case and kind of dash are ignored.
fn skeleton(name: &str) -> String {
    let chars = name.chars().map(|c| latin(c).unwrap_or(c));
    let chars = chars.flat_map(char::to_lowercase).map(|c| match c {
        '0' => 'o',
        '1' | 'i' | '|' => 'l',
        '_' | '.' => '-',
        _ => c,
    });
    let text: String = chars.filter(|c| !is_unseen(*c)).collect();
    text.replace("rn", "m").replace("vv", "w")
}

fn is_unseen(c: char) -> bool {
    super::sanitise_line(c.encode_utf8(&mut [0; 4])) != *c.encode_utf8(&mut [0; 4])
}

/// Returns true if one added, missing, replaced or swapped letter turns one into the other.
fn is_one_edit(one: &[char], two: &[char]) -> bool {
    // After the common beginning, one edit must make the rest equal.
    let same = one.iter().zip(two).take_while(|(a, b)| a == b).count();
    let (one, two) = (
        one.get(same..).unwrap_or_default(),
        two.get(same..).unwrap_or_default(),
    );
    match (one, two) {
        ([_, one @ ..], [_, two @ ..]) if one == two => true,
        ([_, longer @ ..], shorter) if longer == shorter => true,
        (shorter, [_, longer @ ..]) if longer == shorter => true,
        ([a, b, one @ ..], [c, d, two @ ..]) => a == d && b == c && one == two,
        _ => false,
    }
}

/// The Latin letter or digit that a character of another script or form looks like.
fn latin(c: char) -> Option<char> {
    match u32::from(c) {
        // Full width.
        code @ 0xff01..=0xff5e => char::from_u32(code - 0xfee0),
        // Mathematical letters: thirteen alphabets of 52.
        code @ 0x1_d400..=0x1_d6a3 => {
            let at = usize::try_from((code - 0x1_d400) % 52).ok()?;
            ('A'..='Z').chain('a'..='z').nth(at)
        }
        // Mathematical digits: five rows of ten.
        code @ 0x1_d7ce..=0x1_d7ff => char::from_digit((code - 0x1_d7ce) % 10, 10),
        // Dashes that are not the dash of the keyboard.
        0x2010..=0x2015 | 0x2212 | 0xfe58 | 0xfe63 => Some('-'),
        _ => {
            let found = PAIRS.binary_search_by_key(&c, |(foreign, _)| *foreign);
            found
                .ok()
                .and_then(|at| PAIRS.get(at))
                .map(|(_, latin)| *latin)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_are_found() {
        for (name, other, expected) in [
            ("g\u{456}thub", "github", Some(Likeness::Same)),
            ("GitHub", "github", Some(Likeness::Same)),
            ("glthub", "github", Some(Likeness::Same)),
            ("git_hub", "git-hub", Some(Likeness::Same)),
            ("rnail", "mail", Some(Likeness::Same)),
            ("\u{430}\u{440}\u{440}", "app", Some(Likeness::Same)),
            ("\u{ff47}ithub", "github", Some(Likeness::Same)),
            ("\u{1d420}ithub", "github", Some(Likeness::Same)),
            ("git\u{200b}hub", "github", Some(Likeness::Same)),
            ("gihtub", "github", Some(Likeness::OneLetter)),
            ("githubs", "github", Some(Likeness::OneLetter)),
            ("gthub", "github", Some(Likeness::OneLetter)),
            ("github", "github", None),
            ("gitlab", "github", None),
            ("db2", "db3", None),
            ("time", "github", None),
        ] {
            assert_eq!(likeness(name, other), expected, "{name:?} {other:?}");
            assert_eq!(likeness(other, name), expected, "{other:?} {name:?}");
        }
    }

    #[test]
    fn letters_of_another_script_are_named_where_they_pass_for_latin() {
        assert_eq!(skeleton_if_foreign("P\u{410}TH").as_deref(), Some("PATH"));
        assert_eq!(
            skeleton_if_foreign("\u{441}\u{43e}\u{440}").as_deref(),
            Some("cop")
        );
        for plain in ["PATH", "größe", "東京", "\u{434}\u{43e}\u{43c}"] {
            assert_eq!(skeleton_if_foreign(plain), None, "{plain}");
        }
    }
}
