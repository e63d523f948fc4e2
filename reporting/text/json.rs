//! JSON, read as one kind of text and written by one kind of writer: others would be compiled again
//! for each type.

use std::borrow::Cow;
use std::io::{self, BufRead, Read, Write};

use serde::Serialize;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use serde_json::ser::Formatter;
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

/// Where lines break in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Nowhere.
    Compact,
    /// Before each member and each element, indented by how deep they stand.
    Indented,
    /// Before the members of the document, and before the elements of its arrays.
    Lines,
}

/// The text of a document.
///
/// # Errors
/// When a key is no string.
pub fn written(value: &(impl Serialize + ?Sized), layout: Layout) -> serde_json::Result<String> {
    let mut text = Vec::new();
    write(value, layout, &mut text)?;
    String::from_utf8(text).map_err(serde::ser::Error::custom)
}

/// Writes a document.
///
/// # Errors
/// When it cannot be written, or a key is no string.
pub fn write(
    value: &(impl Serialize + ?Sized),
    layout: Layout,
    output: &mut dyn Write,
) -> serde_json::Result<()> {
    let set = Set {
        layout,
        depth: 0,
        has_parts: false,
    };
    value.serialize(&mut serde_json::Serializer::with_formatter(output, set))
}

/// A document as it is being set.
struct Set {
    layout: Layout,
    /// Brackets that are open.
    depth: usize,
    /// Whether anything stands in the last bracket that was opened or closed within.
    has_parts: bool,
}

impl Set {
    fn open<W: ?Sized + Write>(&mut self, bracket: &[u8], writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.has_parts = false;
        writer.write_all(bracket)
    }

    fn close<W: ?Sized + Write>(&mut self, bracket: &[u8], writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.layout == Layout::Indented && self.has_parts {
            self.indent(writer)?;
        }
        writer.write_all(bracket)
    }

    /// Before a part that stands so deep where lines of [`Layout::Lines`] begin.
    fn next<W: ?Sized + Write>(
        &self,
        first: bool,
        begins_lines: usize,
        writer: &mut W,
    ) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        match self.layout {
            Layout::Indented => self.indent(writer),
            Layout::Lines if self.depth == begins_lines => writer.write_all(b"\n"),
            Layout::Lines | Layout::Compact => Ok(()),
        }
    }

    fn indent<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(b"  "))
    }
}

impl Formatter for Set {
    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(b"{", writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(b"}", writer)
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.next(first, 1, writer)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(if self.layout == Layout::Indented {
            b": "
        } else {
            b":"
        })
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_parts = true;
        Ok(())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(b"[", writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(b"]", writer)
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.next(first, 2, writer)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_parts = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Layout, written};

    #[test]
    fn layouts_are_those_of_serde_json() {
        let document = json!({"a": [1, [], {"b": {}}, [[2.5, "x\n"], null]], "c": {"d": [true], "e": {"f": []}}});
        for value in [document, json!([]), json!({}), json!("ä"), Value::Null] {
            assert_eq!(written(&value, Layout::Compact).unwrap(), value.to_string());
            assert_eq!(
                written(&value, Layout::Indented).unwrap(),
                format!("{value:#}")
            );
            let lines = written(&value, Layout::Lines).unwrap();
            assert_eq!(lines.replace('\n', ""), value.to_string());
        }
    }
}
