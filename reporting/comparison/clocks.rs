//! Figures of clocks in the runs of both sides: in cycles what follows the core, in nanoseconds
//! what does not.

use super::evidence::{Run, Sides};
use super::family::Candidate;
use super::scatter::Read;
use super::{Quantity, Unit, is_of_single_process};
use crate::model::{Following, Report, TimerRow};
use crate::quality::{COST_EXPONENT, RESOLUTION_EXPONENT};
use crate::statistics::mean;

/// Runs of sides with several, with fewer of which it is unknown what a cost follows.
/// *Judgement*: a scatter of fewer is none.
const FEWEST: usize = 4;
/// What runs differ by in the right unit is at most this part of what they differ by in the wrong
/// one. *Judgement*: the wrong unit adds what the core's frequency differs by, and rarely takes as
/// much away.
const CLEARLY: f64 = 0.7;

/// A row of a run, with the frequencies of it.
pub(super) struct SeenClock<'a> {
    pub row: &'a TimerRow,
    pub hertz: Hertz,
}

/// What a run ran at, in hertz.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Hertz {
    /// The core.
    pub core: Option<f64>,
    /// What turned time into cycles.
    pub cycles: Option<f64>,
}

/// What the old runs ran at, which all figures are told at; nothing where some run does not know,
/// or of another machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Common {
    pub hertz: Hertz,
}

impl Common {
    pub(super) fn of(old: &[&Report], new: &[&Report]) -> Self {
        let all = |of: fn(&Hertz) -> Option<f64>| {
            let known = |runs: &[&Report]| -> Option<Vec<f64>> {
                runs.iter()
                    .map(|run| of(&hertz(run)).filter(|hz| hz.is_finite() && *hz > 0.0))
                    .collect()
            };
            known(new).and_then(|_| mean(&known(old)?))
        };
        let core = all(|hertz| hertz.core);
        Self {
            hertz: Hertz {
                core,
                cycles: all(|hertz| hertz.cycles).filter(|_| core.is_some()),
            },
        }
    }

    /// What a time is multiplied by to be what it would be at the common frequency, if it takes
    /// cycles.
    fn of_cycles(self, hertz: Hertz) -> f64 {
        self.hertz
            .core
            .zip(hertz.core)
            .map_or(1.0, |(common, own)| own / common)
    }

    /// The same of a Quality, which counts cycles of time as well.
    fn of_quality(self, hertz: Hertz, unit: Option<Unit>) -> f64 {
        let of_time = self
            .hertz
            .cycles
            .zip(hertz.cycles)
            .map_or(1.0, |(common, own)| common / own);
        let of_cost = if unit == Some(Unit::Cycles) {
            self.of_cycles(hertz)
        } else {
            1.0
        };
        of_time.powf(RESOLUTION_EXPONENT) * (of_time * of_cost).powf(COST_EXPONENT)
    }
}

pub(super) fn hertz(report: &Report) -> Hertz {
    Hertz {
        core: crate::model::value_of(report.frequency.effective_hz),
        cycles: crate::model::value_of(report.frequency.cycles_hz),
    }
}

/// All that can be compared of a timer, by its rows of the old runs, of the new ones and of a
/// history.
pub(super) fn candidates(
    sides: [&[SeenClock]; 3],
    common: Common,
) -> impl Iterator<Item = Candidate> {
    Quantity::of_clocks().filter_map(move |quantity| {
        let ways = units(quantity, sides, common).iter().filter_map(|unit| {
            let [old, new, history]: [Vec<Run>; 3] = sides.map(|side| {
                side.iter()
                    .filter_map(|seen| run(quantity, seen, common, *unit))
                    .collect()
            });
            let both = !old.is_empty() && !new.is_empty();
            both.then_some(Sides {
                unit: *unit,
                runs: [old, new],
                history,
            })
        });
        let ways: Vec<Sides> = ways.collect();
        let row = sides[1].first()?.row;
        let mut rows = sides[..2].iter().copied().flatten();
        (!ways.is_empty()).then(|| Candidate {
            timer: row.id.clone(),
            quantity,
            read: Read::of(row),
            ways,
            single_process: rows.any(|seen| is_of_single_process(seen.row)),
        })
    })
}

/// In which units a figure may be the same: a cost that follows the core in cycles, one that does
/// not in nanoseconds, in either where that is unknown. A Quality goes by its cost. Several runs
/// tell it best, else the processes of each.
fn units(quantity: Quantity, sides: [&[SeenClock]; 3], common: Common) -> &'static [Option<Unit>] {
    if ![Quantity::COST, Quantity::QUALITY].contains(&quantity) {
        return &[None];
    }
    if common.hertz.core.is_none() {
        return if quantity == Quantity::COST {
            &[Some(Unit::Time)]
        } else {
            &[None]
        };
    }
    match between_runs(sides, common) {
        Following::Core => return &[Some(Unit::Cycles)],
        Following::Device => return &[Some(Unit::Time)],
        Following::Unknown => {}
    }
    let follows = |following: Following| {
        sides
            .into_iter()
            .flatten()
            .any(|seen| seen.row.cost.as_ref().and_then(|cost| cost.follows) == Some(following))
    };
    match (follows(Following::Core), follows(Following::Device)) {
        (true, false) => &[Some(Unit::Cycles)],
        (false, true) => &[Some(Unit::Time)],
        _ => &[Some(Unit::Cycles), Some(Unit::Time)],
    }
}

/// What a cost follows from run to run: unchanged runs differ clearly less in one unit than in the
/// other. How the sides differ has no part in it. Of few runs that cannot be told, nor where the
/// core kept its frequency.
fn between_runs(sides: [&[SeenClock]; 3], common: Common) -> Following {
    let scatter = |unit: Unit| -> Option<f64> {
        let mut apart = Vec::new();
        for side in sides {
            let runs = side
                .iter()
                .filter_map(|seen| run(Quantity::COST, seen, common, Some(unit)));
            let costs: Vec<f64> = runs.map(|run| run.figure.value).collect();
            let Some(centre) = mean(&costs).filter(|centre| *centre > 0.0) else {
                continue;
            };
            apart.extend(
                costs
                    .iter()
                    .filter(|_| costs.len() > 1)
                    .map(|cost| (cost / centre - 1.0).powi(2)),
            );
        }
        mean(&apart)
            .filter(|_| apart.len() >= FEWEST)
            .map(f64::sqrt)
    };
    match (scatter(Unit::Cycles), scatter(Unit::Time)) {
        (Some(cycles), Some(time)) if cycles < CLEARLY * time => Following::Core,
        (Some(cycles), Some(time)) if time < CLEARLY * cycles => Following::Device,
        _ => Following::Unknown,
    }
}

fn run(quantity: Quantity, seen: &SeenClock, common: Common, unit: Option<Unit>) -> Option<Run> {
    let SeenClock { row, hertz } = seen;
    let figure = quantity.of(row)?;
    let factor = match unit {
        Some(Unit::Cycles) if quantity == Quantity::COST => common.of_cycles(*hertz),
        Some(_) if quantity == Quantity::QUALITY => common.of_quality(*hertz, unit),
        _ => 1.0,
    };
    let processes = row.observations.as_ref().map_or(0, |seen| seen.processes);
    Some(Run {
        figure: figure.scaled(factor),
        degrees: f64::from(processes.saturating_sub(1)).max(1.0),
        shared_core: row
            .warnings
            .iter()
            .any(|warning| warning.code == "restless-core"),
        spread: row.spread.map_or(0.5, |spread| spread.value),
    })
}
