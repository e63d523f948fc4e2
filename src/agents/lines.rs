//! Reads lines from an untrusted peer with a maximum length, and makes text safe for a terminal.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use reporting::text::clipped;
use timers::os::handoff::{self, Receiver, Sender};

/// Maximum length of the kept part of a line of error output, in characters.
const MAX_ERROR_LINE_CHARS: usize = 300;
/// Maximum time by which the error output of a process may end later than the process.
const MAX_ERROR_OUTPUT_DELAY: Duration = Duration::from_millis(200);
/// Bytes of the stack of a thread that copies bytes; small, because a campaign keeps about 100 such
/// threads.
const STACK_BYTES: usize = 128 << 10;

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

/// Lines of a peer, which a thread reads.
pub(super) struct Lines {
    received: Receiver<InputLine>,
    max_bytes: Arc<AtomicU64>,
}

impl Lines {
    /// Reads lines of at most `max_bytes` to the end of the input, or to the first that is too long.
    /// Bytes after the last terminator are discarded.
    pub(super) fn of(input: impl Read + Send + 'static, max_bytes: u64) -> io::Result<Self> {
        let (LineSender { lines, max_bytes }, received) = Self::channel(max_bytes)?;
        in_thread(move || {
            let mut input = BufReader::with_capacity(1 << 16, input);
            while let Ok(line @ (InputLine::Whole(_) | InputLine::TooLong(_))) =
                read_within(&mut input, &|| max_bytes.load(Ordering::SeqCst))
            {
                let is_last = matches!(line, InputLine::TooLong(_));
                if !lines.send(line) || is_last {
                    return;
                }
            }
        })?;
        Ok(received)
    }

    /// Lines of at most `max_bytes` that another thread sends.
    pub(super) fn channel(max_bytes: u64) -> io::Result<(LineSender, Self)> {
        let (lines, received) = handoff::channel()?;
        let max_bytes = Arc::new(AtomicU64::new(max_bytes));
        let sender = LineSender {
            lines,
            max_bytes: Arc::clone(&max_bytes),
        };
        let lines = Self {
            received,
            max_bytes,
        };
        Ok((sender, lines))
    }

    /// Changes the maximum length of lines, also of the one that is being read.
    pub(super) fn limit(&self, max_bytes: u64) {
        self.max_bytes.store(max_bytes, Ordering::SeqCst);
    }

    /// Waits for the next line, which is whole or too long.
    ///
    /// # Errors
    /// `Timeout` when nothing arrived in time, `Disconnected` when the input has ended.
    pub(super) fn next(&self, wait: Duration) -> Result<InputLine, RecvTimeoutError> {
        self.received.receive(wait)
    }
}

/// Sends lines of a peer.
pub(super) struct LineSender {
    lines: Sender<InputLine>,
    max_bytes: Arc<AtomicU64>,
}

impl LineSender {
    /// The maximum length of a line.
    pub(super) fn max_bytes(&self) -> u64 {
        self.max_bytes.load(Ordering::SeqCst)
    }

    /// Sends a line, which may be too long. Nothing happens if nobody waits for it.
    pub(super) fn send(&self, line: Vec<u8>) {
        let is_whole = line.len() as u64 <= self.max_bytes();
        let kind = if is_whole {
            InputLine::Whole
        } else {
            InputLine::TooLong
        };
        let _ = self.lines.send(kind(line));
    }
}

/// The last line of the error output of a process, which a thread reads, so that the process never
/// waits for a reader.
pub(super) struct LastLine {
    line: Arc<Mutex<String>>,
    /// Disconnected when the output has ended.
    end: Receiver<()>,
}

impl LastLine {
    /// Reads the output to its end.
    pub(super) fn of(errors: impl Read + Send + 'static) -> io::Result<Self> {
        let (is_open, end) = handoff::channel::<()>()?;
        let line = Arc::new(Mutex::new(String::new()));
        let last = Arc::downgrade(&line);
        in_thread(move || {
            let _is_open = is_open;
            let mut errors = BufReader::new(errors);
            while let Ok(
                InputLine::Whole(line) | InputLine::TooLong(line) | InputLine::Unfinished(line),
            ) = read(&mut errors, 4 * MAX_ERROR_LINE_CHARS as u64)
            {
                let Some(last) = last.upgrade() else { return };
                let text = printable(&line, MAX_ERROR_LINE_CHARS);
                if !text.is_empty() && !is_jvm_notice(&text) {
                    *last.lock().unwrap_or_else(PoisonError::into_inner) = text;
                }
            }
        })?;
        Ok(Self { line, end })
    }

    /// Returns the last line of a process that has ended, if it is not blank.
    pub(super) fn get(&self) -> Option<String> {
        // Returns when the thread ends, because the thread sends nothing.
        let _ = self.end.receive(MAX_ERROR_OUTPUT_DELAY);
        let line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        Some(line.clone()).filter(|line| !line.is_empty())
    }
}

/// Starts a thread that reads or writes a pipe.
pub(super) fn in_thread(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let builder = thread::Builder::new().stack_size(STACK_BYTES);
    builder.spawn(work).map(drop)
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
