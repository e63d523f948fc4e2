//! `compare`: what changed between two reports, or from each of many to one.

mod fleet;

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::first_look::again;
use super::{CommandError, failed, tell, tell_refused, terminal_style};
use crate::cli::{CompareArgs, CompareFormat};
use crate::comparison::{self, Comparison, Verdict};
use crate::model::BriefReport;
use crate::report::{Baselines, Collection, Kept, Unresolved, read};
use crate::table::{Column, Format, Table, escape_markdown as escape};
use crate::text::{clipped, plain};

/// A comparison with one of many reports, in one line and as JSON.
struct Pair {
    line: String,
    counts: [usize; 3],
    platform: usize,
    /// The change of a clock source that fell, as in `tsc → hpet`.
    fell: Option<String>,
    lost: usize,
    failed: usize,
    held: Vec<String>,
}

/// Runs the command. Returns whether all could be compared and no condition holds.
///
/// # Errors
/// When nothing can be compared, or the output cannot be written.
pub fn run(args: &CompareArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let kept = Baselines::of_user();
    let resolve = |word: &Path| {
        Baselines::resolve(kept.as_ref(), word).map_err(|error| match error {
            Unresolved::Both { .. } => CommandError::Usage(error.to_string()),
            Unresolved::Neither { .. } => failed(error),
        })
    };
    let old = resolve(&args.old)?;
    let new = args.new.as_deref().map(resolve).transpose()?;
    if let Some(new) = new.as_deref().filter(|new| new.is_dir()) {
        return if old.is_dir() {
            fleet::run(args, &old, new, output)
        } else {
            Err(CommandError::Usage(format!(
                "'{}' is a folder of reports, and '{}' is one report: name two folders, or the folder first",
                new.display(),
                old.display()
            )))
        };
    }
    let new = new.map(|new| read(&new).map_err(failed)).transpose()?;
    match (old.is_dir(), new) {
        (true, Some(new)) => with_many(args, &old, &new, output),
        (true, None) => Err(CommandError::Usage(format!(
            "'{}' is a folder of reports: name the new report that they are compared with",
            old.display()
        ))),
        (false, new) => {
            let old = read(&old).map_err(failed)?;
            let new = new.map_or_else(|| again(&old), Ok)?;
            with_one(args, &old, &new, output)
        }
    }
}

/// What the new report is called.
fn new_name(args: &CompareArgs) -> String {
    args.new.as_ref().map_or_else(|| "this machine now".to_owned(), |new| format!("'{}'", new.display()))
}

fn with_one(
    args: &CompareArgs,
    old: &BriefReport,
    new: &BriefReport,
    output: &mut dyn Write,
) -> Result<bool, CommandError> {
    let comparison = Comparison::of(old, new)
        .map_err(|error| failed(format!("'{}' and {}: {error}", args.old.display(), new_name(args))))?;
    let held = held(args, &comparison);
    match args.format {
        CompareFormat::Table => {
            write!(output, "{}", comparison::render_table(&comparison, args.all, terminal_style()))?;
        }
        CompareFormat::Markdown => {
            write!(output, "{}", comparison::render_markdown(&comparison, args.all))?;
        }
        CompareFormat::Json => {
            let mut value = comparison::render_json(&comparison);
            value["conditions"] = json!(held);
            writeln!(output, "{}", super::pretty(&value)?)?;
        }
    }
    tell_held(args, &held, output)?;
    output.flush()?;
    Ok(held.is_empty())
}

/// The conditions that hold, below what people read.
fn tell_held(args: &CompareArgs, held: &[String], output: &mut dyn Write) -> io::Result<()> {
    if held.is_empty() || args.format == CompareFormat::Json {
        return Ok(());
    }
    let mark = if args.format == CompareFormat::Markdown { escape } else { plain };
    writeln!(output)?;
    held.iter().try_for_each(|held| writeln!(output, "{}", mark(held)))
}

/// One line a report: what a folder of thousands changed from is a list, not thousands of tables.
fn with_many(
    args: &CompareArgs,
    old: &Path,
    new: &BriefReport,
    output: &mut dyn Write,
) -> Result<bool, CommandError> {
    let collection = Collection::read(&[old], |_, old| Comparison::of(&old, new).map(|c| pair(args, &c)));
    let mut complete = tell_refused(&collection.refused, collection.reports.len())?;
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
        return Err(failed("no report could be compared"));
    }
    match args.format {
        CompareFormat::Json => writeln!(output, "{}", super::pretty(&as_json(&pairs))?)?,
        CompareFormat::Table => {
            if let Some(fallen) = fallen(&pairs) {
                writeln!(output, "{}", plain(&fallen))?;
            }
            for (path, pair) in &pairs {
                writeln!(output, "{}: {}", plain(&path.display().to_string()), pair.line)?;
                pair.held.iter().try_for_each(|held| writeln!(output, "  {}", plain(held)))?;
            }
        }
        CompareFormat::Markdown => many_as_markdown(&pairs, output)?,
    }
    output.flush()?;
    Ok(complete && pairs.iter().all(|(_, pair)| pair.held.is_empty()))
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
    let number = |heading| Column { right: true, ..Column::left(heading) };
    let mut table = Table::new(vec![
        Column::left("old report"),
        Column::left("clock source fell"),
        number("worse"),
        number("better"),
        number("noise"),
        number("platform changes"),
        number("lost"),
        number("questions newly failed"),
        Column::left("conditions"),
    ]);
    for (path, Pair { counts: [worse, better, noise], platform, fell, lost, failed, held, .. }) in pairs {
        let mut row = vec![path.display().to_string().into(), fell.as_deref().unwrap_or_default().into()];
        row.extend([worse, better, noise, platform, lost, failed].map(|count| count.to_string().into()));
        row.push(held.join("; ").into());
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
                "conditions": pair.held,
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
        held: held(args, comparison),
    }
}

/// The conditions that hold, each with what makes it hold.
fn held(args: &CompareArgs, comparison: &Comparison) -> Vec<String> {
    let held = |condition: &comparison::Condition| {
        Some(format!("condition holds: {} ({})", condition.text(), condition.holds(comparison)?))
    };
    args.fail_if.iter().filter_map(held).collect()
}
