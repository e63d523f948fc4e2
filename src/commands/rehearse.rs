//! `rehearse`: promised error against found error, for every clock and method.

use std::io::Write;

use serde::Serialize;

use super::progress::Progress;
use super::{CommandError, measure, terminal_style, trial};
use crate::cli::measure::{MeasureFormat, RehearseArgs};
use crate::measure::operations;
use crate::measure::rehearsal::{RehearsalKind, Rehearsed};
use crate::measure::worker::{Instrument, Reply, Request};
use crate::method::ClockFigures;
use crate::model::{Platform, Report, TimerRow};
use crate::report::machine::{facts, in_a_line};
use crate::report::terminal::machine;
use crate::table::{Format, Notation, Style, Table, TableColumn, Value};
use crate::text::numbers::{NOTHING, percent};

/// The schema of the document.
const SCHEMA: &str = "timermeter.rehearsal.v1";
const KINDS: [RehearsalKind; 3] = [RehearsalKind::Single, RehearsalKind::Batch, RehearsalKind::EdgeCrossing];

/// One clock and one method.
#[derive(Clone, Debug, Serialize)]
struct Promise {
    clock: String,
    method: &'static str,
    size: u64,
    /// Null where nothing was promised, with the reason.
    kept: Option<bool>,
    reason: Option<String>,
    outcome: Option<Rehearsed>,
}

/// All of them.
#[derive(Serialize)]
struct RehearsalOutcome {
    schema: &'static str,
    platform: Platform,
    operation: String,
    error: f64,
    confidence: f64,
    promises: Vec<Promise>,
    kept: usize,
    broken: usize,
    /// Clocks that could not be rehearsed at all, with the reason.
    left_out: Vec<(String, String)>,
}

/// Runs the command. Returns whether something was promised and at least 95 % of it was kept.
///
/// # Errors
/// When something is asked for that makes no sense, or nothing could be probed.
pub fn run(args: &RehearseArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    if !args.others.is_empty() {
        return Err(CommandError::Usage("--rehearse: name one operation".into()));
    }
    if !(5..=1_000).contains(&args.samples) || !(10..=3_600_000).contains(&args.budget) {
        return Err(CommandError::Usage(
            "--rehearse: give 5 to 1000 --samples, and a --budget from 10ms to 1h".into(),
        ));
    }
    trial::promise(args.error, args.confidence)?;
    let entry = measure::entry(&args.operation)?;
    if operations::needs_set_up(entry.name) == Some(true) {
        return Err(CommandError::Usage(format!(
            "--op {}: each call needs a set-up before it, so that no two fit between two reads; rehearse one that needs none",
            entry.name
        )));
    }
    let cpu = trial::cpu(args.cpu)?;
    let report = trial::report(args.from.as_deref(), &[])?;
    let ids: Vec<&str> =
        report.timers.iter().filter(|row| row.runtime == "native").map(|row| row.id.as_str()).collect();
    let wanted = crate::selection::select(&args.timers, &ids)
        .map_err(|error| CommandError::Usage(error.to_string()))?;
    let truth = trial::clock(&report, Some("monotonic"))?;
    let rows = report.timers.iter().filter(|row| wanted.contains(&row.id.as_str()));
    let outcome = rehearsed(args, &entry, &rows.collect::<Vec<_>>(), &report.platform, &truth, cpu)?;
    write(args, &report, &outcome, output)?;
    output.flush()?;
    Ok(outcome.kept > 0 && 20 * outcome.kept >= 19 * (outcome.kept + outcome.broken))
}

/// Each kind of promise by each of these clocks.
fn rehearsed(
    args: &RehearseArgs,
    entry: &operations::Entry,
    rows: &[&TimerRow],
    platform: &Platform,
    truth: &ClockFigures,
    cpu: Option<u32>,
) -> Result<RehearsalOutcome, CommandError> {
    let mut outcome = RehearsalOutcome {
        schema: SCHEMA,
        platform: platform.clone(),
        operation: entry.name.into(),
        error: args.error,
        confidence: args.confidence,
        promises: Vec::new(),
        kept: 0,
        broken: 0,
        left_out: Vec::new(),
    };
    let progress = Progress::of(rows.len(), false);
    for row in rows {
        progress.at(&row.id);
        let left_out = match ClockFigures::of(row, platform) {
            Err(why) => Some(why),
            Ok(clock) if clock.facts.counts.is_none() => Some("it does not count time".into()),
            Ok(clock) => {
                for kind in KINDS {
                    let promise = rehearse(args, entry, &clock, truth, kind, cpu)?;
                    outcome.kept += usize::from(promise.kept == Some(true));
                    outcome.broken += usize::from(promise.kept == Some(false));
                    outcome.promises.push(promise);
                }
                None
            }
        };
        outcome.left_out.extend(left_out.map(|why| (row.id.clone(), why)));
        progress.step();
    }
    Ok(outcome)
}

/// The outcome in the format that was asked for.
fn write(
    args: &RehearseArgs,
    report: &Report,
    outcome: &RehearsalOutcome,
    output: &mut dyn Write,
) -> Result<(), CommandError> {
    let whole = |format: Format| if args.standalone { format.standalone() } else { format };
    match args.format {
        MeasureFormat::Json => writeln!(output, "{}", super::pretty(outcome)?)?,
        MeasureFormat::Csv => output.write_all(columns(outcome, ",").as_bytes())?,
        MeasureFormat::Gnuplot => output.write_all(columns(outcome, " ").as_bytes())?,
        MeasureFormat::Markdown => table(outcome).write(Format::Markdown, output)?,
        MeasureFormat::Html => table(outcome).write(whole(Format::Html), output)?,
        MeasureFormat::Latex => table(outcome).write(whole(Format::Latex), output)?,
        MeasureFormat::Table => {
            let style = terminal_style();
            let whole = || machine(&facts(&report.platform, &report.frequency), style);
            let line = || format!("# {}\n", in_a_line(report, style.columns().saturating_sub(2)));
            let head = if args.verbose { whole() } else { line() };
            output.write_all(head.as_bytes())?;
            output.write_all(page(outcome, style).as_bytes())?;
        }
    }
    Ok(())
}

/// The size of the operation: for single calls long enough for the clock if that is possible, so that there is something to
/// promise.
fn size(entry: &operations::Entry, clock: &ClockFigures, kind: RehearsalKind, error: f64) -> u64 {
    /// Roughly what a link of the chain takes; how long it really is, is found.
    const LINK_NS: f64 = 1.5;
    const LONGEST_NS: f64 = 5e7;
    let middle = entry.sizes.get(entry.sizes.len() / 2).copied().unwrap_or(0);
    if entry.name != "chain" {
        return middle;
    }
    let needed_ns = match kind {
        RehearsalKind::Single => 3.0 * (clock.step_ns + clock.cost_ns + 50.0) / error,
        RehearsalKind::Batch => 200.0,
        RehearsalKind::EdgeCrossing => (clock.step_ns / 3.0)
            .clamp(400.0, 3e5)
            .max(20.0 * clock.cost_ns)
            .max(3.0 * clock.pipeline_ns(true) / error),
    };
    (needed_ns.min(LONGEST_NS) / LINK_NS) as u64
}

fn rehearse(
    args: &RehearseArgs,
    entry: &operations::Entry,
    clock: &ClockFigures,
    truth: &ClockFigures,
    kind: RehearsalKind,
    cpu: Option<u32>,
) -> Result<Promise, CommandError> {
    let size = size(entry, clock, kind, args.error);
    let request = Request {
        clock: clock.clone(),
        operation: entry.name.into(),
        size,
        instrument: Instrument::Rehearse { kinds: vec![kind], truth: Box::new(truth.clone()) },
        error: args.error,
        confidence: args.confidence,
        samples: args.samples,
        limit_ns: args.budget * 1_000_000,
        cpu,
        seed: 1,
    };
    let method = match kind {
        RehearsalKind::Single => "single",
        RehearsalKind::Batch => "batch",
        RehearsalKind::EdgeCrossing => "edge-crossing",
    };
    let mut promise =
        Promise { clock: clock.id.clone(), method, size, kept: None, reason: None, outcome: None };
    match trial::run(&request)? {
        Reply::Rehearsed(cells) => match cells.into_iter().next() {
            Some((_, Ok(outcome))) => {
                promise.kept = Some(outcome.kept());
                promise.outcome = Some(outcome);
            }
            Some((_, Err(reason))) => promise.reason = Some(reason),
            None => promise.reason = Some("nothing was answered".into()),
        },
        // It was promised, and did not come true.
        Reply::Failed(reason) => {
            promise.kept = Some(false);
            promise.reason = Some(reason);
        }
        Reply::Measured(_) | Reply::Allocated { .. } => {
            promise.reason = Some("its process answered something else".into())
        }
    }
    Ok(promise)
}

fn columns(outcome: &RehearsalOutcome, separator: &str) -> String {
    let comment = if separator == "," { "" } else { "# " };
    let names = ["clock", "method", "size", "calls", "truth_ns", "found_ns", "error", "promised", "kept"];
    let mut out = format!("{comment}{}\n", names.join(separator));
    for promise in &outcome.promises {
        let Some(found) = &promise.outcome else { continue };
        let fields = [
            promise.clock.clone(),
            promise.method.to_owned(),
            promise.size.to_string(),
            found.calls.to_string(),
            found.truth_ns.to_string(),
            found.found_ns.to_string(),
            found.error.to_string(),
            found.promised.to_string(),
            u8::from(found.kept()).to_string(),
        ];
        out += &(fields.join(separator) + "\n");
    }
    out
}

fn table(outcome: &RehearsalOutcome) -> Table<'static> {
    let percents = |heading| TableColumn::right(heading, Notation::Fixed(2));
    let mut table = Table::new(vec![
        TableColumn { folds: true, ..TableColumn::left("clock") },
        TableColumn::left("method"),
        TableColumn::written("calls"),
        TableColumn::right("truth", Notation::Time),
        TableColumn::right("found", Notation::Time),
        percents("error %"),
        percents("promised %"),
        percents("clock's %"),
        TableColumn::left(""),
    ]);
    for promise in &outcome.promises {
        let Some(found) = &promise.outcome else { continue };
        table.push(vec![
            promise.clock.as_str().into(),
            promise.method.into(),
            found.calls.to_string().into(),
            found.truth_ns.into(),
            found.found_ns.into(),
            Value::from(100.0 * found.error),
            Value::from(100.0 * found.promised),
            Value::from(100.0 * found.clock_error),
            if found.kept() { "" } else { "BROKEN" }.into(),
        ]);
    }
    table
}

fn page(outcome: &RehearsalOutcome, style: Style) -> String {
    let told = format!(
        "plans for {} % at {} % confidence; {} by long classic runs is the truth; promised holds what it varies by itself",
        outcome.error * 100.0,
        outcome.confidence * 100.0,
        outcome.operation
    );
    let mut out = String::new();
    crate::text::hang(&mut out, "# ", "#   ", &told, style.columns());
    out.push('\n');
    let (mut failed, mut refused) = (Vec::new(), Vec::new());
    for promise in &outcome.promises {
        if promise.outcome.is_none() {
            let reasons = if promise.kept.is_some() { &mut failed } else { &mut refused };
            let who = format!("{} {}", promise.clock, promise.method);
            reasons.push((who, promise.reason.clone().unwrap_or_default()));
        }
    }
    out += &table(outcome).on_terminal(style, &|_| "");
    let total = outcome.kept + outcome.broken;
    let share =
        if total == 0 { NOTHING.to_owned() } else { percent(Some(outcome.kept as f64 / total as f64)) };
    out += &format!("\n{} of {total} promises were kept ({share} %)\n", outcome.kept);
    refused.extend(outcome.left_out.iter().cloned());
    for (title, reasons) in [("promised, and failed", failed), ("nothing was promised", refused)] {
        if !reasons.is_empty() {
            out += &format!("\n{title}\n");
        }
        for (who, why) in reasons {
            crate::text::hang(&mut out, "  ", "    ", &format!("{who} — {why}"), style.columns());
        }
    }
    out
}
