//! Reads JSON that other programs wrote: removes control characters from its strings, and explains
//! syntax errors.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use serde::Serialize;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use serde_json::value::RawValue;

use super::{LONGEST_TEXT, clipped};

/// The largest number of a document: that of unsigned integers, of which no product of a few overflows.
const LARGEST_NUMBER: f64 = u64::MAX as f64;
/// The largest length of a string in a document, in bytes; longer than any report.
const MAX_STRING_BYTES: u64 = 16 << 20;

/// The largest length of an error message, which may quote the document, in characters.
const MAX_MESSAGE_CHARS: usize = 300;

/// Cleans the strings of a document and checks its numbers as [`CleanStrings`] does.
///
/// # Errors
/// When a number or a string is larger than in any document.
pub fn clean_strings(document: &str) -> io::Result<String> {
    let mut cleaner = CleanStrings::new(document.as_bytes());
    let mut clean = String::with_capacity(document.len());
    cleaner.read_to_string(&mut clean).map_err(|why| {
        let before = &document.as_bytes()[..document.len() - cleaner.input.len()];
        let mut lines = before.split(|&byte| byte == b'\n');
        let column = lines.next_back().map_or(0, <[u8]>::len);
        let line = lines.count() + 1;
        io::Error::other(format!("{why} (line {line}, after column {column})"))
    })?;
    Ok(clean)
}

/// Cleans the strings of a value as [`CleanStrings`] does.
pub fn cleaned<T: Serialize + DeserializeOwned>(value: T) -> T {
    serde_json::to_string(&value)
        .and_then(|text| serde_json::from_reader(CleanStrings::new(text.as_bytes())))
        .unwrap_or(value)
}

/// Reads JSON and cleans its strings: each string becomes one line of printable text of at most
/// [`LONGEST_TEXT`] characters, so that outputs can print it unchanged. Everything else stays the
/// same. A number beyond ±[`LARGEST_NUMBER`] is an error, if `input` returns all its digits at once.
pub struct CleanStrings<R> {
    input: R,
    /// The cleaned piece of the document that is returned next.
    ready: Vec<u8>,
    /// The number of bytes of `ready` that were returned.
    returned: usize,
    /// Whether the next byte of `input` is inside a string.
    in_string: bool,
}

impl<R: BufRead> CleanStrings<R> {
    /// Wraps a reader of a JSON document.
    pub fn new(input: R) -> Self {
        Self {
            input,
            ready: Vec::new(),
            returned: 0,
            in_string: false,
        }
    }

    /// Reads up to the next start or end of a string into `ready`.
    fn fill(&mut self) -> io::Result<()> {
        self.returned = 0;
        if !self.in_string {
            let piece = self.input.fill_buf()?;
            let quote = piece.iter().position(|&byte| byte == b'"');
            let length = quote.map_or(piece.len(), |at| at + 1);
            check_numbers(&self.ready, &piece[..length])?;
            self.ready.clear();
            self.ready.extend_from_slice(&piece[..length]);
            self.input.consume(length);
            self.in_string = quote.is_some();
            return Ok(());
        }
        self.in_string = false;
        self.ready.clear();
        // The quotation mark at the start was already returned; it is put before the string so that
        // the string can be parsed, and skipped below.
        self.ready.push(b'"');
        loop {
            let free_bytes = MAX_STRING_BYTES.saturating_sub(self.ready.len() as u64);
            let read = (&mut self.input)
                .take(free_bytes)
                .read_until(b'"', &mut self.ready)?;
            if free_bytes == 0 {
                return Err(io::Error::other("it contains a string of more than 16 MiB"));
            }
            let (last, before) = self.ready.split_last().unwrap_or((&0, &[]));
            let escapes = before.iter().rev().take_while(|&&byte| byte == b'\\');
            if read == 0 || (*last == b'"' && escapes.count() % 2 == 0) {
                break;
            }
        }
        // Invalid strings are passed on, so that the JSON parser reports the error.
        if let Ok(text) = serde_json::from_slice::<Cow<str>>(&self.ready) {
            let clean = clipped(&text, LONGEST_TEXT);
            if clean != text {
                self.ready = serde_json::to_vec(&clean)?;
            }
        }
        self.returned = 1;
        Ok(())
    }
}

/// Checks the numbers of a piece of a document without strings, which follows the string `key`.
fn check_numbers(key: &[u8], piece: &[u8]) -> io::Result<()> {
    let is_of_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E');
    for word in piece.split(|byte| !is_of_number(byte)) {
        // Others are less.
        let may_be_large = word.len() >= 20 || word.iter().any(|byte| matches!(byte, b'e' | b'E'));
        let number = str::from_utf8(word).ok().filter(|_| may_be_large);
        let number = number.and_then(|word| word.parse::<f64>().ok());
        if let Some(number) = number.filter(|number| number.abs() > LARGEST_NUMBER) {
            let key = String::from_utf8_lossy(key);
            return Err(io::Error::other(format!(
                "{} is {number:?}; it has to be from -{LARGEST_NUMBER:e} to {LARGEST_NUMBER:e}",
                key.trim_matches('"')
            )));
        }
    }
    Ok(())
}

impl<R: BufRead> Read for CleanStrings<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.returned == self.ready.len() {
            self.fill()?;
        }
        let read = self.ready[self.returned..].as_ref().read(buffer)?;
        self.returned += read;
        Ok(read)
    }
}

/// Deserialises a field of a streamed document from its complete text.
///
/// # Errors
/// When the field does not have this type.
pub fn by_text<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<T, D::Error> {
    let text = Box::<RawValue>::deserialize(deserializer)?;
    serde_json::from_str(text.get()).map_err(|error| D::Error::custom(json_error(&error)))
}

/// Describes a JSON error without its position. Because the message may quote the document, it is
/// cleaned as [`plain`](super::plain) does.
pub fn json_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    clipped(
        text.strip_suffix(&position).unwrap_or(&text),
        MAX_MESSAGE_CHARS,
    )
}
