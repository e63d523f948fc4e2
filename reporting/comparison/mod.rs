//! Compares old and new reports of a machine: first the platforms, then every quantity of every
//! timer, with the interval of its difference and a verdict on whether the difference exceeds the
//! noise between runs. METHODOLOGY.md explains the intervals.

mod condition;
mod evidence;
mod family;
mod platform;
mod quantity;
mod rows;
mod scatter;
mod sections;
mod sentence;
mod trust;
mod units;

use serde::Serialize;

use crate::model::{Interval, Report, TimerRow, value_of};
use crate::statistics::mean;

pub use condition::{BadCondition, Condition, Decision};
pub use platform::{PlatformChange, Remark, is_same_state, platform_changes, unlike_cpu};
pub use quantity::Quantity;
pub use trust::ChangedAnswer;

use rows::{Hertz, Row};

/// The unit in which a cost was compared, or the unit of the cost from which a Quality follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Core cycles, because the cost follows the core frequency.
    Cycles,
    /// Nanoseconds, because the cost does not follow the core frequency or the frequency is
    /// unknown.
    #[serde(rename = "ns")]
    Time,
    /// Both units, because neither can be excluded; a change has to show in each unit.
    Both,
}

/// The verdict on a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Better by more than noise.
    Better,
    /// Worse by more than noise.
    Worse,
    /// Within noise, or too small to matter.
    Noise,
    /// Unknown, because a value has no interval.
    Unjudged,
}

/// The difference between two values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The old value; costs in cycles are converted at the core frequency of the old runs.
    pub old: Interval,
    /// The new value.
    pub new: Interval,
    /// The new value minus the old value, in the unit of the quantity (Quality: percentage points).
    pub difference: Interval,
    /// The difference in percent of the old value; null if percentages do not apply.
    pub percent: Option<Interval>,
}

/// A quantity of a timer that both reports contain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The timer.
    pub timer: String,
    /// The quantity.
    pub quantity: Quantity,
    /// The difference.
    #[serde(flatten)]
    pub change: Change,
    /// Whether the difference exceeds noise, and in which direction.
    pub verdict: Verdict,
    /// Whether the difference is at least the smallest difference that matters.
    pub matters: bool,
    /// Whether one of the reports measured the timer in a single process, which allows no
    /// conclusion.
    pub single_process: bool,
    /// The unit of the comparison, if there is a choice.
    pub unit: Option<Unit>,
    /// The probability of a difference at least this large by chance, corrected for the number of
    /// values compared (Holm); Qualities are not corrected.
    pub probability: Option<f64>,
    /// The smallest change that would have been detected in 90 % of cases: in percent if `percent`
    /// is set, else in the unit of the quantity.
    pub detectable: Option<f64>,
}

/// A timer with results in only one of the reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OneSided {
    /// The timer.
    pub timer: String,
    /// The difference between the two reports in this timer.
    pub fate: Fate,
    /// The reason that the report without results gives.
    pub reason: Option<String>,
}

/// The difference between two reports in a timer that has results in only one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// Both reports list the timer; only the old one has results.
    Lost,
    /// Both reports list the timer; only the new one has results.
    Gained,
    /// Only the old report lists the timer.
    Gone,
    /// Only the new report lists the timer.
    Added,
}

/// All differences between the reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// The summary: one sentence for clocks, and one for all other timers.
    pub sentences: Vec<String>,
    /// The numbers of old runs, of new runs and of other runs (the history).
    pub runs: [usize; 3],
    /// The mean core frequency of the old and the new runs, in hertz, if costs were compared in
    /// cycles.
    pub core_hz: Option<[f64; 2]>,
    /// Differences between the platforms and settings, the most important first.
    pub platform: Vec<PlatformChange>,
    /// Quantities that both reports contain, in the order of the new report.
    pub figures: Vec<Compared>,
    /// Timers with results in only one of the reports.
    pub one_sided: Vec<OneSided>,
    /// Trust questions that the two reports answer differently, in the order of the new report.
    pub answers: Vec<ChangedAnswer>,
    /// All timers of the two reports, by the names that conditions use.
    #[serde(skip)]
    pub timers: Vec<String>,
    /// Timers for which both sides answered a trust question.
    #[serde(skip)]
    pub asked: Vec<String>,
}

/// The error of reports that have no timer in common.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the reports cannot be compared: no timer is in both (the old report has {old} timers, the new report {new})"
)]
pub struct NothingInCommon {
    old: usize,
    new: usize,
}

impl Compared {
    /// Whether the difference exceeds noise.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        matches!(self.verdict, Verdict::Better | Verdict::Worse)
    }
}

impl Comparison {
    /// Compares the new runs of a machine with its old runs. `history` contains other runs of the
    /// machine between which nothing changed. The variance between runs is estimated from the
    /// history, and from a side with several runs. Runs of the history with another CPU are
    /// ignored, and so are runs without a known core frequency if all old and new runs have one.
    ///
    /// # Errors
    /// When no timer is in both the old and the new runs.
    pub fn between(
        old: &[&Report],
        new: &[&Report],
        history: &[&Report],
    ) -> Result<Self, NothingInCommon> {
        let nothing = |old: &[Row], new: &[Row]| NothingInCommon {
            old: old.len(),
            new: new.len(),
        };
        let (Some(first_old), Some(first_new)) = (old.first(), new.first()) else {
            return Err(nothing(&[], &[]));
        };
        let platform = platform_changes(first_old, first_new);
        let is_other_cpu =
            |changes: &[PlatformChange]| changes.iter().any(PlatformChange::is_other_cpu);
        let common = if is_other_cpu(&platform) {
            Hertz::default()
        } else {
            Hertz::of_old_runs(old, new)
        };
        let is_usable = |run: &&&Report| {
            !is_other_cpu(&platform_changes(first_old, run))
                && (common.core.is_none() || Hertz::of_run(run).core.is_some())
        };
        let history: Vec<&Report> = history.iter().filter(is_usable).copied().collect();
        let sides = [old, new, &history]
            .map(|side| -> Vec<Row> { side.iter().flat_map(|run| Row::all_of(run)).collect() });
        let matched = rows::match_rows(sides.each_ref().map(Vec::as_slice));
        if matched.pairs.is_empty() {
            return Err(nothing(&sides[0], &sides[1]));
        }
        let mut comparison = Self {
            runs: [old.len(), new.len(), history.len()],
            platform,
            one_sided: matched.one_sided,
            timers: matched.names,
            ..Self::default()
        };
        let mut candidates = Vec::new();
        for (name, rows) in &matched.pairs {
            let [before, after, _] = rows.each_ref().map(|side| {
                side.iter()
                    .filter_map(|row| row.clock())
                    .collect::<Vec<&TimerRow>>()
            });
            if trust::both_answered(&before, &after) {
                comparison.asked.push(name.clone());
            }
            comparison
                .answers
                .extend(trust::changed_answers(&before, &after));
            let sides = rows.each_ref().map(Vec::as_slice);
            candidates.extend(units::candidates(name, sides, common));
        }
        comparison.figures = family::judge(&candidates);
        let mut units = comparison.figures.iter().filter_map(|figure| figure.unit);
        if units.any(|unit| unit != Unit::Time) {
            let core = |side: &[&Report]| {
                let known = side
                    .iter()
                    .filter_map(|run| value_of(run.frequency.effective_hz));
                mean(known.collect::<Vec<f64>>())
            };
            comparison.core_hz = core(old).zip(core(new)).map(<[f64; 2]>::from);
        }
        comparison.sentences = sentence::sentences(&comparison);
        Ok(comparison)
    }

    /// The number of compared values with the given verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        let figures = self.figures.iter();
        figures
            .filter(|compared| compared.verdict == verdict)
            .count()
    }

    /// Timers that lost their results or are no longer listed.
    pub fn lost(&self) -> impl Iterator<Item = &OneSided> {
        let one_sided = self.one_sided.iter();
        one_sided.filter(|timer| matches!(timer.fate, Fate::Lost | Fate::Gone))
    }
}

#[cfg(test)]
mod tests;
