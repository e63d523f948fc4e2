//! Reads lines from an untrusted peer with a maximum length, and makes text safe for a terminal.

use std::io::{self, BufRead};

use reporting::text::clipped;

/// The result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InputLine {
    /// A line, without its terminator.
    Whole(Vec<u8>),
    /// The first bytes of a line that exceeds the maximum length; the next call continues after
    /// these bytes.
    TooLong(Vec<u8>),
    /// The bytes after the last terminator.
    Unfinished(Vec<u8>),
    /// The end of the input.
    End,
}

/// Reads the next line, at most `max_bytes` bytes of it.
pub(super) fn read(input: &mut dyn BufRead, max_bytes: u64) -> io::Result<InputLine> {
    read_within(input, &|| max_bytes)
}

/// Like [`read`], but evaluates the limit after each arrival of data, because the limit may change
/// while the call waits.
pub(super) fn read_within(
    input: &mut dyn BufRead,
    max_bytes: &dyn Fn() -> u64,
) -> io::Result<InputLine> {
    let mut line = Vec::new();
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            return Ok(if line.is_empty() {
                InputLine::End
            } else {
                InputLine::Unfinished(line)
            });
        }
        // Reads one byte more than allowed, to detect a line that is too long.
        let max_part = usize::try_from(max_bytes().saturating_add(1))
            .unwrap_or(usize::MAX)
            .saturating_sub(line.len());
        let part = &available[..available.len().min(max_part)];
        let end = part.iter().position(|&byte| byte == b'\n');
        let taken = end.map_or(part.len(), |end| end + 1);
        line.extend_from_slice(&part[..end.unwrap_or(taken)]);
        input.consume(taken);
        if end.is_some() {
            return Ok(InputLine::Whole(line));
        }
        if taken == max_part {
            return Ok(InputLine::TooLong(line));
        }
    }
}

/// Formats the bytes of a peer for a message: one line without control characters, at most
/// `max_chars` characters long.
pub(super) fn printable(bytes: &[u8], max_chars: usize) -> String {
    // A character has at most four bytes, so the bytes after these are not part of the result.
    let head = &bytes[..bytes.len().min(4 * max_chars + 4)];
    clipped(&String::from_utf8_lossy(head), max_chars)
}

/// Whether a line of error output is that in which a JVM names an environment variable with options
/// (`JAVA_TOOL_OPTIONS`), which is no error.
pub(super) fn is_jvm_notice(line: &str) -> bool {
    line.trim_start_matches("NOTE: ").starts_with("Picked up ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_newline_or_limit() {
        let mut input: &[u8] = b"ab\n\nabcd\nabcdef\nx";
        let mut lines = Vec::new();
        loop {
            let line = read(&mut input, 4).unwrap();
            lines.push(line);
            if lines.last() == Some(&InputLine::End) {
                break;
            }
        }
        assert_eq!(
            lines,
            [
                InputLine::Whole(b"ab".into()),
                InputLine::Whole(b"".into()),
                InputLine::Whole(b"abcd".into()),
                InputLine::TooLong(b"abcde".into()),
                InputLine::Whole(b"f".into()),
                InputLine::Unfinished(b"x".into()),
                InputLine::End
            ]
        );
    }

    #[test]
    fn printable_removes_control_characters() {
        assert_eq!(printable(b" a\x1b[31m\tb\r\x00 ", 80), "a b");
        assert_eq!(printable(b"\xff\xfe", 80), "\u{fffd}\u{fffd}");
        assert_eq!(printable("äöü".as_bytes(), 3), "äöü");
        assert_eq!(printable("äöüß".as_bytes(), 3), "äö…");
        assert_eq!(printable(&[b'x'; 100_000], 80).chars().count(), 80);
    }
}
