//! Compares old and new reports of a machine: first the platforms, then every quantity of every
//! timer, with the interval of its difference and a verdict on whether the difference exceeds the
//! noise between runs. Costs are judged by families of clocks that are read the same way.
//! METHODOLOGY.md explains the method.

mod condition;
mod families;
mod judge;
mod platform;
mod rows;
mod scatter;
mod sections;
mod sentence;
mod trust;

use serde::Serialize;

use crate::fields::{FieldUnit, fields_of};
use crate::model::{Interval, Report, TimerRow};
use crate::statistics::mean;

pub use condition::{BadCondition, ChangeCondition, Decision};
pub use judge::FamilyChange;
use platform::cpu_differs;
pub use platform::{FELL, PlatformChange, platform_changes, unlike_cpu};
pub use trust::ChangedAnswer;

use judge::TimerQuantity;
use rows::{RunRow, core_ghz};

/// The names of the quantities that are judged.
pub const COST: &str = "cost";
/// The resolution of a clock.
pub const RESOLUTION: &str = "resolution";
/// Costs and resolutions that differ by less than this share count as equal: vendors, kernels and
/// hypervisors round declared rates by as much (10.00 and 10.02 ns). *Seen*.
const MIN_SHARE: f64 = 0.005;

/// The verdict on a difference; in this order, differences are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeVerdict {
    /// Worse by more than noise.
    Worse,
    /// Better by more than noise.
    Better,
    /// Unknown, because a value has no interval, or none is given.
    Unjudged,
    /// Within noise, or too small to matter.
    Noise,
}

/// The difference between two values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FigureChange {
    /// The old value; costs in cycles are converted at the core frequency of the old runs.
    pub old: Interval,
    /// The new value.
    pub new: Interval,
    /// The new value minus the old value, in the unit of the quantity.
    pub difference: Interval,
    /// The difference in percent of the old value; null if percentages do not apply.
    pub percent: Option<Interval>,
}

/// A quantity of a timer that both reports contain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedFigure {
    /// The timer.
    pub timer: String,
    /// The quantity.
    pub quantity: &'static str,
    /// Its unit.
    #[serde(skip)]
    pub unit: FieldUnit,
    /// The difference.
    #[serde(flatten)]
    pub change: FigureChange,
    /// Whether the difference exceeds noise, and in which direction.
    pub verdict: ChangeVerdict,
    /// Whether one of the reports measured the timer in a single process, which allows no
    /// conclusion.
    pub single_process: bool,
    /// Whether one side has only processes that had their core to themselves and the other has none
    /// of them, which allows no conclusion.
    pub unlike_cores: bool,
}

/// A timer with results in only one of the reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OneSided {
    /// The timer.
    pub timer: String,
    /// The difference between the two reports in this timer.
    pub fate: Fate,
    /// The reason that the report without results gives, if it is the new one.
    pub reason: Option<String>,
}

/// The difference between two reports in a timer that has results in only one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// Both reports list the timer; only the old one has results, and the new one could not read it.
    Lost,
    /// Both reports list the timer; only the old one has results, and the new one could not determine
    /// all of them.
    Unresolved,
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
    /// The summary in one sentence.
    pub sentences: Vec<String>,
    /// The numbers of old runs and of new runs.
    pub runs: [usize; 2],
    /// The change in percent that all costs share, if it exceeds noise: neighbours and the core
    /// frequency slow down or speed up the machine. It is no change of the clocks; their new costs
    /// are given without it.
    pub machine: Option<Interval>,
    /// The changes of costs that families of clocks share.
    pub families: Vec<FamilyChange>,
    /// Differences between the platforms and settings, the most important first.
    pub platform: Vec<PlatformChange>,
    /// Quantities that both reports contain, in the order of the new report.
    pub figures: Vec<ComparedFigure>,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the reports cannot be compared: no timer is in both")]
pub struct NothingInCommon;

impl ComparedFigure {
    /// Whether the difference exceeds noise.
    pub fn is_changed(&self) -> bool {
        matches!(self.verdict, ChangeVerdict::Better | ChangeVerdict::Worse)
    }

    /// Whether the difference is at least the smallest that matters.
    fn matters(&self) -> bool {
        self.change.difference.value.abs() >= MIN_SHARE * self.change.old.value.abs()
    }
}

impl Comparison {
    /// Compares the new runs of a machine with its old runs. Several runs of a side show how much
    /// runs of the machine differ.
    ///
    /// # Errors
    /// When no timer is in both the old and the new runs.
    pub fn between(old: &[&Report], new: &[&Report]) -> Result<Self, NothingInCommon> {
        let (Some(first_old), Some(first_new)) = (old.first(), new.first()) else {
            return Err(NothingInCommon);
        };
        let platform = platform_changes(first_old, first_new);
        // Cycles of different CPUs cannot be compared.
        let is_same_cpu = !cpu_differs(&platform);
        let frequencies = [old, new].map(|side| -> Option<f64> {
            let all: Option<Vec<f64>> = side.iter().map(|run| core_ghz(run)).collect();
            all.and_then(mean).filter(|_| is_same_cpu)
        });
        let core_ghz = frequencies[0].filter(|_| frequencies[1].is_some());
        let sides = [old, new].map(|side| -> Vec<RunRow> {
            side.iter().flat_map(|run| RunRow::all_of(run)).collect()
        });
        let matched = rows::match_rows(sides.each_ref().map(Vec::as_slice));
        if matched.pairs.is_empty() {
            return Err(NothingInCommon);
        }
        let mut comparison = Self {
            runs: [old.len(), new.len()],
            platform,
            one_sided: matched.one_sided,
            timers: matched.names,
            ..Self::default()
        };
        let mut candidates = Vec::new();
        for (name, rows) in &matched.pairs {
            let [before, after] = rows.each_ref().map(|side| {
                side.iter()
                    .filter_map(|row| row.clock())
                    .collect::<Vec<&TimerRow>>()
            });
            let (changed, is_asked) = trust::changed_answers(&before, &after);
            comparison.answers.extend(changed);
            comparison.asked.extend(is_asked.then(|| name.clone()));
            candidates.extend(candidates_of(name, rows));
        }
        judge::judge(&mut comparison, &candidates, core_ghz);
        comparison.sentences = vec![sentence::sentence(&comparison)];
        Ok(comparison)
    }

    /// The number of compared values with the given verdict.
    pub fn count(&self, verdict: ChangeVerdict) -> usize {
        self.figures
            .iter()
            .filter(|compared| compared.verdict == verdict)
            .count()
    }

    /// Timers that lost their results or are no longer listed.
    pub fn lost(&self) -> impl Iterator<Item = &OneSided> {
        self.one_sided
            .iter()
            .filter(|timer| matches!(timer.fate, Fate::Lost | Fate::Gone))
    }
}

/// All quantities of a timer that both sides have.
fn candidates_of<'a>(timer: &'a str, rows: &[Vec<&'a RunRow<'a>>; 2]) -> Vec<TimerQuantity<'a>> {
    let fields = fields_of(rows[1][0].row.kind());
    let candidates = fields.filter_map(|field| {
        let quantity = field.compared?;
        let sides = rows.each_ref().map(|side| -> Vec<(&RunRow, Interval)> {
            let figures = side.iter();
            figures
                .filter_map(|row| Some((*row, field.figure(row.row)?)))
                .collect()
        });
        let is_on_both = sides.iter().all(|side| !side.is_empty());
        is_on_both.then_some(TimerQuantity {
            timer,
            quantity,
            field,
            sides,
        })
    });
    candidates.collect()
}

#[cfg(test)]
mod tests;
