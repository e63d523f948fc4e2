//! What changed from one report to another: the platforms first, then every timer with the interval
//! of each difference and whether it is more than noise. METHODOLOGY.md explains the intervals.

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
pub use platform::{PlatformChange, Remark, platform_changes, unlike_cpu};
pub use quantity::Quantity;
pub use trust::ChangedAnswer;

use rows::{Hertz, Row};

/// In which unit a cost, or the cost in a Quality, was compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// In cycles of the core, as it follows that.
    Cycles,
    /// In nanoseconds, as it does not, or the core's frequency is unknown.
    #[serde(rename = "ns")]
    Time,
    /// In both, as neither can be excluded: a change has to show in each.
    Both,
}

/// What became of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Better by more than noise.
    Better,
    /// Worse by more than noise.
    Worse,
    /// No more than noise, or too small to matter.
    Noise,
    /// Unknown: the figures have no intervals.
    Unjudged,
}

/// A difference of two figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The old figure. Costs are those at the core frequency of the old runs.
    pub old: Interval,
    /// The new figure.
    pub new: Interval,
    /// New less old, in the unit of the figure (Quality: points).
    pub difference: Interval,
    /// The same in percent of the old figure; null of what is no time.
    pub percent: Option<Interval>,
}

/// A figure of a timer in both reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The timer.
    pub timer: String,
    /// Which figure.
    pub quantity: Quantity,
    /// Its difference.
    #[serde(flatten)]
    pub change: Change,
    /// Whether that is more than noise, and in which direction.
    pub verdict: Verdict,
    /// Whether it is as large as the smallest difference that matters.
    pub matters: bool,
    /// Whether one of the reports rests the timer on a single process, from which nothing follows.
    pub single_process: bool,
    /// What it was compared in, where there is a choice.
    pub unit: Option<Unit>,
    /// The probability of so large a difference by chance, corrected for the number of figures
    /// compared (Holm); of a Quality by itself.
    pub probability: Option<f64>,
    /// The smallest change that would have been detected nine times in ten: in percent where
    /// differences are, else in the unit of the figure.
    pub detectable: Option<f64>,
}

/// A timer whose figures are in one of the reports only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OneSided {
    /// The timer.
    pub timer: String,
    /// What became of it.
    pub fate: Fate,
    /// The reason that the report without figures gives.
    pub reason: Option<String>,
}

/// What became of a timer that only one report has figures of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// Both list it, the new one without a Quality.
    Lost,
    /// Both list it, the old one without a Quality.
    Gained,
    /// Only the old one lists it.
    Gone,
    /// Only the new one lists it.
    Added,
}

/// All that changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// What it comes down to: a sentence for clocks, and one for timers that wait.
    pub sentences: Vec<String>,
    /// How many runs there are of the old side, of the new one and in the history.
    pub runs: [usize; 3],
    /// The mean frequency of the cores of both sides, in hertz, where figures were compared in
    /// cycles.
    pub core_hz: Option<[f64; 2]>,
    /// Differences between the platforms and settings, what matters most first.
    pub platform: Vec<PlatformChange>,
    /// Figures that both have, in the order of the new report.
    pub figures: Vec<Compared>,
    /// Timers that only one has figures of.
    pub one_sided: Vec<OneSided>,
    /// Questions of trust that both asked and answered differently, in the order of the new report.
    pub answers: Vec<ChangedAnswer>,
    /// All timers of either side, by the names that conditions know them by.
    #[serde(skip)]
    pub timers: Vec<String>,
    /// Timers of which both sides answered a question of trust.
    #[serde(skip)]
    pub asked: Vec<String>,
}

/// Two reports that have nothing in common.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "they cannot be compared: no timer is in both (the old report has {old} timers, the new one {new})"
)]
pub struct NothingInCommon {
    old: usize,
    new: usize,
}

impl Compared {
    /// Whether the figure changed by more than noise.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        matches!(self.verdict, Verdict::Better | Verdict::Worse)
    }
}

impl Comparison {
    /// Compares the new runs of a machine with older ones of it. The variance between runs is
    /// measured where a side has more than one, and by a `history`: other runs of the machine
    /// between which nothing changed. A run of it that is of another CPU, or does not know its
    /// frequency where all others do, has no part.
    ///
    /// # Errors
    /// When no timer is on both sides.
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
        let matched = rows::matched(sides.each_ref().map(Vec::as_slice));
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
            if trust::are_asked(&before, &after) {
                comparison.asked.push(name.clone());
            }
            comparison.answers.extend(trust::changed(&before, &after));
            let sides = rows.each_ref().map(Vec::as_slice);
            candidates.extend(units::candidates(name, sides, common));
        }
        comparison.figures = family::judged(&candidates);
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

    /// How many figures came to this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        let figures = self.figures.iter();
        figures
            .filter(|compared| compared.verdict == verdict)
            .count()
    }

    /// Timers that lost their figures or are gone.
    pub fn lost(&self) -> impl Iterator<Item = &OneSided> {
        let one_sided = self.one_sided.iter();
        one_sided.filter(|timer| matches!(timer.fate, Fate::Lost | Fate::Gone))
    }
}

#[cfg(test)]
mod tests;
