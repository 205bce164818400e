//! Base64 decoding (RFC 4648).

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Decodes a text; `None` if it is not in canonical form.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    if !bytes.len().is_multiple_of(4) {
        return None;
    }
    let padding = bytes.iter().rev().take_while(|byte| **byte == b'=').count();
    let letters = bytes.get(..bytes.len() - padding)?;
    let mut decoded = Vec::with_capacity(bytes.len() / 4 * 3);
    let (mut buffer, mut bits) = (0_u32, 0_u32);
    for letter in letters {
        let value = LETTERS.iter().position(|known| known == letter)?;
        buffer = buffer << 6 | u32::try_from(value).ok()?;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            decoded.push(u8::try_from(buffer >> bits & 0xff).ok()?);
            buffer &= (1 << bits) - 1;
        }
    }
    // The leftover bits must be zero, and the padding must match the missing bytes.
    (padding <= 2 && buffer == 0 && padding == bits as usize / 2).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_length_are_read() {
        for (text, plain) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYmFy", "foobar"),
            ("SGVsbG8sIOS4lueVjA==", "Hello, 世界"),
        ] {
            assert_eq!(decode(text).as_deref(), Some(plain.as_bytes()), "{text}");
        }
    }

    #[test]
    fn what_is_not_exact_is_refused() {
        for text in [
            "Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zm9v====", "Zm 9", "Zm9-", "====",
        ] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
