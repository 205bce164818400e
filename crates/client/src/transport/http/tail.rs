//! The last bytes of a message that is too long to keep.

/// Length of the start and of the end that are kept of an oversized message, to recover its id.
pub(super) const KEPT_ENDS: usize = 4 * 1024;

/// Counts bytes and keeps the last of them.
#[derive(Debug)]
pub(super) struct Tail {
    kept: Vec<u8>,
    bytes: u64,
}

impl Default for Tail {
    fn default() -> Self {
        Self {
            // Twice the size, so that single bytes rarely move the buffer.
            kept: Vec::with_capacity(2 * KEPT_ENDS),
            bytes: 0,
        }
    }
}

impl Tail {
    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if self.kept.len() + bytes.len().min(KEPT_ENDS) > 2 * KEPT_ENDS {
            self.cut();
        }
        let last = bytes.len().saturating_sub(KEPT_ENDS);
        self.kept
            .extend_from_slice(bytes.get(last..).unwrap_or_default());
    }

    fn cut(&mut self) {
        let surplus = self.kept.len().saturating_sub(KEPT_ENDS);
        self.kept.drain(..surplus);
    }

    /// The number of bytes taken.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The last [`KEPT_ENDS`] of them.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        self.cut();
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bytes_are_kept_in_twice_their_room() {
        for step in [1, 7, KEPT_ENDS, KEPT_ENDS + 1, 3 * KEPT_ENDS] {
            let bytes: Vec<u8> = (0..=250_u8).cycle().take(5 * KEPT_ENDS + 3).collect();
            let mut tail = Tail::default();
            for part in bytes.chunks(step) {
                tail.take(part);
                assert_eq!(tail.kept.capacity(), 2 * KEPT_ENDS, "{step}");
            }
            assert_eq!(tail.bytes(), bytes.len() as u64);
            assert_eq!(
                tail.into_bytes(),
                bytes[bytes.len() - KEPT_ENDS..],
                "{step}"
            );
        }
    }

    #[test]
    fn what_is_shorter_is_kept_whole() {
        let mut tail = Tail::default();
        tail.take(b"ab");
        tail.take(b"c");
        assert_eq!((tail.bytes(), tail.into_bytes()), (3, b"abc".to_vec()));
    }
}
