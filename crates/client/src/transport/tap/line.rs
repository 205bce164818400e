//! Cuts the tapped bytes into lines, keeping a bounded part of each.

/// The line that is being transferred.
#[derive(Default)]
pub(super) struct TappedLine {
    /// The start of the line.
    kept: Vec<u8>,
    /// The length so far.
    whole: usize,
}

impl TappedLine {
    /// Takes transferred bytes, and passes each complete line on: the part that is kept and the
    /// full length, both without the line break.
    pub(super) fn take(&mut self, bytes: &[u8], most: usize, mut each: impl FnMut(&[u8], usize)) {
        let mut rest = bytes;
        while let Some(at) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(at);
            rest = after.get(1..).unwrap_or_default();
            self.extend(line, most);
            self.finish(&mut each);
        }
        self.extend(rest, most);
    }

    /// Passes on an unfinished last line, if there is one.
    pub(super) fn end(&mut self, mut each: impl FnMut(&[u8], usize)) {
        if self.whole > 0 {
            self.finish(&mut each);
        }
    }

    fn finish(&mut self, each: &mut impl FnMut(&[u8], usize)) {
        let is_whole = self.whole == self.kept.len();
        match self.kept.strip_suffix(b"\r") {
            Some(line) if is_whole => each(line, line.len()),
            _ => each(&self.kept, self.whole),
        }
        // Give the memory back: one long line does not mean that the next is long.
        self.kept.clear();
        self.kept.shrink_to(4 * 1024);
        self.whole = 0;
    }

    fn extend(&mut self, bytes: &[u8], most: usize) {
        let room = most.saturating_sub(self.kept.len()).min(bytes.len());
        self.kept
            .extend_from_slice(bytes.get(..room).unwrap_or_default());
        self.whole = self.whole.saturating_add(bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(reads: &[&str], most: usize) -> Vec<(String, usize)> {
        let (mut line, mut found) = (TappedLine::default(), Vec::new());
        let mut each = |kept: &[u8], whole| {
            found.push((String::from_utf8(kept.to_vec()).unwrap(), whole));
        };
        for read in reads {
            line.take(read.as_bytes(), most, &mut each);
        }
        line.end(&mut each);
        found
    }

    #[test]
    fn lines_are_the_same_wherever_they_are_read() {
        let text = "one\n\ntwo\r\nthree";
        let whole = lines(&[text], 100);
        let wanted = [("one", 3), ("", 0), ("two", 3), ("three", 5)];
        assert_eq!(whole, wanted.map(|(text, size)| (text.to_owned(), size)));
        for at in 0..=text.len() {
            let (before, after) = text.split_at(at);
            assert_eq!(lines(&[before, after], 100), whole);
        }
    }

    #[test]
    fn a_line_at_the_limit_is_whole_and_one_over_it_is_cut() {
        assert_eq!(lines(&["abc\n"], 3), [("abc".to_owned(), 3)]);
        assert_eq!(
            lines(&["ab", "cd\ne\n"], 3),
            [("abc".to_owned(), 4), ("e".to_owned(), 1)]
        );
    }
}
