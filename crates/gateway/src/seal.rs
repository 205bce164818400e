//! Sealed texts that clients carry for us.
//!
//! A cursor or a state of a server goes out sealed (ChaCha20-Poly1305 under a key of this
//! process) and comes back to be opened. It is bound to the principal and the purpose it was made for:
//! anything else fails to open, and nothing of it can be read or changed by its carrier.
//!
//! Every text has a nonce of its own: a random start that is drawn once, plus a count. So nothing can fail
//! while a text is sealed, and no nonce is used twice under the key, which lives as long as the process.

use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::error::GatewayError;

/// The use that a sealed text was made for. A text of one use never opens for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Cursor,
    RequestState,
}

impl Purpose {
    fn tag(self) -> u8 {
        match self {
            Self::Cursor => b'c',
            Self::RequestState => b'r',
        }
    }

    /// The data that a text is bound to. The tag has a fixed length, so no two pairs have the same data.
    fn bind(self, principal: &str) -> Aad<Vec<u8>> {
        let mut data = Vec::with_capacity(principal.len() + 1);
        data.push(self.tag());
        data.extend_from_slice(principal.as_bytes());
        Aad::from(data)
    }
}

/// The key of this process.
pub(crate) struct Seal {
    key: LessSafeKey,
    start: [u8; NONCE_LEN],
    count: AtomicU64,
    /// Longest text that is opened.
    most: usize,
}

impl Seal {
    /// Draws a key. Texts of more than `most` bytes are never opened.
    pub(crate) fn new(most: usize) -> Result<Self, GatewayError> {
        let random = SystemRandom::new();
        let (mut key, mut start) = ([0; 32], [0; NONCE_LEN]);
        let drawn = random.fill(&mut key).and_then(|()| random.fill(&mut start));
        let key = drawn.and_then(|()| UnboundKey::new(&CHACHA20_POLY1305, &key));
        let key = key.map_err(|_| std::io::Error::other("the system has no random numbers"))?;
        Ok(Self {
            key: LessSafeKey::new(key),
            start,
            count: AtomicU64::new(0),
            most,
        })
    }

    /// Seals `content` for a principal, as URL-safe base64 text.
    pub(crate) fn seal(&self, purpose: Purpose, principal: &str, content: &[u8]) -> String {
        // A fresh nonce for every text: using one twice under a key would break the cipher.
        let nonce = self.next_nonce();
        let mut body = content.to_vec();
        let sealed = self.key.seal_in_place_separate_tag(
            Nonce::assume_unique_for_key(nonce),
            purpose.bind(principal),
            &mut body,
        );
        // Fails only for 256 GiB and more; an empty text never opens.
        let Ok(tag) = sealed else {
            return String::new();
        };
        // The nonce goes in front, in the clear: opening needs it, and it is no secret.
        URL_SAFE_NO_PAD.encode([&nonce, &*body, tag.as_ref()].concat())
    }

    /// Opens a sealed text; `None` if it is not one of ours, for this purpose and this principal.
    pub(crate) fn open(&self, purpose: Purpose, principal: &str, text: &str) -> Option<Vec<u8>> {
        // Before anything is decoded: a long text costs nothing.
        if text.len() > self.most {
            return None;
        }
        let sealed = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (nonce, body) = sealed.split_first_chunk::<NONCE_LEN>()?;
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let mut body = body.to_vec();
        // The tag is compared in constant time.
        let opened = (self.key).open_in_place(nonce, purpose.bind(principal), &mut body);
        let length = opened.ok()?.len();
        body.truncate(length);
        Some(body)
    }

    fn next_nonce(&self) -> [u8; NONCE_LEN] {
        // Relaxed is enough: every addition gives another number, and their order means nothing.
        let count = self.count.fetch_add(1, Ordering::Relaxed).to_le_bytes();
        let mut nonce = self.start;
        for (byte, count) in nonce.iter_mut().zip(count) {
            *byte ^= count;
        }
        nonce
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const MOST: usize = 4096;

    fn seal() -> Seal {
        Seal::new(MOST).unwrap()
    }

    #[test]
    fn a_sealed_text_opens_for_its_principal_and_purpose() {
        let seal = seal();
        for content in [&b""[..], b"x", "\u{1f511} and more".as_bytes(), &[0; 2000]] {
            let text = seal.seal(Purpose::Cursor, "agent", content);
            let opened = seal.open(Purpose::Cursor, "agent", &text);
            assert_eq!(opened.as_deref(), Some(content));
        }
    }

    #[test]
    fn a_sealed_text_opens_for_nothing_else() {
        let seal = seal();
        let text = seal.seal(Purpose::Cursor, "agent", b"content");
        for (purpose, principal) in [
            (Purpose::RequestState, "agent"),
            (Purpose::Cursor, "agent2"),
            (Purpose::Cursor, "agen"),
            (Purpose::Cursor, ""),
            (Purpose::Cursor, "cagent"),
        ] {
            assert_eq!(seal.open(purpose, principal, &text), None, "{principal}");
        }
        let other = Seal::new(MOST).unwrap();
        assert_eq!(other.open(Purpose::Cursor, "agent", &text), None);
    }

    #[test]
    fn a_sealed_text_with_any_other_byte_does_not_open() {
        let seal = seal();
        let text = seal.seal(Purpose::RequestState, "agent", b"content");
        for at in 0..text.len() {
            for byte in *b"A_-9=.+ " {
                let mut other = text.clone().into_bytes();
                if other[at] == byte {
                    continue;
                }
                other[at] = byte;
                let other = String::from_utf8(other).unwrap();
                assert_eq!(
                    seal.open(Purpose::RequestState, "agent", &other),
                    None,
                    "{at}"
                );
            }
        }
        for end in 0..text.len() {
            assert_eq!(
                seal.open(Purpose::RequestState, "agent", &text[..end]),
                None
            );
        }
        let longer = format!("{text}A");
        assert_eq!(seal.open(Purpose::RequestState, "agent", &longer), None);
    }

    #[test]
    fn a_text_over_the_limit_is_not_opened() {
        let seal = seal();
        let at = |bytes: usize| seal.seal(Purpose::Cursor, "agent", &vec![b'x'; bytes]);
        // 3 bytes are 4 characters: 3072 bytes of nonce, content and tag are 4096.
        let fits = 3072 - NONCE_LEN - CHACHA20_POLY1305.tag_len();
        let (under, exact, over) = (at(fits - 1), at(fits), at(fits + 1));
        assert_eq!((exact.len(), over.len()), (MOST, MOST + 2));
        assert!(seal.open(Purpose::Cursor, "agent", &under).is_some());
        assert!(seal.open(Purpose::Cursor, "agent", &exact).is_some());
        assert_eq!(seal.open(Purpose::Cursor, "agent", &over), None);
    }

    #[test]
    fn equal_contents_are_sealed_as_different_texts() {
        let seal = seal();
        let texts = (0..1000).map(|_| seal.seal(Purpose::Cursor, "agent", b"same"));
        assert_eq!(texts.collect::<HashSet<_>>().len(), 1000);
    }
}
