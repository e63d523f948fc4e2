//! JSON, read as one kind of text and written by one kind of writer: others would be compiled again
//! for each type.

use std::io::{self, Write};

use serde::Serialize;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use serde_json::ser::Formatter;
use serde_json::value::RawValue;

use super::clipped;

/// Characters of what is told of a text that is no document.
const LONGEST_MESSAGE: usize = 300;

/// What bytes hold.
///
/// # Errors
/// When they are no such document.
pub fn from_bytes<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> serde_json::Result<T> {
    serde_json::from_str(str::from_utf8(bytes).map_err(Error::custom)?)
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
