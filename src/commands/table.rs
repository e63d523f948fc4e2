//! `table`: one or many reports as a table.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

use clap::ValueEnum;

use super::{CommandError, failed, tell, tell_refused, terminal_style};
use crate::cli::{Columns, TableArgs};
use crate::report::{WholeFile, is_standard};
use crate::table::Format;
use crate::tabulation::{Layout, Tabulation, whole};

/// Narrower terminals have no room for all columns.
const NARROW: usize = 110;

/// Runs the command. Returns whether all files could be read.
///
/// # Errors
/// When none could, or the output cannot be written.
pub fn run(args: &TableArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let format = args
        .format()
        .map_err(|error| CommandError::Usage(error.to_string()))?;
    if args.columns.contains(&Columns::All) || format == Format::Parquet {
        return write_whole(args, format);
    }
    let file = args
        .output
        .as_deref()
        .map(WholeFile::prepare)
        .transpose()
        .map_err(failed)?;
    let style = terminal_style();
    let for_people = format == Format::Table && style.width.is_some() && file.is_none();
    let narrow = for_people && style.columns() < NARROW;
    let tabulation = Tabulation::first_of(&args.reports, args.choices(narrow));
    let complete = tell_refused(&tabulation.refused, tabulation.reports())?;
    if let Some(file) = file {
        let mut text = Vec::new();
        tabulation.write(format, args.standalone, &mut text)?;
        file.commit(&text).map_err(failed)?;
    } else if for_people && args.layout == Layout::Stacked {
        output.write_all(tabulation.on_terminal(style).as_bytes())?;
    } else {
        tabulation.write(format, args.standalone, output)?;
    }
    output.flush()?;
    if let (kind, 0) = tabulation.rows() {
        tell(&format!(
            "these reports have no {} with figures; --all shows those without",
            kind.in_words()
        ));
    }
    for (kind, rows) in tabulation.others.iter().filter(|_| args.kind.is_none()) {
        let flag = kind
            .to_possible_value()
            .map(|value| value.get_name().to_owned())
            .unwrap_or_default();
        tell(&format!(
            "these reports have {rows} rows of {} too: --kind {flag} shows them",
            kind.in_words()
        ));
    }
    Ok(complete)
}

/// Writes all columns of all rows, however many reports there are.
fn write_whole(args: &TableArgs, format: Format) -> Result<bool, CommandError> {
    let usage = |why: &str| Err(CommandError::Usage(why.to_owned()));
    let chosen = args.columns.iter().any(|column| *column != Columns::All) || args.top.is_some();
    if chosen || args.sort.is_some() || args.reverse || args.layout != Layout::Stacked {
        return usage(
            "`--columns all` and Parquet hold all columns and rows, in the order of the reports: choose and sort where they are read",
        );
    }
    let path = args.output.as_deref().unwrap_or(Path::new("-"));
    let write: whole::WriteTable = match format {
        Format::Csv => whole::write_csv,
        Format::Parquet if is_standard(path) && std::io::stdout().is_terminal() => {
            return usage(
                "Parquet is no text, and is not written to a terminal: name a file (--output), or a pipe",
            );
        }
        Format::Parquet => whole::PARQUET.ok_or_else(|| {
            failed(
                "this program was built without the feature `parquet`; build it with that, from a clone: \
                 cargo install --locked --path . --features parquet",
            )
        })?,
        _ => {
            return usage("`--columns all` is written as CSV or Parquet: -f csv, -f parquet");
        }
    };
    let kind = args.kind.unwrap_or_default();
    let mut file = WholeFile::prepare(path).map_err(failed)?;
    let written = write(&args.reports, kind, &mut file).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => CommandError::Closed,
        _ => failed(file.explain(error)),
    })?;
    let complete = tell_refused(&written.refused, written.reports)?;
    file.finish().map_err(failed)?;
    if written.rows == 0 {
        tell(&format!(
            "these reports have no {}: --kind names others",
            kind.in_words()
        ));
    }
    Ok(complete)
}
