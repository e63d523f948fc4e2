//! Renders a report as JSON (schema `timermeter.report.v2`).

use crate::model::{Distribution, Granularity, Lateness, Report};

/// The document, indented, with a final newline. Numbers that are not finite become null.
#[must_use]
pub fn render(report: &Report) -> String {
    serde_json::to_string_pretty(&remove_non_finite(report.clone())).expect("all keys are strings")
        + "\n"
}

/// The document on one line for archives, which is about a third smaller than the indented
/// document.
#[must_use]
pub fn render_compact(report: &Report) -> String {
    serde_json::to_string(&remove_non_finite(report.clone())).expect("all keys are strings") + "\n"
}

/// Replaces NaN and infinity, which JSON does not support: optional numbers become null, and an
/// object whose required numbers are not finite is removed.
fn remove_non_finite(mut report: Report) -> Report {
    for row in &mut report.timers {
        row.resolution = row
            .resolution
            .filter(|resolution| resolution.ticks.is_finite());
        row.processes
            .retain(|process| process.amortised_ns.is_finite());
        row.distribution = row.distribution.take().filter(Distribution::is_finite);
        if let Some(verdicts) = &mut row.verdicts {
            verdicts
                .thread_safe
                .offsets
                .retain(|offset| (offset.ns + offset.uncertainty_ns).is_finite());
        }
    }
    for figures in report
        .waits
        .iter_mut()
        .filter_map(|row| row.figures.as_mut())
    {
        for granularity in figures
            .steps
            .iter_mut()
            .flat_map(|steps| [&mut steps.rounding, &mut steps.grid])
        {
            *granularity = granularity.filter(|granularity| match granularity {
                Granularity::Step(known) => known.value.is_finite(),
                Granularity::AtMost(ns) => ns.is_finite(),
            });
        }
        figures.lateness.retain(Lateness::is_finite);
    }
    let periods = report.periods.iter_mut();
    for figures in periods.filter_map(|row| row.figures.as_mut()) {
        figures.lateness = figures.lateness.take().filter(Lateness::is_finite);
    }
    report
}

#[cfg(test)]
mod tests {
    use super::{render, render_compact};
    use crate::report::parse;
    use crate::report::read::tests::SMALL;

    #[test]
    fn kept_document_is_shorter() {
        let row = |id: &str| {
            format!(r#"{{"id":"{id}","label":"","runtime":"x","status":"ok","findings":[]}}"#)
        };
        let text = SMALL.replace(
            "\"timers\":[]",
            &format!("\"timers\":[{},{}]", row("a"), row("b")),
        );
        let report = parse(&text, "r.json").unwrap();
        let (kept, indented) = (render_compact(&report), render(&report));
        assert_eq!(parse(&kept, "kept").unwrap(), report);
        assert!(kept.len() < indented.len() * 3 / 4, "{kept}");
    }
}
