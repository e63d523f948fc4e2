//! `table`: prints one or more reports as a table.

use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use super::{CommandError, CommandResult, emit, failed, prepare_outputs, report_unreadable};
use crate::cli::{OutputFile, TableArgs};
use crate::fields::Kind;
use crate::format::Format;
use crate::messages::print_message;
use crate::report::{WholeFile, is_stdout};
use crate::tabulation::{ColumnName, Tabulation, all_columns};

/// Runs the command. Returns `true` if all files could be read.
///
/// # Errors
/// When no kind of rows has all columns, no file could be read, or the output cannot be written.
pub fn run(args: &TableArgs, output: &mut dyn Write) -> CommandResult<bool> {
    if args.columns.contains(&ColumnName::ALL) {
        return write_all_columns(args);
    }
    let choices = args.choices();
    if choices.is_empty() {
        return Err(usage_error(
            "no row has all of these columns: those of clocks, of sleep primitives and of periodic timers are in tables of their own",
        ));
    }
    let outputs = prepare_outputs(&args.output)?;
    let tabulation = Tabulation::read(&args.reports, choices);
    let is_complete = report_unreadable(&tabulation.refused, tabulation.reports)?;
    emit(&tabulation, outputs, output)?;
    if let (kind, 0) = tabulation.rows() {
        print_message(&format!(
            "these reports have no {} with figures; --all shows those without figures",
            kind.in_words()
        ));
    }
    Ok(is_complete)
}

fn usage_error(why: &str) -> CommandError {
    CommandError::Usage(why.to_owned())
}

/// Writes all columns and rows of any number of reports to the files of `--output`; also to
/// standard output if there are no files or `--format` is given.
fn write_all_columns(args: &TableArgs) -> CommandResult<bool> {
    if args.columns.len() > 1 || args.by.is_some() {
        return Err(usage_error(
            "`--columns all` has all columns of each timer: name no others, and no --by",
        ));
    }
    let mut outputs = args.output.outputs.clone();
    if outputs.is_empty() || args.output.format != Format::Table {
        let path = PathBuf::from("-");
        let format = args.output.format;
        outputs.push(OutputFile { path, format });
    }
    let is_csv = |output: &OutputFile| {
        output.format == Format::Csv || output.format == Format::Table && is_stdout(&output.path)
    };
    if !outputs.iter().all(is_csv) {
        return Err(usage_error("`--columns all` is only written as CSV"));
    }
    let mut is_complete = true;
    for OutputFile { path, .. } in &outputs {
        let mut file = WholeFile::prepare(path).map_err(failed)?;
        let mut kinds = Kind::ALL.into_iter();
        let written = kinds
            .find_map(|kind| {
                let written = all_columns::write_csv(&args.reports, kind, &mut file);
                let is_wanted = !matches!(&written, Ok(written) if written.rows == 0);
                (is_wanted || kind == Kind::Periods).then_some(written)
            })
            .expect("there are periods");
        let written = written.map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => CommandError::Closed,
            _ => failed(file.explain(error)),
        })?;
        is_complete = report_unreadable(&written.refused, written.reports)?;
        file.finish().map_err(failed)?;
        if written.rows == 0 {
            print_message(&"these reports have no timers");
        }
    }
    Ok(is_complete)
}
