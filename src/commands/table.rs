//! `table`: prints one or many reports as a table.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::PathBuf;

use clap::ValueEnum;

use super::{CommandError, emit, failed, prepare, report_unreadable, tell, terminal_style};
use crate::cli::{Columns, Output, TableArgs};
use crate::report::{WholeFile, is_stdout};
use crate::table::Format;
use crate::tabulation::{Layout, Tabulation, all_columns};

/// Smallest width of a terminal, in columns of text, that fits all columns of the table.
const MIN_WIDE_COLUMNS: usize = 110;

/// Runs the command. Returns `true` if all files could be read.
///
/// # Errors
/// When no file could be read, or the output cannot be written.
pub fn run(args: &TableArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let formats = args.output.outputs.iter().map(|output| output.format);
    let has_parquet = formats
        .chain([args.output.format])
        .any(|it| it == Format::Parquet);
    if args.columns.contains(&Columns::All) || has_parquet {
        return write_whole(args);
    }
    let outputs = prepare(&args.output)?;
    let style = terminal_style();
    let for_people = outputs.format == Format::Table && style.width.is_some();
    let narrow = for_people && style.columns() < MIN_WIDE_COLUMNS;
    let tabulation = Tabulation::read(&args.reports, args.choices(narrow));
    let complete = report_unreadable(&tabulation.refused, tabulation.reports())?;
    emit(&tabulation, outputs, output)?;
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

/// Writes all columns of all rows of any number of reports: to the named files, and to standard
/// output if no file is named or `--format` is given.
fn write_whole(args: &TableArgs) -> Result<bool, CommandError> {
    let usage = |why: &str| CommandError::Usage(why.to_owned());
    let chosen = args.columns.iter().any(|column| *column != Columns::All) || args.top.is_some();
    if chosen || args.sort.is_some() || args.reverse || args.layout != Layout::Stacked {
        return Err(usage(
            "`--columns all` and Parquet hold all columns and rows, in the order of the reports: choose and sort where they are read",
        ));
    }
    let mut outputs = args.output.outputs.clone();
    if outputs.is_empty() || args.output.format != Format::Table {
        let path = PathBuf::from("-");
        let format = args.output.format;
        outputs.push(Output { path, format });
    }
    let kind = args.kind.unwrap_or_default();
    let writer =
        |Output { path, format }: &Output| -> Result<all_columns::WriteTable, CommandError> {
            match format {
            Format::Csv => Ok(all_columns::write_csv),
            Format::Table if is_stdout(path) => Ok(all_columns::write_csv),
            Format::Parquet if is_stdout(path) && std::io::stdout().is_terminal() => Err(usage(
                "Parquet is not written to a terminal: name a file (--output)",
            )),
            Format::Parquet => all_columns::PARQUET.ok_or_else(|| {
                failed(
                    "this program was built without the feature `parquet`; build it with that, from a clone: \
                     cargo install --locked --path . --features parquet",
                )
            }),
            _ => Err(usage("`--columns all` is written as CSV or Parquet")),
        }
        };
    let writers: Vec<_> = outputs.iter().map(writer).collect::<Result<_, _>>()?;
    let mut complete = true;
    for (Output { path, .. }, write) in outputs.iter().zip(writers) {
        let mut file = WholeFile::prepare(path).map_err(failed)?;
        let written =
            write(&args.reports, kind, &mut file).map_err(|error| match error.kind() {
                ErrorKind::BrokenPipe => CommandError::Closed,
                _ => failed(file.explain(error)),
            })?;
        complete = report_unreadable(&written.refused, written.reports)?;
        file.finish().map_err(failed)?;
        if written.rows == 0 {
            let kind = kind.in_words();
            tell(&format!(
                "these reports have no {kind}: --kind names others"
            ));
        }
    }
    Ok(complete)
}
