//! The report on its way in and out: read and checked, and written in its formats, one a file. What it is stands in
//! [`model`](crate::model).

mod archive;
mod baseline;
mod collection;
pub mod common_time;
pub mod conditions;
mod costs;
pub mod csv;
mod digest;
mod fact;
pub mod facts;
mod format;
pub mod json;
pub mod machine;
pub mod markdown;
mod muster;
mod node;
mod notes;
pub mod openmetrics;
mod output;
pub mod plot;
mod range;
mod rank;
mod read;
mod rows;
#[cfg(feature = "schema")]
mod schema;
mod sections;
mod size;
mod slug;
pub mod terminal;
pub mod waits;

pub use archive::Archive;
pub use baseline::{Baselines, Unresolved, home, is_name};
pub use collection::{Collection, Kept, files};
pub use fact::Fact;
pub use format::{Format, UnknownEnding};
pub use muster::{Muster, Mustering};
pub use node::{called, node};
pub use output::{OutputError, OutputFile, WholeFile, is_standard};
pub use range::{Impossible, impossible};
pub use rank::ranks;
pub use read::{ReadError, parse, read};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use sections::written_rank;
pub use slug::slug;
