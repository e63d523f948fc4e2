//! `table`: one or many reports as a table.

use std::io::Write;

use super::{CommandError, tell_refused, terminal_style};
use crate::cli::TableArgs;
use crate::table::Format;
use crate::tabulation::{Layout, Tabulation};

/// Narrower terminals have no room for all columns.
const NARROW: usize = 110;

/// Runs the command. Returns whether all files could be read.
///
/// # Errors
/// When none could, or the output cannot be written.
pub fn run(args: &TableArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let style = terminal_style();
    let for_people = args.format == Format::Table && style.width.is_some();
    let narrow = for_people && style.columns() < NARROW;
    let tabulation = Tabulation::read(&args.reports, args.choice(narrow));
    let complete = tell_refused(&tabulation.refused, tabulation.reports())?;
    if for_people && args.layout == Layout::Stacked {
        output.write_all(tabulation.on_terminal(style).as_bytes())?;
    } else {
        tabulation.write(args.format, output)?;
    }
    output.flush()?;
    Ok(complete)
}
