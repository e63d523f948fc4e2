//! `compare`: compares two reports, or several reports of one machine on each side, and evaluates
//! the conditions of `--fail-if`.

use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;

use super::quick_probe::probe_again;
use super::runs::{Run, check_one_machine, check_timers, read, resolve, stored_history};
use super::{CommandError, emit, prepare_outputs};
use crate::cli::CompareArgs;
use crate::comparison::{Comparison, Decision, unlike_cpu};
use crate::document::Document;
use crate::model::Report;
use crate::table::Format;

/// A comparison with the results of its conditions.
#[derive(Serialize)]
struct Judgement {
    #[serde(flatten)]
    comparison: Option<Comparison>,
    /// The conditions that hold, each with the change that fulfils it.
    conditions: Vec<String>,
    /// The conditions that could not be decided, with the reasons.
    open: Vec<String>,
    exit_status: u8,
}

/// Runs the command. Returns `true` if no condition holds.
///
/// # Errors
/// When the reports cannot be compared, a condition could not be decided, or the output cannot be
/// written.
pub fn run(args: &CompareArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let outputs = prepare_outputs(&args.output)?;
    let judgement = match judge(args) {
        Err(CommandError::Undecided(why)) if args.output.format == Format::Json => Judgement {
            comparison: None,
            conditions: Vec::new(),
            open: vec![why],
            exit_status: 4,
        },
        judgement => judgement?,
    };
    let mut document = Document::new(&judgement);
    if let Some(comparison) = &judgement.comparison {
        document = comparison.add_to(document, args.all);
    }
    for line in judgement.conditions.iter().chain(&judgement.open) {
        document = document.paragraph(line);
    }
    emit(&document, outputs, output)?;
    match judgement.exit_status {
        0 => Ok(true),
        3 => Ok(false),
        _ if judgement.comparison.is_none() => {
            Err(CommandError::Undecided(judgement.open.concat()))
        }
        _ => Err(CommandError::Undecided(
            "not everything could be decided".to_owned(),
        )),
    }
}

/// Reads the reports, compares them, and evaluates the conditions.
fn judge(args: &CompareArgs) -> Result<Judgement, CommandError> {
    let (mut old, mut new) = (resolve(&args.reports)?, resolve(&args.new)?);
    if new.is_empty() {
        if let Some(folder) = old.iter().find(|path| path.is_dir()) {
            return Err(CommandError::Usage(format!(
                "'{}' is a folder: put `--` between the old and the new runs of one machine (compare OLD... -- NEW...); to compare many \
                 machines, use SQL on the output of `timermeter table FOLDER --columns all`",
                folder.display()
            )));
        }
        new = old.split_off(1);
        if new.len() > 1 {
            return Err(CommandError::Usage(
                "it is unclear which reports are the new ones: put `--` before them (compare OLD... -- NEW...)".to_owned(),
            ));
        }
    }
    let mut open = Vec::new();
    let old = read(&old, &mut open)?;
    let new = match new.as_slice() {
        [] => vec![Run {
            path: PathBuf::from("this machine now"),
            content: probe_again(&old[0].content)?,
        }],
        new => read(new, &mut open)?,
    };
    let mut history = match resolve(&args.history)?.as_slice() {
        [] if args.no_history => Vec::new(),
        [] => stored_history(&old, &new),
        paths => read(paths, &mut open)?,
    };
    history.retain(|run| {
        let mut sides = old.iter().chain(&new);
        !sides.any(|other| other.content.created == run.content.created)
    });
    if !history.is_empty() {
        check_one_machine(&[&old[..1], &history].concat())?;
    }
    let (first_old, first_new) = (&old[0], &new[0]);
    let names = [first_old, first_new].map(|run| format!("'{}'", run.path.display()));
    let undecided = |why| CommandError::Undecided(format!("{}: {why}", names.join(" and ")));
    let other_cpu = unlike_cpu(&first_old.content, &first_new.content);
    if let Some(why) = other_cpu.filter(|_| args.same_cpu) {
        return Err(undecided(why));
    }
    let [old, new, history]: [Vec<&Report>; 3] =
        [&old, &new, &history].map(|side| side.iter().map(|run| &run.content).collect());
    let comparison =
        Comparison::between(&old, &new, &history).map_err(|error| undecided(error.to_string()))?;
    let mut conditions = Vec::new();
    for condition in &args.fail_if {
        let figures = comparison.figures.iter().map(|figure| &figure.timer);
        let names = comparison.timers.iter().chain(figures);
        check_timers(condition, names.map(String::as_str))?;
        let text = condition.text();
        match condition.decide(&comparison) {
            Decision::Holds(why) => conditions.push(format!("condition holds: {text} ({why})")),
            Decision::Open(why) => open.push(format!("condition undecided: {text} ({why})")),
            Decision::Fails => {}
        }
    }
    Ok(Judgement {
        exit_status: match (conditions.as_slice(), open.as_slice()) {
            ([], []) => 0,
            ([], _) => 4,
            _ => 3,
        },
        comparison: Some(comparison),
        conditions,
        open,
    })
}
