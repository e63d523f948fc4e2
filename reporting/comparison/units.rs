//! Selects the quantities of a timer that are compared, and the unit of its cost: cycles if the
//! cost follows the core frequency, otherwise nanoseconds.

use super::evidence::{Run, Sides};
use super::family::Candidate;
use super::rows::{Hertz, Row};
use super::{Quantity, Unit};
use crate::model::{Following, Interval};
use crate::quality::{COST_EXPONENT, RESOLUTION_EXPONENT};
use crate::statistics::mean;
use crate::text::numbers::short_time;

/// With fewer runs, in all sides with several runs together, it is unknown which unit a cost
/// follows. *Judgement*: fewer runs do not determine a scatter.
const MIN_RUNS: usize = 4;
/// A cost follows a unit if its scatter between runs in this unit is at most this part of the
/// scatter in the other unit. *Judgement*: the wrong unit adds the scatter of the core
/// frequency, and rarely removes as much.
const MAX_SCATTER_RATIO: f64 = 0.7;

/// All quantities of a timer that both sides have, in each unit in which they may be unchanged.
pub(super) fn candidates(name: &str, sides: [&[&Row]; 3], common: Hertz) -> Vec<Candidate> {
    let mut wanted: Vec<(Quantity, Option<u64>)> = Vec::new();
    for (quantity, length, _) in sides[1].iter().flat_map(|row| &row.figures) {
        if !wanted.contains(&(*quantity, *length)) {
            wanted.push((*quantity, *length));
        }
    }
    let candidate = |(quantity, length): (Quantity, Option<u64>)| {
        let known = |row: &&Row| row.figure(quantity, length);
        let in_unit = |unit: &Option<Unit>| {
            let [old, new, history] = sides.map(|side| -> Vec<Run> {
                let runs = side.iter().filter_map(|row| Some((known(row)?, row)));
                runs.map(|(figure, row)| run_at(common, quantity, figure, row, *unit))
                    .collect()
            });
            Sides {
                unit: *unit,
                runs: [old, new],
                history,
            }
        };
        let mut rows = sides[..2].iter().copied().flatten();
        let at = length.map_or_else(String::new, |ns| format!(" at {}", short_time(ns as f64)));
        sides[0].iter().find_map(known)?;
        Some(Candidate {
            timer: format!("{name}{at}"),
            quantity,
            read: sides[1].first()?.read(),
            ways: units(quantity, sides, common).iter().map(in_unit).collect(),
            single_process: rows
                .any(|row| known(row).is_some_and(|figure| row.is_of_single_process(figure))),
        })
    };
    wanted.into_iter().filter_map(candidate).collect()
}

/// The value of a row, converted to the common frequencies.
fn run_at(
    common: Hertz,
    quantity: Quantity,
    figure: Interval,
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
        // Quality is computed in cycles, also for resolutions and costs in nanoseconds.
        let of_time = ratio(common.cycles, row.hertz.cycles);
        of_time.powf(RESOLUTION_EXPONENT) * (of_time * of_cost).powf(COST_EXPONENT)
    };
    row.run(figure.scaled(factor))
}

/// The units in which a value may be unchanged: cycles for a cost that follows the core frequency,
/// nanoseconds for a cost that does not, and both if that is unknown. A Quality uses the unit of
/// its cost. Several runs decide; otherwise the reports do.
fn units(quantity: Quantity, sides: [&[&Row]; 3], common: Hertz) -> &'static [Option<Unit>] {
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
    let following = match following_between_runs(sides, common) {
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

/// Determines from several runs what a cost follows: the unit with the clearly smaller scatter
/// between unchanged runs. The difference between the two sides is not used. The result is unknown
/// with few runs, or if the core kept its frequency.
fn following_between_runs(sides: [&[&Row]; 3], common: Hertz) -> Following {
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
        let variance = mean(&apart).filter(|_| apart.len() >= MIN_RUNS);
        variance.map(f64::sqrt)
    };
    match (scatter(Unit::Cycles), scatter(Unit::Time)) {
        (Some(cycles), Some(time)) if cycles < MAX_SCATTER_RATIO * time => Following::Core,
        (Some(cycles), Some(time)) if time < MAX_SCATTER_RATIO * cycles => Following::Device,
        _ => Following::Unknown,
    }
}
