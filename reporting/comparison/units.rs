//! In which unit a cost is compared: in cycles where it follows the core, in nanoseconds where it
//! does not.

use super::Quantity;
use super::Unit;
use super::evidence::Run;
use super::rows::Row;
use crate::model::{Following, Report, value_of};
use crate::quality::{COST_EXPONENT, RESOLUTION_EXPONENT};
use crate::statistics::mean;

/// Runs of sides with several, with fewer of which it is unknown what a cost follows.
/// *Judgement*: a scatter of fewer is none.
const FEWEST: usize = 4;
/// What runs differ by in the right unit is at most this part of what they differ by in the wrong
/// one. *Judgement*: the wrong unit adds what the core's frequency differs by, and rarely takes as
/// much away.
const CLEARLY: f64 = 0.7;

/// The frequencies of a run, in hertz.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Hertz {
    /// Of the core.
    pub core: Option<f64>,
    /// The one that turned time into cycles.
    pub cycles: Option<f64>,
}

impl Hertz {
    pub(super) fn of_run(report: &Report) -> Self {
        Self {
            core: value_of(report.frequency.effective_hz),
            cycles: value_of(report.frequency.cycles_hz),
        }
    }

    /// The mean of the old runs, at which all figures are reported; nothing where a run of either
    /// side does not know its own.
    pub(super) fn of_old_runs(old: &[&Report], new: &[&Report]) -> Self {
        let common = |frequency: fn(&Self) -> Option<f64>| {
            let known = |runs: &[&Report]| -> Option<Vec<f64>> {
                let all = runs.iter().map(|run| frequency(&Self::of_run(run)));
                all.map(|hz| hz.filter(|hz| hz.is_finite() && *hz > 0.0))
                    .collect()
            };
            known(new).and_then(|_| mean(&known(old)?))
        };
        let core = common(|hertz| hertz.core);
        Self {
            core,
            cycles: common(|hertz| hertz.cycles).filter(|_| core.is_some()),
        }
    }
}

/// The figure of a row as it would be at the common frequencies.
pub(super) fn run_at(
    common: Hertz,
    quantity: Quantity,
    figure: crate::model::Interval,
    row: &Row,
    unit: Option<Unit>,
) -> Run {
    let ratio = |a: Option<f64>, b: Option<f64>| a.zip(b).map_or(1.0, |(a, b)| a / b);
    let of_cost = if unit == Some(Unit::Cycles) {
        ratio(row.hertz.core, common.core)
    } else {
        1.0
    };
    let factor = if unit.is_none() {
        1.0
    } else if quantity == Quantity::COST {
        of_cost
    } else {
        // Quality counts cycles, of time as well.
        let of_time = ratio(common.cycles, row.hertz.cycles);
        of_time.powf(RESOLUTION_EXPONENT) * (of_time * of_cost).powf(COST_EXPONENT)
    };
    row.run(figure.scaled(factor))
}

/// The units in which a figure may be unchanged: a cost that follows the core in cycles, one that
/// does not in nanoseconds, in either where that is unknown. A Quality goes by its cost. Several
/// runs decide, else what the reports say.
pub(super) fn units(
    quantity: Quantity,
    sides: [&[&Row]; 3],
    common: Hertz,
) -> &'static [Option<Unit>] {
    if ![Quantity::COST, Quantity::QUALITY].contains(&quantity) {
        return &[None];
    }
    if common.core.is_none() {
        return if quantity == Quantity::COST {
            &[Some(Unit::Time)]
        } else {
            &[None]
        };
    }
    let reported = |following: Following| {
        let mut rows = sides.into_iter().flatten();
        rows.any(|row| row.follows() == Some(following))
    };
    let following = match between_runs(sides, common) {
        Following::Unknown => match [Following::Core, Following::Device].map(reported) {
            [true, false] => Following::Core,
            [false, true] => Following::Device,
            _ => Following::Unknown,
        },
        known => known,
    };
    match following {
        Following::Core => &[Some(Unit::Cycles)],
        Following::Device => &[Some(Unit::Time)],
        Following::Unknown => &[Some(Unit::Cycles), Some(Unit::Time)],
    }
}

/// What a cost follows from run to run: unchanged runs differ clearly less in one unit than in the
/// other. The difference between the sides has no part in it. It is unknown with few runs, and where
/// the core kept its frequency.
fn between_runs(sides: [&[&Row]; 3], common: Hertz) -> Following {
    let scatter = |unit: Unit| -> Option<f64> {
        let mut apart = Vec::new();
        for side in sides {
            let cost = |row: &&Row| {
                let figure = row.figure(Quantity::COST, None)?;
                Some(
                    run_at(common, Quantity::COST, figure, row, Some(unit))
                        .figure
                        .value,
                )
            };
            let costs: Vec<f64> = side.iter().filter_map(cost).collect();
            let Some(centre) = mean(&costs).filter(|centre| *centre > 0.0) else {
                continue;
            };
            let several = costs.iter().filter(|_| costs.len() > 1);
            apart.extend(several.map(|cost| (cost / centre - 1.0).powi(2)));
        }
        let variance = mean(&apart).filter(|_| apart.len() >= FEWEST);
        variance.map(f64::sqrt)
    };
    match (scatter(Unit::Cycles), scatter(Unit::Time)) {
        (Some(cycles), Some(time)) if cycles < CLEARLY * time => Following::Core,
        (Some(cycles), Some(time)) if time < CLEARLY * cycles => Following::Device,
        _ => Following::Unknown,
    }
}
