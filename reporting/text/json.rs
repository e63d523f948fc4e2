//! Reads JSON that other programs wrote: removes control characters from its strings, and explains
//! syntax errors.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use serde::Serialize;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use serde_json::value::RawValue;

use super::{LONGEST_TEXT, clipped};

/// The largest length of a string in a document, in bytes; longer than any report.
const MAX_STRING_BYTES: u64 = 16 << 20;

/// The largest length of an error message, which may quote the document, in characters.
const MAX_MESSAGE_CHARS: usize = 300;

/// Parses JSON from bytes.
///
/// # Errors
/// When the bytes are not valid JSON of this type.
pub fn from_bytes<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> serde_json::Result<T> {
    serde_json::from_str(str::from_utf8(bytes).map_err(Error::custom)?)
}

/// Cleans the strings of a document as [`CleanStrings`] does.
pub fn clean_strings(document: &str) -> String {
    // Only an invalid string is truncated, at a quotation mark.
    io::read_to_string(CleanStrings::new(document.as_bytes())).unwrap_or_default()
}

/// Cleans the strings of a value as [`CleanStrings`] does.
pub fn cleaned<T: Serialize + DeserializeOwned>(value: T) -> T {
    serde_json::to_string(&value)
        .and_then(|text| serde_json::from_str(&clean_strings(&text)))
        .unwrap_or(value)
}

/// Reads JSON and cleans its strings: each string becomes one line of printable text of at most
/// [`LONGEST_TEXT`] characters, so that outputs can print it unchanged. Everything else stays the
/// same.
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
        self.ready.clear();
        self.returned = 0;
        if !self.in_string {
            let piece = self.input.fill_buf()?;
            let quote = piece.iter().position(|&byte| byte == b'"');
            let length = quote.map_or(piece.len(), |at| at + 1);
            self.ready.extend_from_slice(&piece[..length]);
            self.input.consume(length);
            self.in_string = quote.is_some();
            return Ok(());
        }
        self.in_string = false;
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
        if let Ok(text) = from_bytes::<Cow<str>>(&self.ready) {
            let clean = clipped(&text, LONGEST_TEXT);
            if clean != text {
                self.ready = serde_json::to_vec(&clean)?;
            }
        }
        self.returned = 1;
        Ok(())
    }
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
