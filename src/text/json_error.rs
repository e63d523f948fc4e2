//! What is wrong with a text that is no JSON, or not the document that it should be.

use super::clipped;

/// Characters of what is told of a text that is no document.
const LONGEST_MESSAGE: usize = 300;

/// What is wrong with a text that is no such document, without the place, which is told apart. It quotes the text, which may
/// hold anything.
#[must_use]
pub fn json_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    clipped(text.strip_suffix(&place).unwrap_or(&text), LONGEST_MESSAGE)
}
