//! `samples`: judges durations that other programs measured.

use std::io::Write;

use serde::Serialize;

use super::{CommandResult, changes, emit, failed, prepare_outputs};
use crate::cli::SamplesArgs;
use crate::document::Document;
use crate::durations::{DurationSeries, read};
use crate::messages::print_message;
use crate::model::{Interval, TimerRow, value_of};
use crate::samples::{JudgedDurations, has_step, judge};
use crate::text::numbers::{time, with_half_width};

/// The JSON document of `samples`.
#[derive(Serialize)]
struct Samples {
    series: Vec<JudgedSeries>,
}

/// A series of durations with what it shows.
#[derive(Serialize)]
struct JudgedSeries {
    name: String,
    source: String,
    calls: f64,
    #[serde(flatten)]
    judged: JudgedDurations,
    /// The clocks of `--with` that have this step.
    clocks: Option<Vec<String>>,
}

/// Runs the command. Returns `true` if all files could be read.
///
/// # Errors
/// When no file could be read, the report cannot be read, or the output cannot be written.
pub fn run(args: &SamplesArgs, output: &mut dyn Write) -> CommandResult<bool> {
    let outputs = prepare_outputs(&args.output)?;
    let runs = match &args.with {
        Some(report) => changes::read(std::slice::from_ref(report), &mut Vec::new())?,
        None => Vec::new(),
    };
    let timers = runs.iter().flat_map(|run| &run.content.timers);
    let clocks = args.with.as_ref().map(|_| timers.collect::<Vec<_>>());
    let (mut series, mut refused) = (Vec::new(), Vec::new());
    for file in &args.files {
        match read(file, args.column.as_deref(), args.unit) {
            Ok(found) => series.extend(
                found
                    .iter()
                    .map(|it| JudgedSeries::of(it, clocks.as_deref())),
            ),
            Err(error) => refused.push(error),
        }
    }
    if series.is_empty() {
        return Err(failed(refused.join("; ")));
    }
    refused.iter().for_each(|error| print_message(error));
    let samples = Samples { series };
    let described = samples.series.iter();
    let document = described.fold(Document::new(&samples), |document, series| {
        let document = document.heading(series.name.as_str());
        document.paragraph(series.answer()).facts(series.facts())
    });
    emit(&document, outputs, output)?;
    Ok(refused.is_empty())
}

impl JudgedSeries {
    fn of(series: &DurationSeries, clocks: Option<&[&TimerRow]>) -> Self {
        let mut judged = judge(&series.durations, series.rounding, series.is_floating);
        if series.calls_differ {
            (judged.scatter_ns, judged.scatter_by_step) = (None, None);
        }
        let describe = |clock: &&TimerRow| {
            let is_same = has_step(judged.step_ns?, clock.resolution_ns?);
            let cost = time(value_of(clock.cost_ns));
            is_same.then(|| format!("{} ({cost} a read)", clock.id))
        };
        Self {
            name: series.name.clone(),
            source: series.source.clone(),
            calls: series.calls,
            clocks: clocks.map(|clocks| clocks.iter().filter_map(describe).collect()),
            judged,
        }
    }

    /// Whether the clock has a step, and explains the scatter.
    fn answer(&self) -> String {
        let judged = &self.judged;
        let Some(step) = judged.step_ns else {
            let limit = judged
                .step_at_most_ns
                .map(|limit| format!(": it is at most {}", time(limit)));
            let reason = judged.reason.as_deref().unwrap_or_default();
            return format!(
                "The step is unknown, because {reason}{}.",
                limit.unwrap_or_default()
            );
        };
        let off = match judged.offset_ns {
            Some(0.0) => "are".to_owned(),
            Some(offset) => format!("are {} off", time(offset)),
            None => "differ by".to_owned(),
        };
        let counter = judged
            .counter
            .as_deref()
            .map_or(String::new(), |name| format!(", as of a clock of {name}"));
        let mut answer = format!(
            "{} of {} durations {off} multiples of {}{counter}.",
            percent(judged.share),
            judged.count,
            interval(step)
        );
        if let Some(coarse) = judged.coarse_step_ns {
            let share = percent(judged.coarse_share);
            answer += &format!(" Two grids: {share} are multiples of {}.", interval(coarse));
        }
        answer += match judged.scatter_by_step {
            Some(share) if share.low > 0.5 => " Their scatter is mostly that of the clock.",
            Some(share) if share.high < 0.5 => " Their scatter is mostly that of the code.",
            _ => "",
        };
        answer
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let judged = &self.judged;
        let median = time(judged.median_ns);
        let calls = match self.calls {
            1.0 => String::new(),
            calls => format!(" ({} calls)", (10.0 * calls).round() / 10.0),
        };
        let mut facts = vec![
            ("read as", self.source.clone()),
            (
                "median",
                format!("{median}{calls}, rounded to {}", time(judged.rounding_ns)),
            ),
            ("zero or one step", percent(judged.zero_or_one_step)),
            (
                "scatter",
                match judged.scatter_ns {
                    Some(scatter) => format!(
                        "{}, explained by the step: {}",
                        time(scatter),
                        percent(judged.scatter_by_step)
                    ),
                    None => "unknown, because the durations have different numbers of calls".into(),
                },
            ),
        ];
        if let (Some(good), Some(batch)) = (judged.good_from_ns, judged.batch) {
            let shorter = match batch {
                1.0 => String::new(),
                batch => format!("; shorter ones in batches, here of {batch}"),
            };
            facts.push(("good to 1 %", format!("from {} on{shorter}", time(good))));
        }
        if let Some(clocks) = &self.clocks {
            let clocks = if clocks.is_empty() {
                "none has this step".into()
            } else {
                clocks.join(", ")
            };
            facts.push(("clocks", clocks));
        }
        facts
    }
}

/// A share in percent with its interval.
fn percent(share: Option<Interval>) -> String {
    let round = |share: f64| (1e3 * share).round() / 10.0 + 0.0;
    let written = |it: Interval| {
        format!(
            "{} % [{}, {}]",
            round(it.value),
            round(it.low),
            round(it.high)
        )
    };
    share.map_or("unknown".into(), written)
}

/// A time with half of its interval.
fn interval(step: Interval) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
    let fits = units.into_iter().find(|unit| step.value >= unit.0);
    let (size, unit) = fits.unwrap_or((1.0, "ns"));
    format!(
        "{} {unit}",
        with_half_width(step.value / size, step.half_width() / size)
    )
}
