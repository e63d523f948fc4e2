//! The report: the document and its formats, one a file.

mod collection;
pub mod csv;
mod document;
pub mod figures;
mod format;
pub mod json;
pub mod machine;
pub mod markdown;
mod output;
pub mod plot;
mod read;
mod row;
mod schema;
mod sections;
pub mod table;
pub mod text;

pub use collection::{Collection, Kept};
pub use document::*;
pub use format::{Format, UnknownEnding};
pub use output::{OutputError, OutputFile};
pub use read::ReadError;
pub use schema::schema;
pub use table::Style;
