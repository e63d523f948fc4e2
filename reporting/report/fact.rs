//! Lines of text about a machine or a timer, each a name and a value.

/// A line: what it is about, and what is known.
pub type Fact = (&'static str, String);

/// Longest text from elsewhere that is printed.
pub(super) const LONGEST: usize = 300;
