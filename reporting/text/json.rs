//! Reads JSON from elsewhere with clean strings, and explains what is wrong with it.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use serde::Serialize;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use serde_json::value::RawValue;

use super::{LONGEST_TEXT, clipped};

/// Bytes of the longest string in a document from elsewhere: more than a report has.
const LONGEST_STRING: u64 = 16 << 20;

/// Characters of what is told of a text that is no document.
const LONGEST_MESSAGE: usize = 300;

/// What bytes hold.
///
/// # Errors
/// When they are no such document.
pub fn from_bytes<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> serde_json::Result<T> {
    serde_json::from_str(str::from_utf8(bytes).map_err(Error::custom)?)
}

/// A document from elsewhere, as [`CleanStrings`] reads it.
#[must_use]
pub fn clean_strings(document: &str) -> String {
    // Only a broken string is cut, and at a quotation mark.
    io::read_to_string(CleanStrings::new(document.as_bytes())).unwrap_or_default()
}

/// A value whose strings come from elsewhere, as [`CleanStrings`] reads it.
pub fn cleaned<T: Serialize + DeserializeOwned>(value: T) -> T {
    serde_json::to_string(&value)
        .and_then(|text| serde_json::from_str(&clean_strings(&text)))
        .unwrap_or(value)
}

/// Reads JSON from elsewhere, in which each string becomes one line of printable text of at most
/// [`LONGEST_TEXT`] characters, so that outputs can print it as it is. All else stays.
pub struct CleanStrings<R> {
    input: R,
    ready: Vec<u8>,
    /// Bytes of `ready` that were read.
    taken: usize,
    in_string: bool,
}

impl<R: BufRead> CleanStrings<R> {
    /// A reader of that document.
    pub fn new(input: R) -> Self {
        Self {
            input,
            ready: Vec::new(),
            taken: 0,
            in_string: false,
        }
    }

    /// Reads up to the beginning of a string, or to its end.
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
        // What is no string is left to the reader of the document, who says so.
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

/// A field of a document that is read from a stream, by way of its text.
///
/// # Errors
/// When it is no such field.
pub fn by_text<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<T, D::Error> {
    let text = Box::<RawValue>::deserialize(deserializer)?;
    serde_json::from_str(text.get()).map_err(|error| D::Error::custom(json_error(&error)))
}

/// What is wrong with a text that is no such document, without the place, which is told apart. It
/// quotes the text, which may hold anything.
#[must_use]
pub fn json_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    clipped(text.strip_suffix(&place).unwrap_or(&text), LONGEST_MESSAGE)
}
