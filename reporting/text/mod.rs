//! Formats text for all outputs: numbers with a suitable unit, sanitised untrusted text, text
//! folded to a width, and escaped special characters.

pub mod json;
pub use estimators::numbers;
mod plain;

pub use json::{CleanStrings, by_text, clean_strings, cleaned, from_bytes, json_error};
pub use plain::{
    LONGEST_TEXT, clipped, columns, counted, first_part, fold_name, hang, in_short, plain, runs_of,
    shortened, wrap,
};
