//! `compare`: what changed between two reports, or between several runs a side.

mod gate;
mod runs;

use std::fmt::Display;
use std::io::Write;
use std::path::Path;

use serde_json::json;

use super::first_look::again;
use super::{CommandError, terminal_style};
use crate::cli::CompareArgs;
use crate::comparison::{self, Comparison};
use crate::model::Report;
use crate::report::{Baselines, Unresolved, read};
use crate::table::Format;

use gate::Gate;

/// Runs the command. Returns whether no condition holds. Where nothing could be compared, JSON says
/// why, too.
///
/// # Errors
/// When nothing can be compared, something could not be told, or the output cannot be written.
pub fn run(args: &CompareArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let mut written = Vec::new();
    let mut ended = compared(args, &mut written);
    if let Err(error @ CommandError::Untold(why)) = &ended
        && args.output.format == Format::Json
        && written.is_empty()
    {
        let value =
            json!({ "conditions": [], "untold": [why], "exit_status": error.exit_status() });
        written = (super::pretty(&value)? + "\n").into_bytes();
    }
    if let Err(error) = output.write_all(&written).and_then(|()| output.flush()) {
        ended = Err(error.into());
    }
    ended
}

fn compared(args: &CompareArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let kept = Baselines::of_user();
    let resolve = |word: &Path| {
        Baselines::resolve(kept.as_ref(), word).map_err(|error| match error {
            Unresolved::Both { .. } => CommandError::Usage(error.to_string()),
            Unresolved::Neither { .. } => untold(error),
        })
    };
    let reports = args
        .reports
        .iter()
        .map(|word| resolve(word))
        .collect::<Result<Vec<_>, _>>()?;
    let history = args
        .history
        .iter()
        .map(|word| resolve(word))
        .collect::<Result<Vec<_>, _>>()?;
    if !args.new.is_empty() {
        let new = args
            .new
            .iter()
            .map(|word| resolve(word))
            .collect::<Result<Vec<_>, _>>()?;
        return runs::run(args, [&reports, &new], &history, output);
    }
    if let Some(folder) = reports.iter().find(|path| path.is_dir()) {
        return Err(CommandError::Usage(format!(
            "'{}' is a folder: put `--` between the old and the new runs of one machine (compare OLD... -- NEW...); many machines are \
             compared by SQL over `timermeter table FOLDER --columns all`",
            folder.display()
        )));
    }
    match reports.as_slice() {
        [old, new] if !history.is_empty() => {
            runs::run(args, [std::slice::from_ref(old), std::slice::from_ref(new)], &history, output)
        }
        _ if !history.is_empty() => Err(CommandError::Usage(
            "a history is of one machine: it goes with an old report and a new one, or with `--` between runs of one".into(),
        )),
        [old, new] => {
            let (old, new) = (read(old).map_err(untold)?, read(new).map_err(untold)?);
            with_one(args, &old, &new, output)
        }
        [old] => {
            let old = read(old).map_err(untold)?;
            let new = again(&old)?;
            with_one(args, &old, &new, output)
        }
        _ => Err(CommandError::Usage(
            "which of these reports are the new ones? Put `--` before them: compare OLD... -- NEW...".into(),
        )),
    }
}

fn untold(error: impl Display) -> CommandError {
    CommandError::Untold(error.to_string())
}

/// What the new report is called.
fn new_name(args: &CompareArgs) -> String {
    args.reports.get(1).map_or_else(
        || "this machine now".to_owned(),
        |new| format!("'{}'", new.display()),
    )
}

fn with_one(
    args: &CompareArgs,
    old: &Report,
    new: &Report,
    output: &mut dyn Write,
) -> Result<bool, CommandError> {
    let names = || format!("'{}' and {}", args.reports[0].display(), new_name(args));
    let comparison =
        comparison(args, old, new).map_err(|why| untold(format!("{}: {why}", names())))?;
    tell_one(args, &comparison, true, output)
}

/// Compares two reports of CPUs that may be compared.
fn comparison(args: &CompareArgs, old: &Report, new: &Report) -> Result<Comparison, String> {
    refuse_other_cpu(args, old, new)?;
    Comparison::of(old, new).map_err(|error| error.to_string())
}

fn refuse_other_cpu(args: &CompareArgs, old: &Report, new: &Report) -> Result<(), String> {
    comparison::unlike_cpu(old, new)
        .filter(|_| args.same_cpu)
        .map_or(Ok(()), Err)
}

/// Prints a comparison, and what of the conditions holds. `complete` where all reports could be
/// read.
fn tell_one(
    args: &CompareArgs,
    comparison: &Comparison,
    complete: bool,
    output: &mut dyn Write,
) -> Result<bool, CommandError> {
    let gate = Gate::of(args, comparison, complete)?;
    match args.output.format {
        Format::Markdown => {
            write!(
                output,
                "{}",
                comparison::render_markdown(comparison, args.all)
            )?;
        }
        Format::Json => {
            let value = gate.with(comparison::render_json(comparison));
            writeln!(output, "{}", super::pretty(&value)?)?;
        }
        _ => {
            write!(
                output,
                "{}",
                comparison::render_table(comparison, args.all, terminal_style())
            )?;
        }
    }
    gate.tell(args, output)?;
    output.flush()?;
    gate.ended()
}
