//! JSON of others, read as one kind of text: a reader of its own for each kind of source would be compiled again for each type.

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
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
pub fn by_text<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<T, D::Error> {
    let text = Box::<RawValue>::deserialize(deserializer)?;
    serde_json::from_str(text.get()).map_err(|error| D::Error::custom(json_error(&error)))
}

/// What is wrong with a text that is no such document, without the place, which is told apart. It quotes the text, which may
/// hold anything.
#[must_use]
pub fn json_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    clipped(text.strip_suffix(&place).unwrap_or(&text), LONGEST_MESSAGE)
}
