//! What changed from one report to another: the platforms first, then every timer with the interval
//! of each difference and whether it is more than noise. METHODOLOGY.md says how the intervals are
//! made.

mod clocks;
mod condition;
mod evidence;
mod family;
mod formats;
mod interval;
mod platform;
mod quantity;
mod rows;
mod scatter;
mod sentence;
mod trust;
mod waits;

use indexmap::IndexMap;
use serde::Serialize;

use crate::model::{Report, Status, TimerRow};
use crate::statistics::mean;

pub use condition::{BadCondition, Condition, Untold};
pub use family::FAMILY_ERROR;
pub use formats::document;
pub use interval::{Difference, Interval};
pub use platform::{PlatformChange, Remark, changes as platform_changes, unlike_cpu};
pub use quantity::{Quantity, SMALLEST, SMALLEST_QUALITY, SMALLEST_SPREAD};
pub use sentence::sentences;
pub use trust::ChangedAnswer;

use clocks::{Common, SeenClock};
use family::Candidate;

/// In what a cost, or the cost in a Quality, was compared.
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
    /// It cannot be told: the figures have no intervals.
    Unjudged,
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
    pub difference: Difference,
    /// Whether that is more than noise, and in which direction.
    pub verdict: Verdict,
    /// Whether it is as large as the smallest difference that matters.
    pub matters: bool,
    /// Whether one of the reports rests the timer on a single process, from which nothing follows.
    pub single_process: bool,
    /// What it was compared in, where there is a choice. Figures are told at the core frequency of
    /// the old runs.
    pub unit: Option<Unit>,
    /// The probability of so large a difference by chance, corrected for the number of figures
    /// compared (Holm); of a Quality by itself.
    pub probability: Option<f64>,
    /// The smallest change that would have been found nine times in ten: in percent where
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
    /// How many runs there are of either side.
    pub runs: [usize; 2],
    /// How many others told what runs of the machine differ by.
    pub history: usize,
    /// What the cores of both sides ran at, in hertz, where what follows that was compared in
    /// cycles.
    pub core_hz: Option<[f64; 2]>,
    /// What single runs were taken to differ by beyond their intervals, in words.
    pub assumed: Vec<String>,
    /// Differences between the platforms and settings, what matters most first.
    pub platform: Vec<PlatformChange>,
    /// Figures that both have, in the order of the new report.
    pub figures: Vec<Compared>,
    /// Timers that only one has figures of.
    pub one_sided: Vec<OneSided>,
    /// Questions of trust that both asked and answered otherwise, in the order of the new report.
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

impl Comparison {
    /// Compares `new` with `old`.
    ///
    /// # Errors
    /// When no timer is in both.
    pub fn of(old: &Report, new: &Report) -> Result<Self, NothingInCommon> {
        Self::of_runs(&[old], &[new], &[])
    }

    /// Compares several runs of a machine with older ones of it. What runs differ by is measured
    /// where a side has more than one, and by others of the machine between which nothing changed:
    /// a `history`, which is on neither side. A run of it that is of another CPU, or does not know
    /// its frequency where all others do, has no part.
    ///
    /// # Errors
    /// When no timer is on both sides.
    pub fn of_runs(
        old: &[&Report],
        new: &[&Report],
        history: &[&Report],
    ) -> Result<Self, NothingInCommon> {
        let count = |side: &[&Report]| {
            side.iter()
                .map(|run| run.timers.len() + run.waits.len() + run.periods.len())
                .max()
                .unwrap_or(0)
        };
        let nothing = || NothingInCommon {
            old: count(old),
            new: count(new),
        };
        let (Some(first_old), Some(first_new)) = (old.first(), new.first()) else {
            return Err(nothing());
        };
        let platform = platform::changes(first_old, first_new);
        let same_machine = !platform.iter().any(PlatformChange::is_other_cpu);
        let common = if same_machine {
            Common::of(old, new)
        } else {
            Common::default()
        };
        let is_like = |run: &&&Report| {
            let is_of_machine = !platform::changes(first_old, run)
                .iter()
                .any(PlatformChange::is_other_cpu);
            is_of_machine && (common.hertz.core.is_none() || clocks::hertz(run).core.is_some())
        };
        let history: Vec<&Report> = history.iter().filter(is_like).copied().collect();
        let sides = [old, new, &history];
        let (clocks, waited) = (Rows::of(sides, common), waits::compared(sides));
        if !clocks.common && !waited.common {
            return Err(nothing());
        }
        let mut candidates = clocks.candidates;
        candidates.extend(waited.candidates);
        let figures = family::judged(&candidates);
        let mut one_sided = clocks.one_sided;
        one_sided.extend(waited.one_sided);
        let mut timers = clocks.timers;
        timers.extend(waited.names);
        let core = |side: &[&Report]| {
            mean(
                &side
                    .iter()
                    .filter_map(|run| crate::model::value_of(run.frequency.effective_hz))
                    .collect::<Vec<f64>>(),
            )
        };
        let in_cycles = figures
            .iter()
            .any(|compared| compared.unit.is_some_and(|unit| unit != Unit::Time));
        Ok(Self {
            runs: [old.len(), new.len()],
            history: history.len(),
            core_hz: core(old)
                .zip(core(new))
                .filter(|_| in_cycles)
                .map(<[f64; 2]>::from),
            assumed: family::assumed(&candidates)
                .iter()
                .map(rows::assumed)
                .collect(),
            platform,
            figures,
            one_sided,
            answers: clocks.answers,
            asked: clocks.asked,
            timers,
        })
    }

    /// How many figures came to this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.figures
            .iter()
            .filter(|compared| compared.verdict == verdict)
            .count()
    }

    /// Timers that lost their figures or are gone.
    pub fn lost(&self) -> impl Iterator<Item = &OneSided> {
        self.one_sided
            .iter()
            .filter(|timer| matches!(timer.fate, Fate::Lost | Fate::Gone))
    }
}

/// What is compared of clocks, in the order of the new report.
#[derive(Default)]
struct Rows {
    candidates: Vec<Candidate>,
    one_sided: Vec<OneSided>,
    answers: Vec<ChangedAnswer>,
    asked: Vec<String>,
    timers: Vec<String>,
    common: bool,
}

impl Rows {
    fn of(sides: [&[&Report]; 3], common: Common) -> Self {
        let sides = sides.map(by_timer);
        let mut found = Self::default();
        let gone = sides[0].keys().filter(|id| !sides[1].contains_key(*id));
        for id in sides[1].keys().chain(gone) {
            let [before, after, history] = sides
                .each_ref()
                .map(|side| side.get(id).map_or(&[][..], Vec::as_slice));
            found.timers.push((*id).to_owned());
            found
                .one_sided
                .extend(fate(state_of(before), state_of(after), id));
            if before.is_empty() || after.is_empty() {
                continue;
            }
            found.common = true;
            let [asked_before, asked_after] =
                [before, after].map(|side| side.iter().map(|seen| seen.row).collect::<Vec<_>>());
            if trust::are_asked(&asked_before, &asked_after) {
                found.asked.push((*id).to_owned());
            }
            found
                .answers
                .extend(trust::changed(&asked_before, &asked_after));
            found
                .candidates
                .extend(clocks::candidates([before, after, history], common));
        }
        found
    }
}

/// The rows of each timer, by run.
fn by_timer<'a>(side: &[&'a Report]) -> IndexMap<&'a str, Vec<SeenClock<'a>>> {
    let mut rows: IndexMap<&str, Vec<SeenClock>> = IndexMap::new();
    for run in side {
        let hertz = clocks::hertz(run);
        for row in &run.timers {
            rows.entry(row.id.as_str())
                .or_default()
                .push(SeenClock { row, hertz });
        }
    }
    rows
}

/// How a timer ended on a side: well where it did in any run.
fn state_of<'a>(side: &[SeenClock<'a>]) -> Option<State<'a>> {
    let well = side.iter().find(|seen| seen.row.status == Status::Ok);
    well.or(side.first())
        .map(|seen| (seen.row.status, seen.row.reason.as_deref()))
}

/// Its report says so.
fn is_of_single_process(row: &TimerRow) -> bool {
    row.warnings
        .iter()
        .any(|warning| warning.code == "single-process")
}

/// How a row of a timer ended, and why.
type State<'a> = (Status, Option<&'a str>);

/// What became of a timer between two reports, unless both have figures of it or neither has.
fn fate(old: Option<State>, new: Option<State>, timer: &str) -> Option<OneSided> {
    let fate = match (old, new) {
        (Some((Status::Ok, _)), Some((new, _))) if new != Status::Ok => Fate::Lost,
        (Some((old, _)), Some((Status::Ok, _))) if old != Status::Ok => Fate::Gained,
        (Some(_), None) => Fate::Gone,
        (None, Some(_)) => Fate::Added,
        _ => return None,
    };
    let (_, reason) = if matches!(fate, Fate::Gained | Fate::Gone) {
        old?
    } else {
        new?
    };
    Some(OneSided {
        timer: timer.to_owned(),
        fate,
        reason: reason.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests;
