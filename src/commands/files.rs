//! The files that a run leaves behind.

use std::path::Path;

use super::{CommandError, failed, prepare, write};
use crate::cli::KeepArgs;
use crate::model::Report;
use crate::recording::Recording;
use crate::report::{Archive, Baselines, OutputFile, WholeFile, json};

/// What a run leaves behind. All of it is found writable or not before anything is measured, and written before anything is
/// printed: it must not be lost when the reader of the output goes away.
pub struct Files {
    reports: Vec<OutputFile>,
    trace: Option<WholeFile>,
    archive: Option<Archive>,
    /// With its name.
    baseline: Option<(String, WholeFile)>,
}

impl Files {
    /// Finds all of it writable.
    ///
    /// # Errors
    /// Says which is not.
    pub fn prepare(args: &KeepArgs) -> Result<Self, CommandError> {
        let trace = args.trace.as_deref().map(WholeFile::prepare).transpose();
        let archive = args.save.as_deref().map(save_in).transpose()?;
        let baseline = args.baseline.as_deref().map(keep_as).transpose()?;
        Ok(Self { reports: prepare(&args.outputs)?, trace: trace.map_err(failed)?, archive, baseline })
    }

    /// Writes the trace, if it is wanted.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_trace(&mut self, recording: &Recording) -> Result<(), CommandError> {
        let Some(file) = self.trace.take() else { return Ok(()) };
        file.commit(&recording.pack().map_err(failed)?).map_err(failed)
    }

    /// Writes everything else.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(self, report: &Report, quiet: bool) -> Result<(), CommandError> {
        write(self.reports, report)?;
        if let Some(archive) = self.archive {
            let place = archive.commit(report).map_err(failed)?;
            if !quiet {
                eprintln!("kept in {}", place.display());
            }
        }
        if let Some((name, file)) = self.baseline {
            file.commit(json::dense(report).as_bytes()).map_err(failed)?;
            if !quiet {
                eprintln!("kept as baseline {name}: `timermeter compare {name}` tells what changed since");
            }
        }
        Ok(())
    }
}

/// A name of a timer after `--save` was meant as one.
fn save_in(folder: &Path) -> Result<Archive, CommandError> {
    let name = folder.to_string_lossy();
    if timers::find(&name).is_some() || name.contains(['*', '?']) {
        return Err(CommandError::Usage(format!(
            "--save takes a folder, and `{name}` names timers; write `--save=reports {name}`, or the timers first"
        )));
    }
    Archive::prepare(folder).map_err(failed)
}

fn keep_as(name: &str) -> Result<(String, WholeFile), CommandError> {
    let kept = Baselines::of_user().ok_or_else(|| {
        failed("--baseline: none of TIMERMETER_HOME, XDG_DATA_HOME and HOME says where to keep it; set one of them")
    })?;
    Ok((name.to_owned(), kept.prepare(name).map_err(failed)?))
}
