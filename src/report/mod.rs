//! The report: the document and its formats, one a file.

mod document;

pub use document::*;
