//! Numbered lines of a text, with a maximum length to bound memory.

use super::problem::Problem;
use crate::csv::content_of;
use std::io::{BufRead, Read};

/// Longest valid line: a dozen numbers of up to 330 digits.
const LONGEST_LINE_BYTES: u64 = 4096;

pub(super) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::with_capacity(256), number: 0 }
    }

    /// Returns the next non-blank line without its terminator, and its 1-based number.
    pub(super) fn next(&mut self) -> Result<Option<(u64, &[u8])>, Problem> {
        loop {
            self.number += 1;
            self.buffer.clear();
            let bounded = &mut self.reader.by_ref().take(LONGEST_LINE_BYTES);
            let length = bounded.read_until(b'\n', &mut self.buffer)?;
            if length == 0 {
                return Ok(None);
            }
            if length as u64 == LONGEST_LINE_BYTES && !self.buffer.ends_with(b"\n") {
                let problem = format!("longer than {LONGEST_LINE_BYTES} bytes; is this a candle file?");
                return Err(Problem::Line { line: self.number, problem });
            }
            if !content_of(&self.buffer, self.number).is_empty() {
                break;
            }
        }
        Ok(Some((self.number, content_of(&self.buffer, self.number))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_numbers_whatever_their_ends() {
        let mut lines = Lines::new(&b"\xEF\xBB\xBFa\r\n\n\r\nb\nc"[..]);
        let mut found = Vec::new();
        while let Some((number, line)) = lines.next().unwrap() {
            found.push((number, String::from_utf8(line.to_vec()).unwrap()));
        }
        assert_eq!(found, [(1, "a".to_owned()), (4, "b".to_owned()), (5, "c".to_owned())]);
    }

    #[test]
    fn a_line_without_end_does_not_fill_the_memory() {
        let long = vec![b'1'; 10_000];
        let mut lines = Lines::new(&long[..]);
        assert!(matches!(lines.next(), Err(Problem::Line { line: 1, .. })));
    }
}
