//! `samples`: judges durations that other programs measured.

use std::io::Write;

use serde::Serialize;

use super::{CommandResult, emit, failed, prepare_outputs};
use crate::cli::SamplesArgs;
use crate::messages::print_message;
use judgement::choice::recipe::percent;
use judgement::samples::{JudgedDurations, judge};
use reporting::document::Document;
use reporting::durations::{DurationSeries, read};
use reporting::text::numbers::{rate, significant, time};

/// The JSON document of `samples`.
#[derive(Serialize)]
struct Samples {
    series: Vec<JudgedSeries>,
}

/// A series of durations with what it shows.
#[derive(Serialize)]
struct JudgedSeries {
    #[serde(flatten)]
    read: DurationSeries,
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
            Ok(found) => series.extend(found.into_iter().map(judge_series)),
            Err(error) => refused.push(error),
        }
    }
    if series.is_empty() {
        return Err(failed(refused.join("; ")));
    }
    refused.iter().for_each(|error| print_message(error));
    let samples = Samples { series };
    let mut document = Document::new(&samples);
    for JudgedSeries { read, judged } in &samples.series {
        let [median, rounding, scatter] =
            [judged.median_ns, judged.rounding_ns, judged.scatter_ns].map(time);
        let calls = read.calls.map(|calls| significant(calls, 3));
        let calls = calls.unwrap_or("different numbers of".into());
        let by_step = judged.scatter_by_step.map_or("unknown".into(), percent);
        document = document
            .heading(read.name.as_str())
            .paragraph(answer(judged))
            .facts([
                ("read as", read.source.clone()),
                (
                    "median",
                    format!("{median} ({calls} calls), rounded to {rounding}"),
                ),
                (
                    "scatter",
                    format!("{scatter}, explained by the step: {by_step}"),
                ),
            ]);
    }
    emit(&document, outputs, output)?;
    Ok(refused.is_empty())
}

fn judge_series(read: DurationSeries) -> JudgedSeries {
    let mut judged = judge(&read.durations, read.rounding, read.is_floating);
    judged.scatter_by_step.take_if(|_| read.calls.is_none());
    JudgedSeries { read, judged }
}

/// Whether the clock has a step.
fn answer(judged: &JudgedDurations) -> String {
    let Some(step) = judged.step_ns else {
        let limit = judged
            .step_at_most_ns
            .map(|ns| format!("; it is at most {}", time(ns)));
        let reason = judged.reason.as_deref().unwrap_or_default();
        return format!("No step is visible: {reason}{}.", limit.unwrap_or_default());
    };
    let (count, hertz) = (judged.count, rate(Some(1e9 / step.value)));
    let step = [step.value, step.half_width()].map(time).join(" ± ");
    format!(
        "At least 95 % of {count} durations are multiples of {step} ({hertz}), or differ by multiples."
    )
}
