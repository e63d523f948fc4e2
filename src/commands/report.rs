//! `report`: prints a report in any format, or a page of several reports.

use std::io::{self, Write};

use super::{CommandError, emit, failed, prepare, sentence, tell, view, write_files};
use crate::cli::ReportArgs;
use crate::document::{Document, Render};
use crate::model::Report;
use crate::page;
use crate::plot::ranking;
use crate::report::machine::name;
use crate::report::{Collection, WholeFile};
use crate::table::{Format, Style};

/// Largest total size of the reports of a page in bytes, because all are in memory together. About
/// eighty typical reports fit.
const MAX_TOTAL_BYTES: u64 = 24 << 20;

/// Several reports: a page that compares them, or a sentence about each.
struct Reports<'a> {
    reports: &'a [Report],
    left_out: &'a [String],
}

impl Render for Reports<'_> {
    fn write(&self, format: Format, style: Style, output: &mut dyn Write) -> io::Result<()> {
        if format == Format::Html {
            let page = page::render(self.reports, self.left_out, Some(sentence));
            return output.write_all(page.map_err(io::Error::other)?.as_bytes());
        }
        let mut document = Document::new(self.reports);
        for report in self.reports {
            let sentence = sentence(report).unwrap_or_default();
            document = document.heading(name(report)).paragraph(sentence);
        }
        document.write(format, style, output)
    }
}

/// Runs the command. Returns `true` if all reports could be read.
///
/// # Errors
/// When no report could be read, or the requested format cannot be written.
pub fn run(args: &ReportArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let outputs = prepare(&args.output)?;
    let svg = args.svg.as_deref().map(WholeFile::prepare).transpose();
    let svg = svg.map_err(failed)?;
    let Some(read) = Collection::read_whole(&args.reports, MAX_TOTAL_BYTES) else {
        return Err(CommandError::Failed(format!(
            "the reports are longer than {} MiB together, too much for one page: make a site of them with `timermeter publish`",
            MAX_TOTAL_BYTES >> 20
        )));
    };
    let left_out: Vec<String> = read.refused.iter().map(ToString::to_string).collect();
    for reason in &left_out {
        tell(&format!("left out: {reason}"));
    }
    let reports: Vec<_> = read.reports.into_iter().map(|kept| kept.content).collect();
    match reports.as_slice() {
        [] => return Err(failed("there is no report to show")),
        [report] => {
            let document = view(report, args.detail.wanted());
            match svg {
                Some(file) => {
                    file.commit(draw_timers(report)?.as_bytes())
                        .map_err(failed)?;
                    write_files(&document, outputs.files)?;
                }
                None => emit(&document, outputs, output)?,
            }
        }
        _ if svg.is_some() => return Err(failed("--svg draws one report; name one")),
        reports => {
            let left_out = &left_out;
            emit(&Reports { reports, left_out }, outputs, output)?;
        }
    }
    Ok(left_out.is_empty())
}

/// The plot of all timers.
fn draw_timers(report: &Report) -> Result<String, CommandError> {
    let figure = ranking(report).map(|plot| plot.svg(&format!("Timers of {}", name(report))));
    figure.ok_or_else(|| failed("no timer of the report has both a step and a cost in cycles"))
}
