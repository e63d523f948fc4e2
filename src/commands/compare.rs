//! `compare`: what changed between two reports, or between several runs a side.

mod gate;

use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::first_look::again;
use super::{CommandError, emit, prepare, tell_refused};
use crate::cli::CompareArgs;
use crate::comparison::{self, Comparison, Verdict, platform_changes, sentences};
use crate::document::Document;
use crate::model::Report;
use crate::report::{Baselines, Collection, Kept, Unresolved};

use gate::Gate;

/// A comparison for programs.
#[derive(Serialize)]
struct ComparisonDocument<'a> {
    sentences: Vec<String>,
    worse: usize,
    better: usize,
    noise: usize,
    unjudged: usize,
    #[serde(flatten)]
    comparison: &'a Comparison,
    #[serde(flatten)]
    gate: &'a Gate,
}

/// Runs the command. Returns whether no condition holds. Where nothing could be compared, JSON says
/// why, too.
///
/// # Errors
/// When nothing can be compared, something could not be decided, or the output cannot be written.
pub fn run(args: &CompareArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let outputs = prepare(&args.output)?;
    let gate = match compared(args) {
        Ok((comparison, complete)) => {
            let gate = Gate::judge(args, &comparison, complete)?;
            let data = ComparisonDocument {
                sentences: sentences(&comparison),
                worse: comparison.count(Verdict::Worse),
                better: comparison.count(Verdict::Better),
                noise: comparison.count(Verdict::Noise),
                unjudged: comparison.count(Verdict::Unjudged),
                comparison: &comparison,
                gate: &gate,
            };
            let mut document = comparison::document(&comparison, args.all, data);
            for line in gate.lines() {
                document = document.paragraph(line);
            }
            emit(&document, outputs, output)?;
            gate
        }
        Err(error @ CommandError::Untold(_)) => {
            emit(&Document::new(Gate::undecided(&error)), outputs, output)?;
            return Err(error);
        }
        Err(error) => return Err(error),
    };
    gate.ended()
}

/// A report and where it lies.
type Run = (PathBuf, Report);

/// Compares the sides. Returns whether all reports could be read as well.
fn compared(args: &CompareArgs) -> Result<(Comparison, bool), CommandError> {
    let kept = Baselines::of_user();
    let resolve = |words: &[PathBuf]| -> Result<Vec<PathBuf>, CommandError> {
        let paths = words
            .iter()
            .map(|word| Baselines::resolve(kept.as_ref(), word));
        paths
            .collect::<Result<_, _>>()
            .map_err(|error| match error {
                Unresolved::Both { .. } => CommandError::Usage(error.to_string()),
                Unresolved::Neither { .. } => undecided(error),
            })
    };
    let mut old = resolve(&args.reports)?;
    let mut new = resolve(&args.new)?;
    if new.is_empty() {
        if let Some(folder) = old.iter().find(|path| path.is_dir()) {
            return Err(CommandError::Usage(format!(
                "'{}' is a folder: put `--` between the old and the new runs of one machine (compare OLD... -- NEW...); many machines are \
                 compared by SQL over `timermeter table FOLDER --columns all`",
                folder.display()
            )));
        }
        match old.len() {
            1 => {}
            2 => new.extend(old.pop()),
            _ => {
                return Err(CommandError::Usage(
                    "which of these reports are the new ones? Put `--` before them: compare OLD... -- NEW...".into(),
                ));
            }
        }
    }
    let mut complete = true;
    let mut read = |paths: &[PathBuf]| -> Result<Vec<Run>, CommandError> {
        let collection = Collection::read(paths, |_, report: Report| report);
        complete &=
            tell_refused(&collection.refused, collection.reports.len()).map_err(undecided)?;
        let runs = collection.reports.into_iter();
        let runs: Vec<Run> = runs.map(|Kept { path, content }| (path, content)).collect();
        check(&runs)?;
        Ok(runs)
    };
    let old = read(&old)?;
    let new = match (new.as_slice(), old.as_slice()) {
        ([], [(_, report)]) => vec![("this machine now".into(), again(report)?)],
        _ => read(&new)?,
    };
    let mut history = match resolve(&args.history)? {
        paths if paths.is_empty() => Vec::new(),
        paths => read(&paths)?,
    };
    history.retain(|(_, run)| {
        let mut sides = old.iter().chain(&new);
        !sides.any(|(_, other)| other.created == run.created)
    });
    if let (Some(first), false) = (old.first(), history.is_empty()) {
        check(&[std::slice::from_ref(first), &history].concat())?;
    }
    let reports = [&old, &new, &history];
    let [old_runs, new_runs, others] =
        reports.map(|side| side.iter().map(|(_, run)| run).collect::<Vec<_>>());
    let incomparable = |why: String| {
        let [old, new] = [&old, &new].map(|side| {
            let first = side.first();
            first.map_or(Path::new(""), |(path, _)| path).display()
        });
        undecided(format!("'{old}' and '{new}': {why}"))
    };
    let unlike = comparison::unlike_cpu(old_runs[0], new_runs[0]).filter(|_| args.same_cpu);
    if let Some(why) = unlike {
        return Err(incomparable(why));
    }
    let comparison = Comparison::of_runs(&old_runs, &new_runs, &others)
        .map_err(|error| incomparable(error.to_string()))?;
    Ok((comparison, complete))
}

fn undecided(error: impl Display) -> CommandError {
    CommandError::Untold(error.to_string())
}

/// Whether a side holds runs of one machine, each once: what runs differ by follows from nothing
/// else.
fn check(side: &[Run]) -> Result<(), CommandError> {
    for (at, (path, run)) in side.iter().enumerate() {
        for (other, earlier) in &side[..at] {
            let (path, other) = (path.display(), other.display());
            if earlier.created == run.created {
                return Err(CommandError::Usage(format!(
                    "'{other}' and '{path}' are of one run ({}): each run counts once",
                    run.created
                )));
            }
            let changes = platform_changes(earlier, run);
            if let Some(change) = changes.iter().find(|change| change.is_loud()) {
                return Err(CommandError::Usage(format!(
                    "'{other}' and '{path}' are not of one machine as it is ({change}): `--` stands between runs of one"
                )));
            }
        }
    }
    Ok(())
}
