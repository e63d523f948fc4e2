//! `compare`: what changed between two reports, or from each of many to one.

mod fleet;
mod gate;
mod runs;
mod since;
mod trend;

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::first_look::again;
use super::{CommandError, tell, tell_refused, terminal_style};
use crate::cli::{CompareArgs, CompareFormat};
use crate::comparison::{self, Comparison, Verdict};
use crate::model::Report;
use crate::report::{Baselines, Collection, Kept, Unresolved, read};
use crate::table::{Format, Table, TableColumn, escape_markdown as escape};
use crate::text::{clipped, plain};

use gate::Gate;

/// A comparison with one of many reports, in one line and as JSON.
struct Pair {
    line: String,
    counts: [usize; 3],
    platform: usize,
    /// The change of a clock source that fell, as in `tsc → hpet`.
    fell: Option<String>,
    lost: usize,
    failed: usize,
    gate: Gate,
    /// All that conditions can name.
    timers: Vec<String>,
}

/// Runs the command. Returns whether no condition holds. Where nothing could be compared, JSON says why, too.
///
/// # Errors
/// When nothing can be compared, something could not be told, or the output cannot be written.
pub fn run(args: &CompareArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let mut written = Vec::new();
    let mut ended = compared(args, &mut written);
    if let Err(error @ CommandError::Untold(why)) = &ended
        && args.format == CompareFormat::Json
        && written.is_empty()
    {
        let value = json!({ "conditions": [], "untold": [why], "exit_status": error.exit_status() });
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
    let reports = args.reports.iter().map(|word| resolve(word)).collect::<Result<Vec<_>, _>>()?;
    let history = args.history.iter().map(|word| resolve(word)).collect::<Result<Vec<_>, _>>()?;
    if !args.new.is_empty() {
        let new = args.new.iter().map(|word| resolve(word)).collect::<Result<Vec<_>, _>>()?;
        return runs::run(args, [&reports, &new], &history, output);
    }
    if let Some(since) = args.since {
        return since::run(args, &reports, since, output);
    }
    match reports.as_slice() {
        [old, new] if !history.is_empty() && !old.is_dir() && !new.is_dir() => {
            runs::run(args, [std::slice::from_ref(old), std::slice::from_ref(new)], &history, output)
        }
        _ if !history.is_empty() => Err(CommandError::Usage(
            "a history is of one machine: it goes with an old report and a new one, or with `--` between runs of one".into(),
        )),
        [old, new] if old.is_dir() && new.is_dir() && args.same_cpu => Err(CommandError::Usage(
            "--same-cpu is for runs of one machine: two folders are two fleets, unless `--` stands between them".into(),
        )),
        [old, new] if old.is_dir() && new.is_dir() => fleet::run(args, old, new, output),
        [old, new] if new.is_dir() => Err(CommandError::Usage(format!(
            "'{}' is a folder of reports, and '{}' is one report: name two folders, or the folder first, or `--` between runs of one machine",
            new.display(),
            old.display()
        ))),
        [old, new] if old.is_dir() => with_many(args, old, &read(new).map_err(untold)?, output),
        [old, new] => {
            let (old, new) = (read(old).map_err(untold)?, read(new).map_err(untold)?);
            with_one(args, &old, &new, output)
        }
        [old] if old.is_dir() => Err(CommandError::Usage(format!(
            "'{}' is a folder of reports: name the new report that they are compared with",
            old.display()
        ))),
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
    args.reports.get(1).map_or_else(|| "this machine now".to_owned(), |new| format!("'{}'", new.display()))
}

fn with_one(
    args: &CompareArgs,
    old: &Report,
    new: &Report,
    output: &mut dyn Write,
) -> Result<bool, CommandError> {
    let names = || format!("'{}' and {}", args.reports[0].display(), new_name(args));
    let comparison = comparison(args, old, new).map_err(|why| untold(format!("{}: {why}", names())))?;
    tell_one(args, &comparison, true, output)
}

/// Compares two reports of CPUs that may be compared.
fn comparison(args: &CompareArgs, old: &Report, new: &Report) -> Result<Comparison, String> {
    refuse_other_cpu(args, old, new)?;
    Comparison::of(old, new).map_err(|error| error.to_string())
}

fn refuse_other_cpu(args: &CompareArgs, old: &Report, new: &Report) -> Result<(), String> {
    comparison::unlike_cpu(old, new).filter(|_| args.same_cpu).map_or(Ok(()), Err)
}

/// Prints a comparison, and what of the conditions holds. `complete` where all reports could be read.
fn tell_one(
    args: &CompareArgs,
    comparison: &Comparison,
    complete: bool,
    output: &mut dyn Write,
) -> Result<bool, CommandError> {
    let gate = Gate::of(args, comparison, complete)?;
    match args.format {
        CompareFormat::Table => {
            write!(output, "{}", comparison::render_table(comparison, args.all, terminal_style()))?;
        }
        CompareFormat::Markdown => {
            write!(output, "{}", comparison::render_markdown(comparison, args.all))?;
        }
        CompareFormat::Json => {
            let value = gate.with(comparison::render_json(comparison));
            writeln!(output, "{}", super::pretty(&value)?)?;
        }
    }
    gate.tell(args, output)?;
    output.flush()?;
    gate.ended()
}

/// One line a report: what a folder of thousands changed from is a list, not thousands of tables.
fn with_many(
    args: &CompareArgs,
    old: &Path,
    new: &Report,
    output: &mut dyn Write,
) -> Result<bool, CommandError> {
    let collection = Collection::read(&[old], |_, old| comparison(args, &old, new).map(|c| pair(args, &c)));
    let mut complete = tell_refused(&collection.refused, collection.reports.len()).map_err(untold)?;
    let known = collection.reports.iter().filter_map(|kept| kept.content.as_ref().ok());
    gate::check(args, known.flat_map(|pair| &pair.timers).map(String::as_str))?;
    let mut pairs: Vec<(&Path, &Pair)> = Vec::with_capacity(collection.reports.len());
    for Kept { path, content } in &collection.reports {
        match content {
            Ok(pair) => pairs.push((path, pair)),
            Err(error) => {
                complete = false;
                tell(&format!("'{}' and {}: {error}", path.display(), new_name(args)));
            }
        }
    }
    if pairs.is_empty() {
        return Err(untold("no report could be compared"));
    }
    match args.format {
        CompareFormat::Json => writeln!(output, "{}", super::pretty(&as_json(&pairs))?)?,
        CompareFormat::Table => {
            if let Some(fallen) = fallen(&pairs) {
                writeln!(output, "{}", plain(&fallen))?;
            }
            for (path, pair) in &pairs {
                writeln!(output, "{}: {}", plain(&path.display().to_string()), pair.line)?;
                let told = pair.gate.held.iter().chain(&pair.gate.untold);
                told.into_iter().try_for_each(|told| writeln!(output, "  {}", plain(told)))?;
            }
        }
        CompareFormat::Markdown => many_as_markdown(&pairs, output)?,
    }
    output.flush()?;
    let all = |of: fn(&Gate) -> &Vec<String>| {
        pairs.iter().flat_map(|(_, pair)| of(&pair.gate)).cloned().collect::<Vec<String>>()
    };
    Gate { held: all(|gate| &gate.held), untold: all(|gate| &gate.untold), complete }.ended()
}

/// A sentence about the clock sources that fell, for the first line.
fn fallen(pairs: &[(&Path, &Pair)]) -> Option<String> {
    let mut changes: Vec<&str> = pairs.iter().filter_map(|(_, pair)| pair.fell.as_deref()).collect();
    let count = changes.len();
    changes.sort_unstable();
    changes.dedup();
    let all = pairs.len();
    (count > 0)
        .then(|| format!("clock source fell: {}, against {count} of {all} reports", changes.join(", ")))
}

fn many_as_markdown(pairs: &[(&Path, &Pair)], output: &mut dyn Write) -> io::Result<()> {
    if let Some(fallen) = fallen(pairs) {
        writeln!(output, "**{}**\n", escape(&fallen))?;
    }
    let number = |heading| TableColumn { right: true, ..TableColumn::left(heading) };
    let mut table = Table::new(vec![
        TableColumn::left("old report"),
        TableColumn::left("clock source fell"),
        number("worse"),
        number("better"),
        number("noise"),
        number("platform changes"),
        number("lost"),
        number("questions newly failed"),
        TableColumn::left("conditions"),
    ]);
    for (path, Pair { counts: [worse, better, noise], platform, fell, lost, failed, gate, .. }) in pairs {
        let mut row = vec![path.display().to_string().into(), fell.as_deref().unwrap_or_default().into()];
        row.extend([worse, better, noise, platform, lost, failed].map(|count| count.to_string().into()));
        row.push([gate.held.as_slice(), &gate.untold].concat().join("; ").into());
        table.push(row);
    }
    table.write(Format::Markdown, output)
}

fn as_json(pairs: &[(&Path, &Pair)]) -> Value {
    pairs
        .iter()
        .map(|(path, pair)| {
            let [worse, better, noise] = pair.counts;
            json!({
                "old": path.display().to_string(),
                "worse": worse,
                "better": better,
                "noise": noise,
                "platform_changes": pair.platform,
                "clock_source_fell": pair.fell,
                "lost": pair.lost,
                "newly_failed": pair.failed,
                "conditions": pair.gate.held,
                "untold": pair.gate.untold,
            })
        })
        .collect()
}

fn pair(args: &CompareArgs, comparison: &Comparison) -> Pair {
    Pair {
        line: comparison::summary_line(comparison),
        counts: [Verdict::Worse, Verdict::Better, Verdict::Noise].map(|verdict| comparison.count(verdict)),
        platform: comparison.platform.len(),
        fell: comparison.platform.iter().find(|change| change.is_fallen_clock_source()).map(|change| {
            let [old, new] =
                [&change.old, &change.new].map(|source| clipped(source.as_deref().unwrap_or("?"), 60));
            format!("{old} → {new}")
        }),
        lost: comparison.lost().count(),
        failed: comparison.failed().count(),
        gate: Gate::held(args, comparison, true),
        timers: gate::named(comparison).map(str::to_owned).collect(),
    }
}
