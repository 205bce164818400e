//! Fast scanning over strings: finds the next quote, backslash or control character a word at a
//! time, and writes strings that need no escapes without looking at each character.

use crate::RawError;

/// Bytes examined at once in a short string: one 64-bit word.
const SHORT: usize = 8;

/// Bytes examined at once in a long string.
const LONG: usize = 32;

/// Returns the position of the next quote, backslash or control character from `at` on, or the
/// length of `bytes` otherwise.
#[inline(always)]
pub(crate) fn plain_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    // Keys and short words mostly end within the first two chunks, so try those before any loop.
    let ([first, second, ..], _) = rest.as_chunks::<SHORT>() else {
        return words_end(rest, at);
    };
    if let Some(inside) = first_special(first) {
        return at + inside;
    }
    match first_special(second) {
        Some(inside) => at + SHORT + inside,
        None => longer_plain_end(bytes, at + 2 * SHORT),
    }
}

/// Continues [`plain_end`] for strings longer than two words.
fn longer_plain_end(bytes: &[u8], at: usize) -> usize {
    /// Words tried before switching to larger blocks.
    const WORDS_FIRST: usize = 4;
    let rest = bytes.get(at..).unwrap_or_default();
    let (words, _) = rest.as_chunks::<SHORT>();
    if words.len() <= WORDS_FIRST {
        return words_end(rest, at);
    }
    for (index, word) in words.iter().take(WORDS_FIRST).enumerate() {
        if let Some(inside) = first_special(word) {
            return at + index * SHORT + inside;
        }
    }
    long_plain_end(bytes, at + WORDS_FIRST * SHORT)
}

/// Continues [`plain_end`] for strings known to be long, block by block.
fn long_plain_end(bytes: &[u8], mut at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let (blocks, _) = rest.as_chunks::<LONG>();
    at += LONG * blocks.iter().take_while(|block| is_plain(block)).count();
    words_end(bytes.get(at..).unwrap_or_default(), at)
}

/// Scans `rest`, which begins at offset `at`, word by word.
fn words_end(rest: &[u8], at: usize) -> usize {
    let (words, tail) = rest.as_chunks::<SHORT>();
    for (index, word) in words.iter().enumerate() {
        if let Some(inside) = first_special(word) {
            return at + index * SHORT + inside;
        }
    }
    at + words.len() * SHORT + tail_end(tail)
}

/// Writes a string as JSON. Most strings need no escapes and are copied as they are.
pub(crate) fn write_string(text: &str, out: &mut Vec<u8>) -> Result<(), RawError> {
    // Only a string with something to escape goes through the serializer.
    if plain_end(text.as_bytes(), 0) < text.len() {
        return Ok(serde_json::to_writer(out, text)?);
    }
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
    Ok(())
}

fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

/// Returns the index of the first special byte of a word.
#[inline]
fn first_special(word: &[u8; SHORT]) -> Option<usize> {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(*word);
    // Subtracting borrows through the highest bit of every byte that is too small. The borrow also
    // spills into the bytes above, so only the lowest bit that is set can be trusted.
    let control = word.wrapping_sub(LOW * 0x20);
    let quote = (word ^ (LOW * 0x22)).wrapping_sub(LOW);
    let backslash = (word ^ (LOW * 0x5c)).wrapping_sub(LOW);
    let found = (control | quote | backslash) & !word & HIGH;
    // At most 7: there are eight bytes in a word.
    (found != 0).then(|| usize::try_from(found.trailing_zeros() / 8).unwrap_or(0))
}

/// Returns true if no byte of the block is special.
fn is_plain(block: &[u8; LONG]) -> bool {
    let mut special = false;
    // No early exit: a loop without branches compiles to vector instructions.
    for byte in block {
        special |= is_special(*byte);
    }
    !special
}

/// Returns the index of the first special byte of the last few, or their number if all are plain.
fn tail_end(tail: &[u8]) -> usize {
    let inside = tail.iter().position(|byte| is_special(*byte));
    inside.unwrap_or(tail.len())
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
