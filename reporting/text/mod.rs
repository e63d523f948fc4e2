//! How text is written, for all that write some: numbers with a unit that fits, text from elsewhere
//! made harmless, text folded to a width, and characters that a format would take for its own.

pub mod json;
pub use estimators::numbers;
mod plain;

pub use json::{CleanStrings, by_text, clean_strings, cleaned, from_bytes, json_error};
pub use plain::{
    LONGEST_TEXT, clipped, columns, counted, first_part, fold_name, hang, in_short, plain, runs_of,
    shortened, wrap,
};
