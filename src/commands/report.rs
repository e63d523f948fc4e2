//! `report`: one report in any format, one page of some, or the figure of one.

use std::io::Write;
use std::path::Path;

use super::{CommandError, failed, show, tell};
use crate::cli::ReportArgs;
use crate::model::Report;
use crate::page;
use crate::report::machine::name;
use crate::report::plot::ranking;
use crate::report::plot::svg::standalone;
use crate::report::{Collection, WholeFile, is_standard};
use crate::text::plain;

/// Bytes of the reports of a page together, as all are held at once: some eighty of those that a
/// run writes.
const MOST: u64 = 24 << 20;

/// Runs the command. Returns whether all reports could be read.
///
/// # Errors
/// When none could be read, or what was asked for cannot be written.
pub fn run(args: &ReportArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let page = args.output.as_deref().map(prepared).transpose()?;
    let figure = args.svg.as_deref().map(prepared).transpose()?;
    let Some(read) = Collection::read_whole(&args.reports, MOST) else {
        return Err(CommandError::Failed(format!(
            "the reports are longer than {} MiB together, too much for one page: make a site of them with `timermeter publish`",
            MOST >> 20
        )));
    };
    let left_out: Vec<String> = read
        .refused
        .iter()
        .map(|error| plain(&error.to_string()))
        .collect();
    for reason in &left_out {
        tell(&format!("left out: {reason}"));
    }
    let reports: Vec<_> = read.reports.into_iter().map(|kept| kept.content).collect();
    if reports.is_empty() {
        return Err(CommandError::Failed(
            "there is no report to show".to_owned(),
        ));
    }
    if figure.is_none() && page.is_none() {
        let [report] = reports.as_slice() else {
            return Err(CommandError::Usage(
                "several reports are a page: name it with --output, or print them with `timermeter table`; --format is of one"
                    .to_owned(),
            ));
        };
        show(report, args.format, args.detail.wanted(), output)?;
    }
    if let Some((file, name)) = figure {
        commit(file, name, &drawn(&reports)?, 1, output)?;
    }
    if let Some((file, name)) = page {
        commit(
            file,
            name,
            &page::render(&reports, &left_out, Some(super::sentence)).map_err(failed)?,
            reports.len(),
            output,
        )?;
    }
    Ok(left_out.is_empty())
}

fn prepared(file: &Path) -> Result<(WholeFile, &Path), CommandError> {
    Ok((WholeFile::prepare(file).map_err(failed)?, file))
}

fn drawn(reports: &[Report]) -> Result<String, CommandError> {
    let [report] = reports else {
        return Err(CommandError::Failed(
            "--svg draws one report; name one".to_owned(),
        ));
    };
    let figure = ranking::ranking(report).map_err(failed)?;
    let title = format!("Timers of {}", name(report));
    let figure = figure.map(|drawn| standalone(&drawn.svg, &title));
    figure.ok_or_else(|| {
        CommandError::Failed(
            "no timer of the report has both a step and a cost in cycles".to_owned(),
        )
    })
}

fn commit(
    file: WholeFile,
    name: &Path,
    text: &str,
    reports: usize,
    output: &mut dyn Write,
) -> Result<(), CommandError> {
    file.commit(text.as_bytes()).map_err(failed)?;
    if is_standard(name) {
        return Ok(());
    }
    let (written, size) = (name.display(), text.len().div_ceil(1000));
    match reports {
        1 => writeln!(output, "{written}: 1 report, {size} kB")?,
        count => writeln!(output, "{written}: {count} reports, {size} kB")?,
    }
    Ok(())
}
