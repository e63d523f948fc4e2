//! The report as JSON (schema `timermeter.report.v1`).

use super::Report;

/// The document, indented, with a newline at its end. Figures that are not finite become null.
#[must_use]
pub fn render(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(&finite(report.clone())).expect("all keys are strings");
    text.push('\n');
    text
}

/// JSON has no NaN and no infinity; such a figure was not determined.
fn finite(mut report: Report) -> Report {
    let frequency = &mut report.frequency;
    for hz in [
        &mut frequency.nominal_hz,
        &mut frequency.tsc_hz,
        &mut frequency.effective_hz,
        &mut frequency.effective_hz_low,
        &mut frequency.effective_hz_high,
        &mut frequency.effective_hz_before,
        &mut frequency.effective_hz_after,
        &mut frequency.cycles_hz,
    ] {
        drop_unless_finite(hz);
    }
    for row in &mut report.timers {
        // An accuracy always has its ticks; without them there is none.
        row.accuracy = row.accuracy.filter(|accuracy| accuracy.ticks.is_finite());
        if let Some(accuracy) = &mut row.accuracy {
            [&mut accuracy.ns, &mut accuracy.low_ns, &mut accuracy.high_ns, &mut accuracy.cycles]
                .into_iter()
                .for_each(drop_unless_finite);
        }
        if let Some(cost) = &mut row.cost {
            [&mut cost.median_ns, &mut cost.low_ns, &mut cost.high_ns]
                .into_iter()
                .for_each(drop_unless_finite);
            [&mut cost.median_cycles, &mut cost.single_median_ns, &mut cost.p99_ns]
                .into_iter()
                .for_each(drop_unless_finite);
        }
        if let Some(observations) = &mut row.observations {
            drop_unless_finite(&mut observations.reference_accuracy_ns);
        }
        [&mut row.ns_per_tick, &mut row.spread, &mut row.printed_quality]
            .into_iter()
            .for_each(drop_unless_finite);
        [&mut row.quality, &mut row.quality_low, &mut row.quality_high]
            .into_iter()
            .for_each(drop_unless_finite);
    }
    report
}

fn drop_unless_finite(figure: &mut Option<f64>) {
    *figure = figure.filter(|figure| figure.is_finite());
}

/// What is wrong with a text that is no such document, without the place, which is told apart.
#[must_use]
pub fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}
