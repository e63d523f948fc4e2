//! `samples`: judges durations that other programs measured.

use std::io::Write;

use serde::Serialize;

use super::{CommandResult, emit, failed, prepare_outputs};
use crate::cli::SamplesArgs;
use crate::document::Document;
use crate::durations::{DurationSeries, read};
use crate::messages::print_message;
use crate::samples::{JudgedDurations, judge};
use crate::text::numbers::{rate, significant, time};

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
}

/// Runs the command. Returns `true` if all files could be read.
///
/// # Errors
/// When no file could be read, or the output cannot be written.
pub fn run(args: &SamplesArgs, output: &mut dyn Write) -> CommandResult<bool> {
    let outputs = prepare_outputs(&args.output)?;
    let (mut series, mut refused) = (Vec::new(), Vec::new());
    for file in &args.files {
        match read(file, args.column.as_deref(), args.unit) {
            Ok(found) => series.extend(found.into_iter().map(JudgedSeries::of)),
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
    fn of(series: DurationSeries) -> Self {
        let mut judged = judge(&series.durations, series.rounding, series.is_floating);
        judged.scatter_by_step.take_if(|_| series.calls_differ);
        Self {
            name: series.name,
            source: series.source,
            calls: series.calls,
            judged,
        }
    }

    /// Whether the clock has a step, and explains the scatter.
    fn answer(&self) -> String {
        let judged = &self.judged;
        let Some(step) = judged.step_ns else {
            let limit = judged.step_at_most_ns.map(time);
            let limit = limit.map_or(String::new(), |limit| format!(": it is at most {limit}"));
            let reason = judged.reason.as_deref().unwrap_or_default();
            return format!("The step is unknown, because {reason}{limit}.");
        };
        let off = match judged.offset_ns {
            Some(0.0) => "are".to_owned(),
            Some(offset) => format!("are {} off", time(offset)),
            None => "differ by".to_owned(),
        };
        let cause = match judged.scatter_by_step {
            Some(share) if share > 0.5 => " Their scatter is mostly that of the clock.",
            Some(_) => " Their scatter is mostly that of the code.",
            None => "",
        };
        let share = percent(judged.share.map_or(0.0, |share| share.value));
        let (count, hertz) = (judged.count, rate(Some(1e9 / step.value)));
        let step = [step.value, step.half_width()].map(time).join(" ± ");
        format!("{share} of {count} durations {off} multiples of {step} ({hertz}).{cause}")
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let judged = &self.judged;
        let [median, rounding, scatter] =
            [judged.median_ns, judged.rounding_ns, judged.scatter_ns].map(time);
        let by_step = judged.scatter_by_step.map_or("unknown".into(), percent);
        let calls = significant(self.calls, 3);
        vec![
            ("read as", self.source.clone()),
            (
                "median",
                format!("{median} ({calls} calls), rounded to {rounding}"),
            ),
            (
                "scatter",
                format!("{scatter}, explained by the step: {by_step}"),
            ),
        ]
    }
}

fn percent(share: f64) -> String {
    format!("{} %", (1e3 * share).round() / 10.0)
}
