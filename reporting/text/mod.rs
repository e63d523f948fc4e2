//! Formats text for all outputs: writes numbers with a suitable unit, removes control characters
//! from text of agents and other programs, and folds text to the width of a terminal.

pub mod json;
pub use estimators::numbers;
mod plain;

pub use json::{CleanStrings, by_text, clean_strings, cleaned, json_error};
pub use plain::{
    LONGEST_TEXT, ascii, clipped, counted, date_time, display_width, fold, hang, plain, shortened,
    summarise_names, without_unit, wrap,
};
