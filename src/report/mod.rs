//! The report: the document and its formats, one a file.

mod archive;
mod collection;
pub mod conditions;
pub mod csv;
mod document;
pub mod escape;
pub mod facts;
pub mod figures;
mod format;
pub mod json;
pub mod machine;
pub mod markdown;
mod output;
mod platform;
pub mod plot;
mod read;
mod row;
mod schema;
mod sections;
mod slug;
pub mod table;
pub mod text;
mod verdicts;

pub use archive::Archive;
pub use collection::{Collection, Kept};
pub use document::*;
pub use format::{Format, UnknownEnding};
pub use output::{OutputError, OutputFile, WholeFile};
pub use platform::*;
pub use read::ReadError;
pub use schema::schema;
pub use slug::slug;
pub use table::Style;
pub use verdicts::*;
