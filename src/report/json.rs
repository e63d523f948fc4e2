//! The report as JSON (schema `timermeter.report.v1`).

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::Formatter;

use crate::model::{
    CostHistogram, Distribution, Granularity, Known, Lateness, PeriodFigures, Report, WaitFigures,
};

/// The document, indented, with a newline at its end. Figures that are not finite become null.
#[must_use]
pub fn render(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(&finite(report.clone())).expect("all keys are strings");
    text.push('\n');
    text
}

/// The document as it is kept: a line a timer and a member of the report, nearly a third smaller than the indented one.
#[must_use]
pub fn dense(report: &Report) -> String {
    let mut text = Vec::new();
    let mut writer = serde_json::Serializer::with_formatter(&mut text, Lines::default());
    finite(report.clone()).serialize(&mut writer).expect("all keys are strings");
    text.push(b'\n');
    String::from_utf8(text).expect("JSON is UTF-8")
}

/// Breaks lines before the members of the document, and before the elements of its arrays.
#[derive(Default)]
struct Lines {
    depth: u32,
}

impl Lines {
    fn open<W: ?Sized + Write>(&mut self, bracket: &[u8], writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        writer.write_all(bracket)
    }

    fn close<W: ?Sized + Write>(&mut self, bracket: &[u8], writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        writer.write_all(bracket)
    }

    fn next<W: ?Sized + Write>(&self, first: bool, broken: bool, writer: &mut W) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        if broken { writer.write_all(b"\n") } else { Ok(()) }
    }
}

impl Formatter for Lines {
    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(b"{", writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(b"}", writer)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.next(first, self.depth == 1, writer)
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(b"[", writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(b"]", writer)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.next(first, self.depth == 2, writer)
    }
}

/// JSON has no NaN and no infinity: what may be null is written so. What always has numbers is none without them.
fn finite(mut report: Report) -> Report {
    for row in &mut report.timers {
        row.accuracy = row.accuracy.filter(|accuracy| accuracy.ticks.is_finite());
        row.distribution = row.distribution.take().filter(Distribution::is_finite);
        if let Some(figures) = &mut row.figures {
            figures.staircase = figures.staircase.take().filter(|stairs| stairs.ns_per_work.is_finite());
            let sound = |costs: &CostHistogram| costs.first_ns.is_finite() && costs.width_ns.is_finite();
            figures.singles = figures.singles.take().filter(sound);
        }
        if let Some(verdicts) = &mut row.verdicts {
            verdicts.thread_safe.offsets.retain(|offset| (offset.ns + offset.uncertainty_ns).is_finite());
            verdicts.stable.allan.retain(|point| (point.window_s + point.deviation).is_finite());
        }
    }
    for figures in report.waits.iter_mut().filter_map(|row| row.figures.as_mut()) {
        let WaitFigures { steps, floor_ns, zero_ns, proportional_ppm, cpu_slope, arm_cancel_ns, .. } =
            figures;
        only_finite([floor_ns, zero_ns, proportional_ppm, cpu_slope, arm_cancel_ns]);
        for granularity in steps.iter_mut().flat_map(|steps| [&mut steps.rounding, &mut steps.grid]) {
            *granularity = granularity.filter(|granularity| match granularity {
                Granularity::Step(known) => known.value.is_finite(),
                Granularity::AtMost(ns) => ns.is_finite(),
            });
        }
        figures.lateness.retain(|late| {
            [late.max_ns, late.early, late.earliest_ns, late.accuracy_ns]
                .iter()
                .all(|figure| figure.is_finite())
        });
        for Lateness { p50_ns, p90_ns, p99_ns, p999_ns, timers_part_ns, cpu_ns, .. } in &mut figures.lateness
        {
            only_finite([p50_ns, p90_ns, p99_ns, p999_ns, timers_part_ns, cpu_ns]);
        }
        figures.staircase.retain(|[asked, took]| (asked + took).is_finite());
    }
    for figures in report.periods.iter_mut().filter_map(|row| row.figures.as_mut()) {
        let PeriodFigures {
            rate_error_ppm,
            jitter_p50_ns,
            jitter_p99_ns,
            lateness_p50_ns,
            lateness_p99_ns,
            ..
        } = figures;
        only_finite([rate_error_ppm, jitter_p50_ns, jitter_p99_ns, lateness_p50_ns, lateness_p99_ns]);
    }
    report
}

fn only_finite<const N: usize>(figures: [&mut Option<Known>; N]) {
    for figure in figures {
        *figure = figure.filter(|known| known.value.is_finite());
    }
}

#[cfg(test)]
mod tests {
    use super::{dense, render};
    use crate::model::Report;
    use crate::report::read::tests::SMALL;

    #[test]
    fn a_kept_document_says_the_same_with_a_line_a_timer() {
        let row =
            |id: &str| format!(r#"{{"id":"{id}","label":"","runtime":"x","status":"ok","warnings":[]}}"#);
        let text = SMALL.replace("\"timers\":[]", &format!("\"timers\":[{},{}]", row("a"), row("b")));
        let report = Report::parse(&text, "r.json").unwrap();
        let (kept, indented) = (dense(&report), render(&report));
        assert_eq!(Report::parse(&kept, "kept").unwrap(), report);
        assert!(kept.len() < indented.len() * 3 / 4, "{kept}");
        assert_eq!(kept.lines().filter(|line| line.starts_with("{\"id\":")).count(), 2, "{kept}");
    }
}
