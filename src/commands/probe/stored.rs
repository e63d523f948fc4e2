//! `probe --from`: prints stored reports, and those of stored traces.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use super::super::files::{has_figures, store};
use super::super::printed::Printed;
use super::super::{CommandResult, emit, failed, prepare_outputs, report_unreadable, usage};
use crate::cli::ProbeArgs;
use crate::recording::{MAX_PACKED_BYTES, TraceFile};
use crate::selection::select;
use estimators::model::Report;
use reporting::fields::all_rows;
use reporting::format::json;
use reporting::input::{self, MAX_REPORT_BYTES};
use reporting::report::{Archive, checked, files, parse_bytes};
use reporting::text::plain;

/// Largest total size of reports in bytes, also of those made from traces, because all are in memory at
/// the same time; some hundred typical reports fit.
const MAX_TOTAL_BYTES: usize = 24 << 20;
/// The first bytes of a trace: those of gzip (RFC 1952).
const TRACE: [u8; 2] = [0x1f, 0x8b];

/// Runs the command. Returns `true` if all files could be read and all timers given by id have
/// figures.
///
/// # Errors
/// When no file could be read, a name is in none, the reports are too large together, or an output
/// cannot be written.
pub(super) fn run(args: &ProbeArgs, output: &mut dyn Write) -> CommandResult<bool> {
    let outputs = prepare_outputs(&args.run.output)?;
    let (mut reports, mut refused, mut bytes) = (Vec::new(), Vec::new(), 0);
    for file in args.from.iter().flat_map(|path| files(path)) {
        let read = file.map_err(|error| error.to_string());
        match read.and_then(|path| report_at(&path, &mut bytes)) {
            Ok(report) => reports.push(report),
            Err(why) => refused.push(plain(&why)),
        }
        if bytes > MAX_TOTAL_BYTES {
            return Err(failed(format!(
                "the reports have more than {} MiB together: make a site of them with `timermeter publish`",
                MAX_TOTAL_BYTES >> 20
            )));
        }
    }
    let is_complete = report_unreadable(&refused, reports.len())?;
    if let Some(base) = &args.run.save {
        for report in &reports {
            store(Archive::prepare(base).map_err(failed)?, report)?;
        }
    }
    let names = &args.run.timers;
    let rows = reports.iter().flat_map(all_rows);
    let ids: Vec<&str> = rows.map(|row| row.id().as_str()).collect();
    let selected = select(names, &ids).map_err(|why| {
        let files: Vec<_> = args
            .from
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        usage(format!(
            "'{}': {}",
            files.join("', '"),
            why.message_for_report(&ids)
        ))
    })?;
    let selected: Vec<String> = selected.into_iter().map(str::to_owned).collect();
    for report in &mut reports {
        report.timers.retain(|row| selected.contains(&row.id));
        report.waits.retain(|row| selected.contains(&row.id));
        report.periods.retain(|row| selected.contains(&row.id));
    }
    let printed = Printed {
        reports: &reports,
        left_out: &refused,
        detail: args.run.detail(),
        are_named: !names.is_empty(),
    };
    emit(&printed, outputs, output)?;
    Ok(is_complete && reports.iter().all(|report| has_figures(report, names)))
}

/// Reads a report, or computes that of a trace. Adds the size of a report to `bytes`.
fn report_at(path: &Path, bytes: &mut usize) -> Result<Report, String> {
    let name = path.display().to_string();
    let unreadable = |error| format!("cannot read '{name}': {error}");
    let mut source = BufReader::new(input::open(path).map_err(unreadable)?);
    let is_trace = source.fill_buf().map_err(unreadable)?.starts_with(&TRACE);
    let limit = if is_trace {
        MAX_PACKED_BYTES
    } else {
        MAX_REPORT_BYTES
    };
    let content = input::read_from(source, limit).map_err(unreadable)?;
    if !is_trace {
        *bytes += content.len();
        return parse_bytes(&content, path).map_err(|error| error.to_string());
    }
    let report = TraceFile::unpack(&content, &name)?.report();
    let content = json::render_compact(&report);
    *bytes += content.len();
    // Refused here if reading it back would fail.
    checked(&content).map_err(|what| {
        format!("'{name}' is a damaged trace, because its report would be impossible: {what}")
    })
}
