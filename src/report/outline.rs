//! A report without its bulk: what tables and comparisons say of it. Of ten thousand reports more need not be read; what
//! is passed over has to be JSON, and nothing more is asked of it.

use std::borrow::Cow;

use serde::Deserialize;

use crate::model::{
    Accuracy, Cost, Frequency, Outcome, Platform, Provenance, Report, Settings, Status, TimerRow, Tool,
    Verdicts, in_short,
};

/// A report without its bulk. Its members are those of [`Report`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[allow(missing_docs)]
pub struct Outline<'a> {
    #[serde(borrow)]
    pub schema: Cow<'a, str>,
    pub tool: Tool,
    pub created: String,
    #[serde(default)]
    pub provenance: Provenance,
    pub platform: Platform,
    pub frequency: Frequency,
    pub settings: Settings,
    #[serde(borrow)]
    pub timers: Vec<OutlineRow<'a>>,
}

/// A timer of it. Its members are those of [`TimerRow`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[allow(missing_docs)]
pub struct OutlineRow<'a> {
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    #[serde(borrow)]
    pub label: Cow<'a, str>,
    #[serde(borrow)]
    pub runtime: Cow<'a, str>,
    pub status: Status,
    pub reason: Option<String>,
    pub ns_per_tick: Option<f64>,
    pub accuracy: Option<Accuracy>,
    pub cost: Option<Cost>,
    pub spread: Option<f64>,
    #[serde(default)]
    pub spread_low: Option<f64>,
    #[serde(default)]
    pub spread_high: Option<f64>,
    pub quality: Option<f64>,
    pub quality_low: Option<f64>,
    pub quality_high: Option<f64>,
    #[serde(borrow, default)]
    pub verdicts: Option<Answers<'a>>,
    #[serde(default)]
    pub printed_quality: Option<f64>,
    #[serde(borrow)]
    pub warnings: Vec<Code<'a>>,
}

/// Answers to the questions of trust, without the evidence that is no sentence.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub struct Answers<'a> {
    #[serde(borrow)]
    pub monotonic: Asked<'a>,
    #[serde(borrow)]
    pub thread_safe: Asked<'a>,
    #[serde(borrow)]
    pub stable: Asked<'a>,
    #[serde(borrow)]
    pub counts: Asked<'a>,
    #[serde(borrow)]
    pub declared: Asked<'a>,
    #[serde(borrow)]
    pub read_path: Asked<'a>,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Asked<'a> {
    /// The outcome.
    pub outcome: Outcome,
    /// The evidence in a sentence.
    #[serde(borrow)]
    pub finding: Cow<'a, str>,
}

/// A warning, by its name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Code<'a> {
    /// Its name.
    #[serde(borrow)]
    pub code: Cow<'a, str>,
}

impl Answers<'_> {
    /// The name, outcome and finding of each, as [`Verdicts::each`] has them.
    #[must_use]
    pub fn each(&self) -> [(&'static str, Outcome, &str); 6] {
        let Self { monotonic, thread_safe, stable, counts, declared, read_path } = self;
        let named = [monotonic, thread_safe, stable, counts, declared, read_path].into_iter().zip(QUESTIONS);
        let mut each = [("", Outcome::NotTested, ""); 6];
        for (place, (asked, name)) in each.iter_mut().zip(named) {
            *place = (name, asked.outcome, asked.finding.as_ref());
        }
        each
    }

    /// Why the Quality is 0, where it is.
    #[must_use]
    pub fn condemning(&self) -> Option<String> {
        let failed = self.each().into_iter().take(3).filter(|(_, outcome, _)| *outcome == Outcome::Fail);
        let findings: Vec<&str> = failed.map(|(_, _, finding)| finding).collect();
        (!findings.is_empty()).then(|| findings.join("; "))
    }

    /// In one word.
    #[must_use]
    pub fn in_short(&self) -> &'static str {
        in_short([self.monotonic.outcome, self.thread_safe.outcome, self.stable.outcome])
    }
}

const QUESTIONS: [&str; 6] = ["monotonic", "thread-safe", "stable", "counts", "declared", "read path"];

impl<'a> From<&'a Report> for Outline<'a> {
    fn from(report: &'a Report) -> Self {
        Self {
            schema: Cow::Borrowed(&report.schema),
            tool: report.tool.clone(),
            created: report.created.clone(),
            provenance: report.provenance.clone(),
            platform: report.platform.clone(),
            frequency: report.frequency.clone(),
            settings: report.settings.clone(),
            timers: report.timers.iter().map(OutlineRow::from).collect(),
        }
    }
}

impl<'a> From<&'a TimerRow> for OutlineRow<'a> {
    fn from(row: &'a TimerRow) -> Self {
        Self {
            id: Cow::Borrowed(&row.id),
            label: Cow::Borrowed(&row.label),
            runtime: Cow::Borrowed(&row.runtime),
            status: row.status,
            reason: row.reason.clone(),
            ns_per_tick: row.ns_per_tick,
            accuracy: row.accuracy,
            cost: row.cost.clone(),
            spread: row.spread,
            spread_low: row.spread_low,
            spread_high: row.spread_high,
            quality: row.quality,
            quality_low: row.quality_low,
            quality_high: row.quality_high,
            verdicts: row.verdicts.as_ref().map(Answers::from),
            printed_quality: row.printed_quality,
            warnings: row
                .warnings
                .iter()
                .map(|warning| Code { code: Cow::Borrowed(&warning.code) })
                .collect(),
        }
    }
}

impl<'a> From<&'a Verdicts> for Answers<'a> {
    fn from(verdicts: &'a Verdicts) -> Self {
        let [monotonic, thread_safe, stable, counts, declared, read_path] =
            verdicts.each().map(|(_, outcome, finding)| Asked { outcome, finding: Cow::Borrowed(finding) });
        Self { monotonic, thread_safe, stable, counts, declared, read_path }
    }
}

#[cfg(test)]
mod tests {
    use super::Outline;
    use crate::model::Report;

    /// A kept run of this program, with all that a report can hold.
    const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/xeon-2026-11-21.json");

    #[test]
    fn an_outline_says_what_the_report_says() {
        let text = std::fs::read_to_string(KEPT).unwrap();
        let report = Report::parse(&text, "kept").unwrap();
        let outline = Outline::parse(&text, "kept").unwrap();
        assert_eq!(outline, Outline::from(&report));
        for (row, outline) in report.timers.iter().zip(&outline.timers) {
            let (Some(verdicts), Some(answers)) = (&row.verdicts, &outline.verdicts) else { continue };
            assert_eq!((verdicts.each(), verdicts.in_short()), (answers.each(), answers.in_short()));
            assert_eq!(verdicts.condemning().next().is_some(), answers.condemning().is_some());
        }
    }
}
