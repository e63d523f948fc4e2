//! Finds characters that control a terminal: control characters, and those that change the
//! direction of text.

/// Checks that a text contains no such character.
#[track_caller]
pub fn steers_nothing(text: &str) {
    let steers = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let at = text.find(steers);
    assert!(at.is_none(), "{:?}", at.map(|at| around(text, at)));
}

/// The characters around a place in a text.
pub fn around(text: &str, at: usize) -> &str {
    let boundary = |place: &usize| text.is_char_boundary(*place);
    let begin = (0..=at.saturating_sub(80)).rfind(boundary);
    let end = (at + 80..text.len()).find(boundary);
    &text[begin.unwrap_or(0)..end.unwrap_or(text.len())]
}
