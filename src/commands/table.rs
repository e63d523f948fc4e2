//! `table`: one or many reports as a table.

use std::io::Write;

use clap::ValueEnum;

use super::{CommandError, columns, failed, tell, tell_refused, terminal_style};
use crate::cli::{TableArgs, TableFormat};
use crate::report::WholeFile;
use crate::table::Format;
use crate::tabulation::{Layout, Tabulation};

/// Narrower terminals have no room for all columns.
const NARROW: usize = 110;

/// Runs the command. Returns whether all files could be read.
///
/// # Errors
/// When none could, or the output cannot be written.
pub fn run(args: &TableArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let format = match args.format() {
        TableFormat::Shown(format) if args.standalone => format.standalone(),
        TableFormat::Shown(format) => format,
        TableFormat::Typed(_) if args.top.is_some() => {
            return Err(CommandError::Usage("--top: files of typed columns hold all rows".into()));
        }
        TableFormat::Typed(format) => return columns::table(args, format),
    };
    let file = args.output.as_deref().map(WholeFile::prepare).transpose().map_err(failed)?;
    let style = terminal_style();
    let for_people = format == Format::Table && style.width.is_some() && file.is_none();
    let narrow = for_people && style.columns() < NARROW;
    let tabulation = Tabulation::first_of(&args.reports, args.choices(narrow));
    let complete = tell_refused(&tabulation.refused, tabulation.reports())?;
    if let Some(file) = file {
        let mut text = Vec::new();
        tabulation.write(format, &mut text)?;
        file.commit(&text).map_err(failed)?;
    } else if for_people && args.layout == Layout::Stacked {
        output.write_all(tabulation.on_terminal(style).as_bytes())?;
    } else {
        tabulation.write(format, output)?;
    }
    output.flush()?;
    if let (kind, 0) = tabulation.rows() {
        tell(&format!("these reports have no {} with figures; --all shows those without", kind.in_words()));
    }
    for (kind, rows) in tabulation.others.iter().filter(|_| args.kind.is_none()) {
        let flag = kind.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        tell(&format!("these reports have {rows} rows of {} too: --kind {flag} shows them", kind.in_words()));
    }
    Ok(complete)
}
