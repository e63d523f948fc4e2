//! `validate`: whether reports can be true.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{CommandError, pretty};
use crate::cli::{ShortFormat, ValidateArgs};
use crate::model::{ProvenanceKind, Report};
use crate::recording::Recording;
use crate::report::{files, read};
use crate::text::plain;
use crate::validation::{against, flaws};

/// How a trace beside a report is called.
const BESIDE: &str = "run.trace";

/// What was found of a report.
#[derive(Debug, Serialize)]
struct ReportVerdict {
    file: String,
    sound: bool,
    /// Whether it was held against its trace.
    trace: bool,
    /// Why it is refused.
    flaws: Vec<String>,
}

/// Runs the command. Returns whether all reports are sound.
///
/// # Errors
/// When it is asked the wrong way, or the output cannot be written.
pub fn run(args: &ValidateArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let found: Vec<_> = args.reports.iter().flat_map(|path| files(path)).collect();
    if args.trace.is_some() && (found.len() != 1 || args.reports[0].is_dir()) {
        return Err(CommandError::Usage("--trace is that of one report: name one".into()));
    }
    let verdicts: Vec<ReportVerdict> = found
        .into_iter()
        .map(|file| match file {
            Ok(path) => verdict(&path, args),
            Err(error) => ReportVerdict {
                file: String::new(),
                sound: false,
                trace: false,
                flaws: vec![error.to_string()],
            },
        })
        .collect();
    match args.format {
        ShortFormat::Json => writeln!(output, "{}", pretty(&verdicts)?)?,
        ShortFormat::Table => verdicts.iter().try_for_each(|verdict| tell(verdict, output))?,
    }
    Ok(verdicts.iter().all(|verdict| verdict.sound))
}

fn verdict(path: &Path, args: &ValidateArgs) -> ReportVerdict {
    let file = path.display().to_string();
    let report = match read(path) {
        Ok(report) => report,
        Err(error) => {
            return ReportVerdict { file, sound: false, trace: false, flaws: vec![error.to_string()] };
        }
    };
    let mut flaws: Vec<String> = flaws(&report, timers::date()).iter().map(ToString::to_string).collect();
    let trace = args.trace.clone().or_else(|| beside(path));
    match &trace {
        Some(trace) => flaws.extend(held_against(&report, trace)),
        None if args.require_trace && report.provenance.kind == ProvenanceKind::Measured => {
            flaws.push(format!(
                "no trace: put it beside the report as {BESIDE}, as `timermeter contribute` does"
            ));
        }
        None => {}
    }
    ReportVerdict { file, sound: flaws.is_empty(), trace: trace.is_some(), flaws }
}

fn beside(path: &Path) -> Option<PathBuf> {
    let trace = path.with_file_name(BESIDE);
    trace.is_file().then_some(trace)
}

fn held_against(report: &Report, trace: &Path) -> Option<String> {
    match Recording::read(trace) {
        Ok(recording) => against(report, &recording).map(|flaw| flaw.to_string()),
        Err(error) => Some(error.to_string()),
    }
}

fn tell(verdict: &ReportVerdict, output: &mut dyn Write) -> std::io::Result<()> {
    let file = plain(&verdict.file);
    if verdict.sound {
        let trace = match verdict.trace {
            true => "it is what its trace analyses to",
            false => {
                "nothing contradicts itself; there is no trace, without which figures that are scaled throughout are not told"
            }
        };
        return writeln!(output, "{file}: sound: {trace}");
    }
    writeln!(output, "{file}: refused")?;
    verdict.flaws.iter().try_for_each(|flaw| writeln!(output, "  {}", plain(flaw)))
}
