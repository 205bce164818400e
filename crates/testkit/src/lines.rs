//! Splits a byte stream into lines.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, BufReader};

/// Maximum length of a line; longer ones are skipped, to bound memory.
const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// One line, without its line break.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Text(String),
    /// Not UTF-8.
    Garbled,
    TooLong,
}

/// Reads lines that end in `\n` or `\r\n`; the last one may end with the stream.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    max_line_bytes: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader: BufReader::with_capacity(64 * 1024, reader),
            max_line_bytes: MAX_LINE_BYTES,
        }
    }

    /// Reads the next line; `None` at the end of the stream. Not cancel safe.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let mut too_long = false;
        if !read_line(
            &mut self.reader,
            &mut line,
            self.max_line_bytes,
            &mut too_long,
        )
        .await?
        {
            return Ok(None);
        }
        if too_long {
            return Ok(Some(Line::TooLong));
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        let text = String::from_utf8(line).map_or(Line::Garbled, Line::Text);
        Ok(Some(text))
    }
}

/// Appends one line to `line`; false when there was nothing left to read.
async fn read_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    max_line_bytes: usize,
    too_long: &mut bool,
) -> io::Result<bool> {
    let mut any = false;
    loop {
        let available = reader.fill_buf().await?;
        if available.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = available.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(available.len());
        // Keep reading to the end of a line that is too long, without keeping its bytes.
        *too_long |= line.len() + taken > max_line_bytes;
        if *too_long {
            line.clear();
        } else {
            line.extend(available.iter().take(taken));
        }
        reader.consume(taken + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(bytes: &[u8], max_line_bytes: usize) -> Vec<Line> {
        let mut lines = Lines {
            // Three bytes at a time, so that lines span reads.
            reader: BufReader::with_capacity(3, bytes),
            max_line_bytes,
        };
        let mut read = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            read.push(line);
        }
        read
    }

    fn text(text: &str) -> Line {
        Line::Text(text.to_owned())
    }

    #[tokio::test]
    async fn lines_end_in_any_of_the_three_ways() {
        assert_eq!(
            lines(b"first\n\r\nsecond\r\nlast", 100).await,
            [text("first"), text(""), text("second"), text("last")]
        );
        assert_eq!(lines(b"", 100).await, []);
    }

    #[tokio::test]
    async fn a_bad_line_does_not_cost_the_next() {
        assert_eq!(
            lines(b"\xff\xfe\n12345678\n1234567\nok\n", 7).await,
            [Line::Garbled, Line::TooLong, text("1234567"), text("ok")]
        );
    }
}
