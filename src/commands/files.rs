//! Writes the output files of a run (`--output`, `--trace`, `--save`, `--baseline`), and prints its
//! report.

use std::io::Write;

use super::printed::Printed;
use super::{CommandResult, Outputs, common, emit, failed, prepare_outputs, write_files};
use crate::cli::RunArgs;
use crate::messages::{is_quiet, print_message};
use crate::recording::TraceFile;
use crate::runs::{FinishedRun, RunError};
use estimators::model::{Report, Status};
use reporting::fields::all_rows;
use reporting::format::json;
use reporting::report::{Archive, Baselines, WholeFile, is_stdout};

/// The output files of a run. They are checked before anything is measured, and written before the
/// report is printed, so that no result is lost if standard output is closed.
struct Files {
    outputs: Outputs,
    trace: Option<WholeFile>,
    archive: Option<Archive>,
    /// The name of the baseline, and its file.
    baseline: Option<(String, WholeFile)>,
    /// Whether the trace is printed on standard output instead of the report.
    prints_trace: bool,
}

/// Measures, writes all files and prints the report, in detail if its timers `are_named`. Returns
/// `true` if the recording is complete and all timers given by name have figures.
///
/// # Errors
/// The errors of `measure`; when a file cannot be written, before anything is measured.
pub(super) fn run(
    args: &RunArgs,
    are_named: bool,
    measure: impl FnOnce() -> Result<FinishedRun, RunError>,
    output: &mut dyn Write,
) -> CommandResult<bool> {
    let files = Files::prepare(args)?;
    let run = named(measure()?);
    let report = files.finish(&run.recording, args, are_named, output)?;
    Ok(run.is_complete && has_figures(&report, &args.timers))
}

/// Whether the timers of these names have figures in a report.
pub(super) fn has_figures(report: &Report, names: &[String]) -> bool {
    let rows = all_rows(report);
    let mut named = rows.iter().filter(|row| names.contains(row.id()));
    named.all(|row| row.status() == Status::Ok)
}

/// Stores a report in its folder, and says where.
pub(super) fn store(archive: Archive, report: &Report) -> CommandResult {
    let folder = archive.commit(report).map_err(failed)?;
    if !is_quiet() {
        print_message(&format_args!("stored in {}", folder.display()));
    }
    Ok(())
}

/// The report of a run that another command asked for.
pub(super) fn report(run: FinishedRun) -> Report {
    named(run).recording.report()
}

/// The run on the machine of the name that was given (`--node`).
fn named(mut run: FinishedRun) -> FinishedRun {
    run.recording.node.clone_from(&common().node);
    run
}

impl Files {
    /// Checks that all files are writable.
    ///
    /// # Errors
    /// When a file cannot be written; the message names it.
    fn prepare(args: &RunArgs) -> CommandResult<Self> {
        let trace = args.trace.as_deref().map(WholeFile::prepare).transpose();
        let archive = args.save.as_deref().map(Archive::prepare).transpose();
        let baseline = args.baseline.as_deref().map(prepare_baseline).transpose()?;
        Ok(Self {
            outputs: prepare_outputs(&args.output)?,
            trace: trace.map_err(failed)?,
            archive: archive.map_err(failed)?,
            baseline,
            prints_trace: args.trace.as_deref().is_some_and(is_stdout),
        })
    }

    /// Writes all files and prints the report. The trace is written first, because all other files
    /// can be computed from it again.
    ///
    /// # Errors
    /// When a file cannot be written.
    fn finish(
        self,
        recording: &TraceFile,
        args: &RunArgs,
        are_named: bool,
        output: &mut dyn Write,
    ) -> CommandResult<Report> {
        if let Some(file) = self.trace {
            file.commit(&recording.pack().map_err(failed)?)
                .map_err(failed)?;
        }
        let report = recording.report();
        if let Some(archive) = self.archive {
            store(archive, &report)?;
        }
        if let Some((name, file)) = self.baseline {
            file.commit(json::render_compact(&report).as_bytes())
                .map_err(failed)?;
            if !is_quiet() {
                print_message(&format_args!(
                    "stored as baseline {name}: `timermeter compare {name}` prints what changed since"
                ));
            }
        }
        let document = Printed {
            reports: std::slice::from_ref(&report),
            left_out: &[],
            detail: args.detail(),
            are_named,
        };
        if self.prints_trace {
            write_files(&document, self.outputs.files)?;
        } else {
            emit(&document, self.outputs, output)?;
        }
        Ok(report)
    }
}

/// Checks that the baseline of this name can be written. Returns the name and the file.
fn prepare_baseline(name: &str) -> CommandResult<(String, WholeFile)> {
    let baselines = Baselines::of_user().ok_or_else(|| {
        failed("--baseline: there is no folder for baselines; set TIMERMETER_HOME, XDG_DATA_HOME or HOME")
    })?;
    Ok((name.to_owned(), baselines.prepare(name).map_err(failed)?))
}
