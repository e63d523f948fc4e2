//! Writes the output files of a run, and its report to standard output.

use std::io::Write;

use super::{CommandError, Outputs, emit, failed, prepare, view, write_files};
use crate::cli::RunArgs;
use crate::model::Report;
use crate::recording::Recording;
use crate::report::{Archive, Baselines, WholeFile, is_stdout, json};
use crate::text::{plain, shortened};

/// The output files of a run. All are checked to be writable before anything is measured. They are
/// written before the report is printed, so that no result is lost if standard output is closed.
pub struct Files {
    outputs: Outputs,
    trace: Option<WholeFile>,
    archive: Option<Archive>,
    /// The file of the baseline, with the name of the baseline.
    baseline: Option<(String, WholeFile)>,
    /// Whether the trace goes to standard output; then the report is not printed.
    is_trace_shown: bool,
}

impl Files {
    /// Checks that all files are writable.
    ///
    /// # Errors
    /// A message that names the file that is not writable.
    pub fn prepare(args: &RunArgs) -> Result<Self, CommandError> {
        let trace = args.trace.as_deref().map(WholeFile::prepare).transpose();
        let archive = args.save.as_deref().map(Archive::prepare).transpose();
        let baseline = args.baseline.as_deref().map(keep_as).transpose()?;
        Ok(Self {
            outputs: prepare(&args.output)?,
            trace: trace.map_err(failed)?,
            archive: archive.map_err(failed)?,
            baseline,
            is_trace_shown: args.trace.as_deref().is_some_and(is_stdout),
        })
    }

    /// Writes all files and prints the report. The trace is written first, because all other files
    /// can be computed from it again.
    ///
    /// # Errors
    /// When the report cannot be computed, or a file cannot be written.
    pub fn finish(
        self,
        recording: &Recording,
        args: &RunArgs,
        output: &mut dyn Write,
    ) -> Result<Report, CommandError> {
        if let Some(file) = self.trace {
            file.commit(&recording.pack().map_err(failed)?)
                .map_err(failed)?;
        }
        let report = recording.report().map_err(failed)?;
        if let Some(archive) = self.archive {
            let place = archive.commit(&report).map_err(failed)?;
            if !args.quiet {
                eprintln!(
                    "kept in {}",
                    shortened(&plain(&place.display().to_string()))
                );
            }
        }
        if let Some((name, file)) = self.baseline {
            file.commit(json::dense(&report).as_bytes())
                .map_err(failed)?;
            if !args.quiet {
                let name = plain(&name);
                eprintln!(
                    "kept as baseline {name}: `timermeter compare {name}` tells what changed since"
                );
            }
        }
        let view = view(&report, args.detail.wanted());
        if self.is_trace_shown {
            write_files(&view, self.outputs.files)?;
        } else {
            emit(&view, self.outputs, output)?;
        }
        Ok(report)
    }
}

fn keep_as(name: &str) -> Result<(String, WholeFile), CommandError> {
    let kept = Baselines::of_user().ok_or_else(|| {
        failed("--baseline: none of TIMERMETER_HOME, XDG_DATA_HOME and HOME says where to keep it; set one of them")
    })?;
    Ok((name.to_owned(), kept.prepare(name).map_err(failed)?))
}
