//! Reads JSON from untrusted sources with sanitised strings, and explains syntax errors.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use serde::Serialize;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use serde_json::value::RawValue;

use super::{LONGEST_TEXT, clipped};

/// The longest string that is read from an untrusted document, in bytes; longer than any report.
const LONGEST_STRING: u64 = 16 << 20;

/// The longest part of an invalid document that a message quotes, in characters.
const LONGEST_MESSAGE: usize = 300;

/// Parses JSON from bytes.
///
/// # Errors
/// When the bytes are not valid JSON of this type.
pub fn from_bytes<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> serde_json::Result<T> {
    serde_json::from_str(str::from_utf8(bytes).map_err(Error::custom)?)
}

/// Sanitises a document as [`CleanStrings`] does.
#[must_use]
pub fn clean_strings(document: &str) -> String {
    // Only an invalid string is truncated, at a quotation mark.
    io::read_to_string(CleanStrings::new(document.as_bytes())).unwrap_or_default()
}

/// Sanitises the strings of a value as [`CleanStrings`] does.
pub fn cleaned<T: Serialize + DeserializeOwned>(value: T) -> T {
    serde_json::to_string(&value)
        .and_then(|text| serde_json::from_str(&clean_strings(&text)))
        .unwrap_or(value)
}

/// Reads JSON and sanitises its strings: each string becomes one line of printable text of at most
/// [`LONGEST_TEXT`] characters, so that outputs can print it unchanged. Everything else stays the
/// same.
pub struct CleanStrings<R> {
    input: R,
    ready: Vec<u8>,
    /// The number of bytes of `ready` that were returned.
    taken: usize,
    in_string: bool,
}

impl<R: BufRead> CleanStrings<R> {
    /// Wraps a reader of a JSON document.
    pub fn new(input: R) -> Self {
        Self {
            input,
            ready: Vec::new(),
            taken: 0,
            in_string: false,
        }
    }

    /// Reads up to the next start or end of a string.
    fn fill(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.taken = 0;
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
        self.ready.push(b'"');
        loop {
            let room = LONGEST_STRING.saturating_sub(self.ready.len() as u64);
            let read = (&mut self.input)
                .take(room)
                .read_until(b'"', &mut self.ready)?;
            if room == 0 {
                return Err(io::Error::other("a string in it is longer than 16 MiB"));
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
        self.taken = 1;
        Ok(())
    }
}

impl<R: BufRead> Read for CleanStrings<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.ready.len() {
            self.fill()?;
        }
        let read = self.ready[self.taken..].as_ref().read(buffer)?;
        self.taken += read;
        Ok(read)
    }
}

/// Deserialises a field of a streamed document from its text.
/// # Errors
/// When the field does not have this type.
pub fn by_text<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<T, D::Error> {
    let text = Box::<RawValue>::deserialize(deserializer)?;
    serde_json::from_str(text.get()).map_err(|error| D::Error::custom(json_error(&error)))
}

/// Describes a JSON error without its position. The message may quote the document, so it is
/// sanitised.
#[must_use]
pub fn json_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    clipped(text.strip_suffix(&place).unwrap_or(&text), LONGEST_MESSAGE)
}
