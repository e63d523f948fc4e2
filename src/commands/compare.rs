//! `compare`: what changed between two reports, or from each of many to one.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::{CommandError, failed, tell_refused, terminal_style};
use crate::cli::{CompareArgs, CompareFormat};
use crate::comparison::{self, Comparison, Verdict};
use crate::report::escape::markdown as escape;
use crate::report::text::plain;
use crate::report::{Collection, Kept, Report};

/// A comparison with one of many reports, in one line and as JSON.
struct Pair {
    line: String,
    counts: [usize; 3],
    platform: usize,
    lost: usize,
    held: Vec<String>,
}

/// Runs the command. Returns whether all could be compared and no condition holds.
///
/// # Errors
/// When nothing can be compared, or the output cannot be written.
pub fn run(args: &CompareArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let new = Report::read(&args.new).map_err(failed)?;
    if args.old.is_dir() { with_many(args, &new, output) } else { with_one(args, &new, output) }
}

fn with_one(args: &CompareArgs, new: &Report, output: &mut dyn Write) -> Result<bool, CommandError> {
    let old = Report::read(&args.old).map_err(failed)?;
    let comparison = Comparison::of(&old, new)
        .map_err(|error| failed(format!("'{}' and '{}': {error}", args.old.display(), args.new.display())))?;
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
    if !held.is_empty() && args.format != CompareFormat::Json {
        let mark = if args.format == CompareFormat::Markdown { escape } else { plain };
        writeln!(output)?;
        held.iter().try_for_each(|held| writeln!(output, "{}", mark(held)))?;
    }
    output.flush()?;
    Ok(held.is_empty())
}

/// One line a report: what a folder of thousands changed from is a list, not thousands of tables.
fn with_many(args: &CompareArgs, new: &Report, output: &mut dyn Write) -> Result<bool, CommandError> {
    let collection =
        Collection::read(&[&args.old], |_, old| Comparison::of(&old, new).map(|c| pair(args, &c)));
    let mut complete = tell_refused(&collection.refused, collection.reports.len())?;
    let mut pairs: Vec<(&Path, &Pair)> = Vec::with_capacity(collection.reports.len());
    for Kept { path, content } in &collection.reports {
        match content {
            Ok(pair) => pairs.push((path, pair)),
            Err(error) => {
                complete = false;
                eprintln!("timermeter: '{}' and '{}': {error}", path.display(), args.new.display());
            }
        }
    }
    if pairs.is_empty() {
        return Err(failed("no report could be compared"));
    }
    match args.format {
        CompareFormat::Json => writeln!(output, "{}", super::pretty(&as_json(&pairs))?)?,
        CompareFormat::Table => {
            for (path, pair) in &pairs {
                writeln!(output, "{}: {}", plain(&path.display().to_string()), pair.line)?;
                pair.held.iter().try_for_each(|held| writeln!(output, "  {}", plain(held)))?;
            }
        }
        CompareFormat::Markdown => {
            writeln!(
                output,
                "| old report | worse | better | noise | platform changes | lost | conditions |"
            )?;
            writeln!(output, "|:--|--:|--:|--:|--:|--:|:--|")?;
            for (path, Pair { counts: [worse, better, noise], platform, lost, held, .. }) in &pairs {
                let (path, held) = (escape(&path.display().to_string()), escape(&held.join("; ")));
                writeln!(output, "| {path} | {worse} | {better} | {noise} | {platform} | {lost} | {held} |")?;
            }
        }
    }
    output.flush()?;
    Ok(complete && pairs.iter().all(|(_, pair)| pair.held.is_empty()))
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
                "lost": pair.lost,
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
        lost: comparison.lost().count(),
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
