//! How text is written, for all that write some: numbers with a unit that fits, text from elsewhere made harmless, text folded
//! to a width, and characters that a format would take for its own.

pub mod json;
mod lists;
pub mod numbers;
mod plain;

pub use json::{by_text, from_bytes, json_error};
pub use lists::{and_more, counted, first_part, in_short, runs_of};
pub use plain::{clipped, columns, fold_name, hang, plain, shortened, wrap};
