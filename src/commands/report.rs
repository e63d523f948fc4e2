//! `report`: one page of some reports.

use std::io::Write;

use super::{CommandError, failed, tell};
use crate::cli::ReportArgs;
use crate::page;
use crate::report::{Collection, WholeFile};
use crate::text::plain;

/// Bytes of the reports of a page together, as all are held at once: some eighty of those that a run writes.
const MOST: u64 = 24 << 20;

/// Runs the command. Returns whether all reports could be read.
///
/// # Errors
/// When none could be read, or the page cannot be written.
pub fn run(args: &ReportArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let file = WholeFile::prepare(&args.output).map_err(failed)?;
    let Some(read) = Collection::read_whole(&args.reports, MOST) else {
        return Err(CommandError::Failed(format!(
            "the reports are longer than {} MiB together, too much for one page: make a site of them with `timermeter publish`",
            MOST >> 20
        )));
    };
    let left_out: Vec<String> = read.refused.iter().map(|error| plain(&error.to_string())).collect();
    for reason in &left_out {
        tell(&format!("left out: {reason}"));
    }
    let reports: Vec<_> = read.reports.into_iter().map(|kept| kept.content).collect();
    if reports.is_empty() {
        return Err(CommandError::Failed("there is no report to show".to_owned()));
    }
    let text = page::render(&reports, &left_out).map_err(failed)?;
    file.commit(text.as_bytes()).map_err(failed)?;
    let size = text.len().div_ceil(1000);
    let written = args.output.display();
    match reports.len() {
        1 => writeln!(output, "{written}: 1 report, {size} kB")?,
        count => writeln!(output, "{written}: {count} reports, {size} kB")?,
    }
    Ok(left_out.is_empty())
}
