//! Letters that look like other letters.

/// Returns a text as a careless reader sees it: without invisible characters, and with ASCII letters for
/// those that look like them. For searching words in it, never for display.
pub fn plain_letters(text: &str) -> String {
    text.chars()
        .filter(|c| !is_unseen(*c))
        .map(|c| styled(c).or_else(|| alike(c)).unwrap_or(c))
        .collect()
}

/// Returns `true` for characters without a width of their own: marks on letters, and format controls.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

/// Letters of ASCII in other dress: wide ones, and those of mathematics.
fn styled(c: char) -> Option<char> {
    let number = u32::from(c);
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(number - 0xff01 + 0x21),
        // Thirteen alphabets, large letters before small ones.
        '\u{1d400}'..='\u{1d6a3}' => {
            let at = (number - 0x1d400) % 52;
            let first = if at < 26 { 0x41 } else { 0x61 - 26 };
            char::from_u32(first + at)
        }
        _ => None,
    }
}

/// The letter of ASCII that another one, a digit or a sign looks like.
fn alike(c: char) -> Option<char> {
    Some(match c {
        '0' | 'о' | 'О' | 'ο' | 'Ο' | 'օ' => 'o',
        '1' | 'і' | 'І' | 'ι' | 'Ι' | 'ı' | 'ӏ' | 'Ӏ' => 'i',
        '3' | 'е' | 'Е' | 'ε' | 'Ε' => 'e',
        '4' | '@' | 'а' | 'А' | 'α' | 'Α' | 'ɑ' => 'a',
        '5' | '$' | 'ѕ' | 'Ѕ' => 's',
        '7' | 'т' | 'Т' | 'τ' | 'Τ' => 't',
        'р' | 'Р' | 'ρ' | 'Ρ' => 'p',
        'с' | 'С' | 'ϲ' | 'Ϲ' => 'c',
        'у' | 'У' | 'γ' | 'Υ' => 'y',
        'х' | 'Х' | 'χ' | 'Χ' => 'x',
        'к' | 'К' | 'κ' | 'Κ' => 'k',
        'в' | 'В' | 'Β' => 'b',
        'м' | 'М' | 'Μ' => 'm',
        'н' | 'Н' | 'Η' => 'h',
        'п' | 'Ν' => 'n',
        'г' => 'r',
        'ԁ' => 'd',
        'ԝ' | 'ѡ' | 'ω' => 'w',
        'ν' => 'v',
        'υ' => 'u',
        'ɡ' => 'g',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_word_is_read_as_it() {
        for disguised in [
            "password",
            "раsswоrd",
            "pass\u{200b}word",
            "pa\u{ad}ss\u{2060}word",
            "p\u{301}assword",
            "ｐａｓｓｗｏｒｄ",
            "𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝",
            "𝚙𝚊𝚜𝚜𝚠𝚘𝚛𝚍",
            "p@$$w0rd",
        ] {
            assert_eq!(plain_letters(disguised), "password", "{disguised:?}");
        }
        assert_eq!(plain_letters("𝐏𝐈𝐍"), "PIN");
        assert_eq!(plain_letters("Größe 密码"), "Größe 密码");
    }
}
