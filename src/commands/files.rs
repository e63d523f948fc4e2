//! The files that a run leaves behind, and what it prints.

use std::io::Write;

use super::{CommandError, Outputs, emit, failed, prepare, view, write_files};
use crate::cli::RunArgs;
use crate::model::Report;
use crate::recording::Recording;
use crate::report::{Archive, Baselines, WholeFile, is_standard, json};
use crate::text::{plain, shortened};

/// What a run leaves behind. All of it is found writable or not before anything is measured, and
/// written before anything is printed: it must not be lost when the reader of the output goes away.
pub struct Files {
    outputs: Outputs,
    trace: Option<WholeFile>,
    archive: Option<Archive>,
    /// With its name.
    baseline: Option<(String, WholeFile)>,
    /// Whether the trace goes to standard output, where nothing else goes then.
    is_trace_shown: bool,
}

impl Files {
    /// Finds all of it writable.
    ///
    /// # Errors
    /// Says which is not.
    pub fn prepare(args: &RunArgs) -> Result<Self, CommandError> {
        let trace = args.trace.as_deref().map(WholeFile::prepare).transpose();
        let archive = args.save.as_deref().map(Archive::prepare).transpose();
        let baseline = args.baseline.as_deref().map(keep_as).transpose()?;
        Ok(Self {
            outputs: prepare(&args.output)?,
            trace: trace.map_err(failed)?,
            archive: archive.map_err(failed)?,
            baseline,
            is_trace_shown: args.trace.as_deref().is_some_and(is_standard),
        })
    }

    /// Writes all of it and prints the report. The trace comes first, before anything can fail:
    /// from it all that follows can be had again.
    ///
    /// # Errors
    /// When the report cannot be computed, or something cannot be written.
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
