//! `report`: prints a report in any format, or a page of several reports.

use std::io::{self, Write};

use super::{CommandResult, emit, failed, prepare_outputs, printed_report, write_files};
use crate::choice::advise;
use crate::cli::ReportArgs;
use crate::document::{Document, Render};
use crate::messages::print_message;
use crate::model::Report;
use crate::page;
use crate::plot::ranking;
use crate::report::machine::name;
use crate::report::{Collection, WholeFile};
use crate::table::{Format, Style};
use crate::text::plain;

/// Largest total size of the reports of a page in bytes. It is limited because all reports are in
/// memory at the same time; about eighty typical reports fit.
const MAX_TOTAL_BYTES: u64 = 24 << 20;

/// Several reports: an HTML page that compares them, or the recommendation of each as text.
struct Reports<'a> {
    reports: &'a [Report],
    left_out: &'a [String],
}

impl Render for Reports<'_> {
    fn write(&self, format: Format, style: Style, output: &mut dyn Write) -> io::Result<()> {
        if format == Format::Html {
            let page = page::render(self.reports, self.left_out);
            return output.write_all(page.map_err(io::Error::other)?.as_bytes());
        }
        let mut document = Document::new(self.reports);
        for report in self.reports {
            let sentence = advise(report).sentence.unwrap_or_default();
            document = document.heading(name(report)).paragraph(sentence);
        }
        document.write(format, style, output)
    }
}

/// Runs the command. Returns `true` if all reports could be read.
///
/// # Errors
/// When no report could be read, or the requested format cannot be written.
pub fn run(args: &ReportArgs, output: &mut dyn Write) -> CommandResult<bool> {
    let outputs = prepare_outputs(&args.output)?;
    let svg = args
        .svg
        .as_deref()
        .map(WholeFile::prepare)
        .transpose()
        .map_err(failed)?;
    let Some(read) = Collection::read_whole(&args.reports, MAX_TOTAL_BYTES) else {
        return Err(failed(format!(
            "the reports have more than {} MiB together, too much for one page: make a site of them with `timermeter publish`",
            MAX_TOTAL_BYTES >> 20
        )));
    };
    let left_out: Vec<String> = read
        .refused
        .iter()
        .map(|error| plain(&error.to_string()))
        .collect();
    for reason in &left_out {
        print_message(&format!("left out: {reason}"));
    }
    let reports: Vec<_> = read.reports.into_iter().map(|kept| kept.content).collect();
    match reports.as_slice() {
        [] => return Err(failed("there is no readable report")),
        [report] => {
            let document = printed_report(report, args.detail.level());
            match svg {
                Some(file) => {
                    file.commit(draw_timers(report)?.as_bytes())
                        .map_err(failed)?;
                    write_files(&document, outputs.files)?;
                }
                None => emit(&document, outputs, output)?,
            }
        }
        _ if svg.is_some() => {
            return Err(failed(
                "--svg draws a single report, but several were given",
            ));
        }
        reports => {
            let left_out = &left_out;
            emit(&Reports { reports, left_out }, outputs, output)?;
        }
    }
    Ok(left_out.is_empty())
}

/// The plot of all timers of a report as SVG, cost over resolution.
fn draw_timers(report: &Report) -> CommandResult<String> {
    let figure = ranking(report, advise(report).clock.as_deref())
        .map(|plot| plot.svg(&format!("Clocks of {}", name(report))));
    figure.ok_or_else(|| {
        failed("nothing to draw: no timer of the report has both a resolution and a cost in cycles")
    })
}
