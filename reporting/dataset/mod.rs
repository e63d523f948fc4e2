//! Reports in columns: the rows of many reports, typed, for the tools that ask questions of tables. One column list a kind of rows
//! (`column.rs`), from which the files and their documentation follow; one file (`file.rs`) or a dataset in partitions
//! (`partitions.rs`); reports are read and written batch by batch, so that any number of them fits the memory.

mod batches;
mod column;
mod compact;
mod file;
mod identity;
mod partitions;
mod parts;
mod sheet;
mod stream;

pub use batches::{Batch, each_batch};
pub use column::columns;
pub use compact::{Compacted, compact};
pub use file::{FileFormat, TableFile};
pub use partitions::{Added, Dataset, DatasetError};
pub use sheet::{Choice, Sheet};
