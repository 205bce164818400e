//! The last bytes of something that is too long to keep.

/// How much of the start and of the end of a message over the limit is kept, to find its id.
pub(super) const WINDOW: usize = 4 * 1024;

/// Counts bytes and keeps the last of them.
#[derive(Debug)]
pub(super) struct Tail {
    kept: Vec<u8>,
    bytes: u64,
}

impl Default for Tail {
    fn default() -> Self {
        Self {
            // Twice the window, so that bytes that come one by one move it seldom.
            kept: Vec::with_capacity(2 * WINDOW),
            bytes: 0,
        }
    }
}

impl Tail {
    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if self.kept.len() + bytes.len().min(WINDOW) > 2 * WINDOW {
            self.cut();
        }
        let last = bytes.len().saturating_sub(WINDOW);
        self.kept
            .extend_from_slice(bytes.get(last..).unwrap_or_default());
    }

    fn cut(&mut self) {
        let surplus = self.kept.len().saturating_sub(WINDOW);
        self.kept.drain(..surplus);
    }

    /// How many bytes there were.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The last [`WINDOW`] of them.
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
        for step in [1, 7, WINDOW, WINDOW + 1, 3 * WINDOW] {
            let bytes: Vec<u8> = (0..=250_u8).cycle().take(5 * WINDOW + 3).collect();
            let mut tail = Tail::default();
            for part in bytes.chunks(step) {
                tail.take(part);
                assert_eq!(tail.kept.capacity(), 2 * WINDOW, "{step}");
            }
            assert_eq!(tail.bytes(), bytes.len() as u64);
            assert_eq!(tail.into_bytes(), bytes[bytes.len() - WINDOW..], "{step}");
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
