//! What changed from one report to another: the platforms first, then every timer with the interval of each difference
//! and whether it is more than noise. METHODOLOGY.md says how the intervals are made.

mod condition;
pub mod fleet;
mod interval;
mod json;
mod markdown;
mod platform;
mod rows;
mod terminal;
mod trust;
mod waits;

use std::collections::HashMap;

use serde::Serialize;

use crate::model::{AccuracyKind, Answers, Report, Status, TimerRow};

pub use condition::{BadCondition, Condition};
pub use interval::{Difference, Figure};
pub use json::render as render_json;
pub use markdown::render as render_markdown;
pub use platform::Change;
pub use terminal::{render as render_table, summary_line};
pub use trust::Answer;

/// The kernel may let its clock run faster or slower by this share to set it (adjtimex(2): 500 ppm), and nanoseconds are
/// what it says.
const SLEW: f64 = 500e-6;

/// Costs and accuracies that differ by less than this share are as good as the same: what vendors, kernels and hypervisors
/// declare of rates is rounded by as much (10.00 and 10.02 ns), and Quality moves by a twentieth of a percent of itself.
pub const SMALLEST: f64 = 0.005;
/// The same for Quality: what smallest differences of both together make of it (their exponents are -0.1).
pub const SMALLEST_QUALITY: f64 = 0.001;

/// A figure of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantity {
    /// In percent; differences in points.
    Quality,
    /// In nanoseconds; differences in nanoseconds and in percent.
    Cost,
    /// In nanoseconds; differences in nanoseconds and in percent.
    Accuracy,
    /// A share.
    Spread,
    /// Of a timer that waits, in nanoseconds: the step of its lengths or wake-ups.
    Granularity,
    /// Of a timer that waits, in nanoseconds: its shortest wait.
    Floor,
    /// Of a timer that waits, in nanoseconds: its median lateness.
    Lateness,
    /// Of a timer that waits, in nanoseconds: the 99th percentile of its lateness.
    #[serde(rename = "p99")]
    Tail,
    /// Of a timer that waits, in nanoseconds: CPU time a wait.
    Cpu,
    /// Of a periodic timer, in ppm: by how much its period is too long.
    Rate,
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
    /// The figures have no intervals, so nobody can tell.
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Differences between the platforms and settings, what matters most first.
    pub platform: Vec<Change>,
    /// Figures that both have, in the order of the new report.
    pub figures: Vec<Compared>,
    /// Timers that only one has figures of.
    pub one_sided: Vec<OneSided>,
    /// Questions of trust that both asked and answered otherwise, in the order of the new report.
    pub answers: Vec<Answer>,
}

/// Two reports that have nothing in common.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("they cannot be compared: no timer is in both (the old report has {old} timers, the new one {new})")]
pub struct NothingInCommon {
    old: usize,
    new: usize,
}

impl Comparison {
    /// Compares `new` with `old`.
    ///
    /// # Errors
    /// When no timer is in both.
    pub fn of<F, V: Answers, H, P>(
        old: &Report<F, V, H, P>,
        new: &Report<F, V, H, P>,
    ) -> Result<Self, NothingInCommon> {
        let known: HashMap<&str, &TimerRow<F, V>> =
            old.timers.iter().map(|row| (row.id.as_str(), row)).collect();
        let (mut figures, mut one_sided, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        let mut common = false;
        for row in &new.timers {
            let before = known.get(row.id.as_str()).copied();
            if let Some(before) = before {
                common = true;
                answers.extend(trust::changed(before, row));
                figures.extend(Quantity::ALL.iter().filter_map(|quantity| quantity.compared(before, row)));
            }
            one_sided.extend(fate(before.map(state), Some(state(row)), &row.id));
        }
        let still: HashMap<&str, ()> = new.timers.iter().map(|row| (row.id.as_str(), ())).collect();
        let gone = old.timers.iter().filter(|row| !still.contains_key(row.id.as_str()));
        one_sided.extend(gone.filter_map(|row| fate(Some(state(row)), None, &row.id)));
        let waited = waits::compared([&old.waits, &new.waits], [&old.periods, &new.periods]);
        common |= waited.common;
        figures.extend(waited.figures);
        one_sided.extend(waited.one_sided);
        if !common {
            let count =
                |report: &Report<F, V, H, P>| report.timers.len() + report.waits.len() + report.periods.len();
            let [old, new] = [count(old), count(new)];
            return Err(NothingInCommon { old, new });
        }
        Ok(Self { platform: platform::changes(old, new), figures, one_sided, answers })
    }

    /// How many figures came to this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.figures.iter().filter(|compared| compared.verdict == verdict).count()
    }

    /// Timers that lost their figures or are gone.
    pub fn lost(&self) -> impl Iterator<Item = &OneSided> {
        self.one_sided.iter().filter(|timer| matches!(timer.fate, Fate::Lost | Fate::Gone))
    }
}

impl Quantity {
    /// All of them, Quality first, those of timers that wait last.
    pub const ALL: [Self; 10] = [
        Self::Quality,
        Self::Cost,
        Self::Accuracy,
        Self::Spread,
        Self::Granularity,
        Self::Floor,
        Self::Lateness,
        Self::Tail,
        Self::Cpu,
        Self::Rate,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Quality => "Quality",
            Self::Cost => "cost",
            Self::Accuracy => "accuracy",
            Self::Spread => "spread",
            Self::Granularity => "granularity",
            Self::Floor => "floor",
            Self::Lateness => "lateness",
            Self::Tail => "p99",
            Self::Cpu => "cpu",
            Self::Rate => "rate",
        }
    }

    /// Its value and interval in a row, times with what a nanosecond itself may be off by; nothing where it was not determined.
    fn of<F, V>(self, row: &TimerRow<F, V>) -> Option<Figure> {
        let percent = |share: Option<f64>| share.map(|share| share * 100.0);
        let lower = |ns: Option<f64>| ns.map(|ns| ns * (1.0 - SLEW));
        let upper = |ns: Option<f64>| ns.map(|ns| ns * (1.0 + SLEW));
        let (value, low, high) = match self {
            Self::Quality => (percent(row.quality), percent(row.quality_low), percent(row.quality_high)),
            Self::Cost => {
                let cost = row.cost.as_ref()?;
                (cost.median_ns, lower(cost.low_ns), upper(cost.high_ns))
            }
            Self::Accuracy => {
                let accuracy = row.accuracy.as_ref().filter(|a| a.kind == AccuracyKind::Resolved)?;
                (accuracy.ns, lower(accuracy.low_ns), upper(accuracy.high_ns))
            }
            Self::Spread => (row.spread, row.spread_low, row.spread_high),
            Self::Granularity | Self::Floor | Self::Lateness | Self::Tail | Self::Cpu | Self::Rate => {
                return None;
            }
        };
        Figure::new(value?, low, high)
    }

    fn compared<F, V>(self, old: &TimerRow<F, V>, new: &TimerRow<F, V>) -> Option<Compared> {
        let difference = Difference::between(self.of(old)?, self.of(new)?, self.is_relative());
        let single_process = [old, new].into_iter().any(is_of_single_process);
        Some(self.judged(new.id.to_string(), difference, single_process))
    }

    /// Whether a difference is more than noise, and in which direction.
    fn judged(self, timer: String, difference: Difference, single_process: bool) -> Compared {
        let better = match self {
            Self::Quality | Self::Spread => difference.absolute > 0.0,
            Self::Rate => difference.new.value.abs() < difference.old.value.abs(),
            _ => difference.absolute < 0.0,
        };
        let matters = difference.absolute.abs() >= self.smallest() * difference.old.value.abs();
        let verdict = match difference.is_more_than_noise() {
            None => Verdict::Unjudged,
            Some(true) if matters && better => Verdict::Better,
            Some(true) if matters => Verdict::Worse,
            Some(_) => Verdict::Noise,
        };
        Compared { timer, quantity: self, difference, verdict, matters, single_process }
    }

    /// The smallest difference that matters, as a share of the old figure.
    fn smallest(self) -> f64 {
        match self {
            Self::Quality => SMALLEST_QUALITY,
            Self::Spread | Self::Rate => 0.0,
            _ => SMALLEST,
        }
    }

    /// Whether its differences are told in percent too.
    fn is_relative(self) -> bool {
        !matches!(self, Self::Quality | Self::Spread | Self::Rate)
    }
}

/// Its report says so.
fn is_of_single_process<F, V>(row: &TimerRow<F, V>) -> bool {
    row.warnings.iter().any(|warning| warning.code == "single-process")
}

/// How a row of a timer ended, and why.
type State<'a> = (Status, Option<&'a str>);

fn state<F, V>(row: &TimerRow<F, V>) -> State<'_> {
    (row.status, row.reason.as_deref())
}

/// What became of a timer between two reports, unless both have figures of it or neither has.
fn fate(old: Option<State>, new: Option<State>, timer: &str) -> Option<OneSided> {
    let status = |state: Option<State>| state.map(|(status, _)| status);
    let fate = fate_of(status(old), status(new))?;
    let (_, reason) = if matches!(fate, Fate::Gained | Fate::Gone) { old? } else { new? };
    Some(OneSided { timer: timer.to_owned(), fate, reason: reason.map(str::to_owned) })
}

/// What became of a timer that ended like that in both reports, or is in one of them only.
fn fate_of(old: Option<Status>, new: Option<Status>) -> Option<Fate> {
    match (old, new) {
        (Some(Status::Ok), Some(new)) if new != Status::Ok => Some(Fate::Lost),
        (Some(old), Some(Status::Ok)) if old != Status::Ok => Some(Fate::Gained),
        (Some(_), None) => Some(Fate::Gone),
        (None, Some(_)) => Some(Fate::Added),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
