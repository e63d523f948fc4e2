//! Compares old and new reports of a machine: what changed in the cost of clocks, their resolution,
//! their trust and the clock source, and by how much. All other quantities are shown, not judged.
//! METHODOLOGY.md explains the method.

mod condition;
mod cost;
mod platform;
mod sections;
mod sentence;
mod trust;

use indexmap::IndexMap;
use serde::Serialize;

use crate::fields::{FieldUnit, Row, all_rows, fields_of};
use estimators::model::{Estimate, Report};
use estimators::statistics::{mean, sorted};

pub use condition::{BadCondition, ChangeCondition, Decision};
use cost::ClockRows;
pub use platform::{PlatformChange, platform_changes};
pub use trust::{ChangedAnswer, Standing};

/// The names of the quantities that are judged.
pub const COST: &str = "cost";
/// The resolution of a clock.
pub const RESOLUTION: &str = "resolution";
/// Steps that differ by less, in percent, count as equal: vendors, kernels and hypervisors round declared rates, and
/// the kernel adjusts its clocks. *Seen*: 10.00 and 10.02 ns.
const SAME_STEP: f64 = 1.0;

/// The verdict on a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeVerdict {
    /// It got worse.
    Worse,
    /// It got better.
    Better,
    /// It did not change by more than a limit.
    Unchanged,
}

/// The change of a cost or of a resolution.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Change {
    /// The change in percent with its 95 % interval; of costs that of the machine is subtracted.
    pub percent: Estimate,
    /// The largest change in percent that is possible if it is unchanged.
    pub limit_percent: f64,
    /// Whether it changed, and in which direction.
    pub verdict: ChangeVerdict,
}

/// How the costs of the clocks of a family changed.
#[derive(Debug, Serialize)]
pub struct FamilyChange {
    /// The way in which its clocks are read, or the runtime.
    pub family: String,
    /// Its clocks in both reports.
    pub timers: Vec<String>,
    /// The change that its clocks share.
    #[serde(flatten)]
    pub change: Change,
}

/// A quantity of a timer that both reports contain.
#[derive(Debug, Serialize)]
pub struct ComparedFigure {
    /// The timer.
    pub timer: String,
    /// The quantity.
    pub quantity: &'static str,
    /// Its unit.
    #[serde(skip)]
    pub unit: FieldUnit,
    /// The mean of the old runs.
    pub old: f64,
    /// The mean of the new runs.
    pub new: f64,
    /// Its change; absent if it is not judged, or too little is known to judge it.
    #[serde(flatten)]
    pub change: Option<Change>,
}

/// All differences between the reports.
#[derive(Debug, Default, Serialize)]
pub struct Comparison {
    /// The summary in one sentence.
    pub sentences: Vec<String>,
    /// The numbers of old runs and of new runs.
    pub runs: [usize; 2],
    /// The change of the reads by instructions, which stand for the machine; null if the reports do
    /// not contain them, are of different CPUs, or the instructions changed themselves.
    pub machine: Option<Change>,
    /// The changes of costs that families of clocks share, relative to the machine.
    pub families: Vec<FamilyChange>,
    /// Differences between the platforms and settings, the most important first.
    pub platform: Vec<PlatformChange>,
    /// Quantities that both reports contain, in the order of the new report.
    pub figures: Vec<ComparedFigure>,
    /// Timers that can no longer be read or trusted, or can again, in the order of the new report.
    pub answers: Vec<ChangedAnswer>,
    /// All timers of the two reports, by the names that conditions use.
    #[serde(skip)]
    pub timers: Vec<String>,
}

impl ChangeVerdict {
    /// The verdict on a change for the worse or for the better.
    fn of(is_changed: bool, is_worse: bool) -> Self {
        match (is_changed, is_worse) {
            (false, _) => Self::Unchanged,
            (true, true) => Self::Worse,
            (true, false) => Self::Better,
        }
    }

    /// Whether it is a change.
    pub fn is_change(self) -> bool {
        matches!(self, Self::Better | Self::Worse)
    }
}

impl ComparedFigure {
    /// Whether it is judged to have changed.
    pub fn is_changed(&self) -> bool {
        self.change.is_some_and(|change| change.verdict.is_change())
    }
}

impl Comparison {
    /// Compares the new runs of a machine with its old runs.
    ///
    /// `None` if no timer is in both the old and the new runs.
    pub fn between(old: &[&Report], new: &[&Report]) -> Option<Self> {
        let platform = platform_changes(old.first()?, new.first()?);
        let is_same_cpu = !platform.iter().any(PlatformChange::is_other_cpu);
        let matched = match_rows([old, new]);
        let mut comparison = Self {
            runs: [old.len(), new.len()],
            platform,
            timers: matched.keys().map(|(_, name)| name.clone()).collect(),
            ..Self::default()
        };
        let mut clocks = Vec::new();
        for ((_, name), sides) in &matched {
            let clock = ClockRows {
                name,
                sides: sides.each_ref().map(|side| {
                    let rows = side
                        .iter()
                        .filter_map(|(run, row)| Some((*run, row.clock()?)));
                    rows.collect()
                }),
            };
            comparison
                .answers
                .extend(trust::changed_answer(name, sides));
            comparison.figures.extend(figures_of(name, sides));
            clocks.extend(Some(clock).filter(|it| !it.sides.iter().any(Vec::is_empty)));
        }
        if clocks.is_empty() && comparison.figures.is_empty() {
            return None;
        }
        let differs = disturbance([old, new]);
        cost::judge(&mut comparison, &clocks, differs, is_same_cpu);
        comparison.sentences = vec![sentence::sentence(&comparison)];
        Some(comparison)
    }

    /// Timers that got worse.
    fn failed(&self) -> impl Iterator<Item = &ChangedAnswer> {
        let answers = self.answers.iter();
        answers.filter(|answer| answer.verdict == ChangeVerdict::Worse)
    }
}

/// The rows of both sides with the numbers of their runs.
type SidesOf<Row> = [Vec<(usize, Row)>; 2];

/// Matches the rows of the old runs and the new runs by kind and name, in the order of the new runs.
fn match_rows<'a>(sides: [&[&'a Report]; 2]) -> IndexMap<(usize, String), SidesOf<Row<'a>>> {
    let mut matched = IndexMap::<_, SidesOf<Row>>::new();
    for side in [1, 0] {
        for (run, report) in sides[side].iter().enumerate() {
            for row in all_rows(report).into_iter().flat_map(Row::by_length) {
                let key = (row.kind() as usize, row.name_with_length());
                matched.entry(key).or_default()[side].push((run, row));
            }
        }
    }
    matched
}

/// The share by which the core frequency or the stolen time differ between the sides.
fn disturbance(sides: [&[&Report]; 2]) -> f64 {
    let parts: [fn(&&Report) -> Option<f64>; 2] = [
        |run| Some(run.frequency.effective_hz?.value.ln()),
        |run| run.platform.steal_share,
    ];
    let differences = parts.map(|part| {
        let [old, new] = sides.map(|runs| mean(runs.iter().filter_map(part)));
        old.zip(new).map_or(0.0, |(old, new)| (new - old).abs())
    });
    differences[0].max(differences[1])
}

/// All quantities of a timer that both sides have; the change of its resolution is judged.
fn figures_of(timer: &str, sides: &SidesOf<Row<'_>>) -> Vec<ComparedFigure> {
    let kind = sides.iter().flatten().next().map(|(_, row)| row.kind());
    let figures = kind.into_iter().flat_map(fields_of).filter_map(|field| {
        let quantity = field.compared?;
        let [old, new] = sides.each_ref().map(|side| -> Vec<f64> {
            let figures = side.iter().filter_map(|(_, row)| field.figure(*row));
            figures.map(|figure| figure.value).collect()
        });
        Some(ComparedFigure {
            timer: timer.to_owned(),
            quantity,
            unit: field.unit,
            old: mean(&old)?,
            new: mean(&new)?,
            change: (quantity == RESOLUTION).then(|| change_of_step(&old, &new)),
        })
    });
    figures.collect()
}

/// The change of a step, which is a number: it is longer, or shorter, in all new runs than in all old ones,
/// or it is the same.
fn change_of_step(old: &[f64], new: &[f64]) -> Change {
    let (old, new) = (sorted(old), sorted(new));
    let ratios = [new[0] / old[old.len() - 1], new[new.len() - 1] / old[0]];
    let [low, high] = ratios.map(|ratio| 100.0 * (ratio - 1.0));
    Change {
        percent: Estimate::unbounded(high),
        limit_percent: high,
        verdict: ChangeVerdict::of(low > SAME_STEP || high < -SAME_STEP, low > 0.0),
    }
}

#[cfg(test)]
mod tests;
