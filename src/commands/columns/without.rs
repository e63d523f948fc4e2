//! A build without typed columns says how to get one with them.

use std::io::Write;

use crate::cli::{CollectArgs, ColumnFormat, TableArgs};
use crate::commands::CommandError;
use crate::page::site::WholeTable;

const REMEDY: &str = "this program was built without Parquet and Arrow; build it with them, from a clone: \
                      cargo install --locked --path . --features dataset";

/// There is none in this build.
pub const ALL_CLOCKS: Option<WholeTable> = None;

pub fn table(_args: &TableArgs, _format: ColumnFormat) -> Result<bool, CommandError> {
    Err(CommandError::Failed(REMEDY.into()))
}

pub fn collect(_args: &CollectArgs, _output: &mut dyn Write) -> Result<bool, CommandError> {
    Err(CommandError::Failed(REMEDY.into()))
}
