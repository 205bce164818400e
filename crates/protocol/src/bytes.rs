//! Passing over the plain part of a string quickly, and writing strings that are plain.

use crate::RawError;

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// How many bytes a long string is passed over at a time.
const BLOCK: usize = 32;

/// How many words of a string are looked at one by one before blocks are tried.
const WORDS_FIRST: usize = 4;

/// Where the next quote, backslash or control character is, from `at` on; the end if there is none.
pub(crate) fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    for _ in 0..WORDS_FIRST {
        let Some(word) = chunk::<8>(bytes, at) else {
            return tail_end(bytes, at);
        };
        match specials(word) {
            0 => at += 8,
            found => return at + first(found),
        }
    }
    while chunk::<BLOCK>(bytes, at).is_some_and(is_plain) {
        at += BLOCK;
    }
    while let Some(word) = chunk::<8>(bytes, at) {
        match specials(word) {
            0 => at += 8,
            found => return at + first(found),
        }
    }
    tail_end(bytes, at)
}

/// Writes a string as JSON; nearly all need no escapes.
pub(crate) fn write_string(text: &str, out: &mut Vec<u8>) -> Result<(), RawError> {
    if plain_end(text.as_bytes(), 0) < text.len() {
        return Ok(serde_json::to_writer(out, text)?);
    }
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
    Ok(())
}

fn chunk<const N: usize>(bytes: &[u8], at: usize) -> Option<&[u8; N]> {
    bytes.get(at..)?.first_chunk::<N>()
}

/// The highest bit of each byte that is special. Only the lowest bit set is to be trusted: the
/// subtractions carry into the bytes above one that is special.
fn specials(word: &[u8; 8]) -> u64 {
    let word = u64::from_le_bytes(*word);
    let zero = |word: u64| word.wrapping_sub(LOW) & !word;
    let quote = zero(word ^ (LOW * 0x22));
    let backslash = zero(word ^ (LOW * 0x5c));
    let control = word.wrapping_sub(LOW * 0x20) & !word;
    (quote | backslash | control) & HIGH
}

fn first(found: u64) -> usize {
    // At most 7: there are eight bytes in a word.
    usize::try_from(found.trailing_zeros() / 8).unwrap_or(0)
}

/// Written so that the compiler makes vector instructions of it.
fn is_plain(block: &[u8; BLOCK]) -> bool {
    let mut special = false;
    for byte in block {
        special |= (*byte == b'"') | (*byte == b'\\') | (*byte < 0x20);
    }
    !special
}

fn tail_end(bytes: &[u8], at: usize) -> usize {
    let tail = bytes.get(at..).unwrap_or_default();
    let inside = tail
        .iter()
        .position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
    at + inside.unwrap_or(tail.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_bytes_are_found_at_every_place() {
        for special in 0..=u8::MAX {
            let is_special = special < 0x20 || special == b'"' || special == b'\\';
            for before in 0..100 {
                // Bytes next to the ones looked for, and beyond ASCII.
                let mut bytes = [b'!', b'#', b'[', b']', 0x20, 0x7f, 0x80, 0xff]
                    .into_iter()
                    .cycle()
                    .take(before)
                    .collect::<Vec<u8>>();
                bytes.push(special);
                bytes.extend([b'#'; 40]);
                let expected = if is_special { before } else { bytes.len() };
                assert_eq!(plain_end(&bytes, 0), expected, "{special} after {before}");
            }
        }
    }

    #[test]
    fn the_end_is_the_end() {
        assert_eq!(plain_end(b"", 0), 0);
        assert_eq!(plain_end(b"abc", 3), 3);
        assert_eq!(plain_end(b"a\"bc", 2), 4);
    }
}
