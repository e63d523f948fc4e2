//! `table`: prints one or more reports as a table.

use std::io::Write;
use std::path::PathBuf;

use super::{CommandResult, emit, prepare_outputs, report_unreadable, usage, write_files};
use crate::cli::TableArgs;
use crate::messages::print_message;
use reporting::format::Format;
use reporting::tabulation::{AllColumns, ColumnName, Tabulation};

/// Runs the command. Returns `true` if all files could be read.
///
/// # Errors
/// When no kind of rows has all columns, no file could be read, or the output cannot be written.
pub fn run(args: &TableArgs, output: &mut dyn Write) -> CommandResult<bool> {
    if args.columns.contains(&ColumnName::ALL) {
        return write_all_columns(args, output);
    }
    let choices = args.choices();
    if choices.is_empty() {
        return Err(usage(
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

/// Writes all columns and rows of any number of reports to the files of `--output`; also to
/// standard output if there are no files or `--format` is given.
fn write_all_columns(args: &TableArgs, output: &mut dyn Write) -> CommandResult<bool> {
    if args.columns.len() > 1 || args.by.is_some() {
        return Err(usage(
            "`--columns all` has all columns of each timer: name no others, and no --by",
        ));
    }
    if args.reports.contains(&PathBuf::from("-")) {
        return Err(usage(
            "`--columns all` reads files several times: name files, not `-`",
        ));
    }
    let mut outputs = prepare_outputs(&args.output)?;
    let all = AllColumns::new(&args.reports);
    let result = if outputs.format == Format::Table && !outputs.files.is_empty() {
        write_files(&all, outputs.files)
    } else {
        if outputs.format == Format::Table {
            outputs.format = Format::Csv;
        }
        emit(&all, outputs, output)
    };
    let written = all.written.take();
    if written.reports > 0 || written.refused.is_empty() {
        result?;
    }
    let is_complete = report_unreadable(&written.refused, written.reports)?;
    if written.rows == 0 {
        print_message(&"these reports have no timers");
    }
    Ok(is_complete)
}
