//! Estimates how much the figures of a run scatter from its own processes: what one timer may differ
//! by in another run, and what the timers of a family may differ by together.
//!
//! A core that other threads use has states, which change the costs of all clocks. Where enough
//! processes had their core to themselves, the mean over them is as certain as their scatter says.
//! Otherwise the processes are a mixture of states, which another run may mix differently: their
//! mean is then no more certain than a single process.

use std::collections::HashMap;

use crate::model::{Core, Family, ProcessFigures, ReadsBy, State, TimerRow};
use crate::statistics::{median, midmean, quantile, sorted};

/// The family whose costs follow the core alone: no change of a kernel or a library changes them.
pub const REFERENCE: &str = "instructions";
const VDSO: &str = "vDSO";
/// The cycles that a cost may differ by between runs although its processes agree, where they had their
/// core to themselves and otherwise: the loop around a read competes for the core, too. *Seen*: reads of
/// 7 and 15 cycles move by up to a cycle on a quiet Zen 4, reads of 5 to 16 cycles by 2 to 5 cycles on
/// Emerald Rapids and Zen 3 with neighbours.
const LOOP_CYCLES: [f64; 2] = [0.4, 2.0];
/// The standard deviations between runs of the logarithm of a cost that no process of a run shows: of
/// a clock, and of what a family has in common; of clocks that are read in user mode and through the
/// kernel. *Seen*: 300 runs of a quiet Zen 4, by where code and pages lie; larger on other machines,
/// whose comparisons show it.
const UNSEEN: [[f64; 2]; 2] = [[0.002, 0.004], [0.008, 0.012]];
/// The quantiles between which the pooled deviations of a family are measured, and their distance for
/// a normal distribution in standard deviations. *Computed*: wide enough for several states, and
/// without the processes that were interrupted.
const POOLED: [f64; 2] = [0.15, 0.85];
const POOLED_DEVIATIONS: f64 = 2.073;

/// A mean over processes with its variances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Location {
    /// The mean on the scale of the comparison.
    pub value: f64,
    /// The variance of this timer between runs.
    pub own: f64,
    /// The variance of its family between runs whose cores were in different states.
    pub state: f64,
}

/// The cost of a clock by its processes in each [`State`]; `None` where they are too few or unknown.
pub type Costs = [Option<Location>; 3];

/// The values of the processes of one timer.
struct ProcessValues {
    values: Vec<f64>,
    /// Whether it is known that all had their core to themselves.
    is_alone: bool,
    /// The mean of the middle half.
    centre: f64,
    /// The variance of a single process.
    process: f64,
    /// The number of independent processes: those in the middle half (Yuen, Biometrika 61, 1974), or 1
    /// for a mixture of states.
    count: f64,
}

impl ProcessValues {
    fn new(
        row: &TimerRow,
        state: State,
        figure: impl Fn(&ProcessFigures) -> Option<f64>,
    ) -> Option<Self> {
        let processes = row.processes_in(state);
        let values: Option<Vec<f64>> = processes.iter().map(|process| figure(process)).collect();
        let values = sorted(values.filter(|values| values.len() > 1)?);
        let is_known = processes
            .iter()
            .any(|process| process.core != Core::Unknown);
        let is_alone = processes.iter().all(|process| process.core == Core::Alone);
        let cut = values.len() / 4;
        let count = (values.len() - 2 * cut) as f64;
        let ends = [values[cut], values[values.len() - 1 - cut]];
        let winsorised = || values.iter().map(|value| value.clamp(ends[0], ends[1]));
        let mean = winsorised().sum::<f64>() / values.len() as f64;
        let squares: f64 = winsorised().map(|value| (value - mean).powi(2)).sum();
        Some(Self {
            centre: midmean(&values)?,
            process: squares / (count - 1.0).max(1.0),
            count: if is_known && !is_alone { 1.0 } else { count },
            is_alone,
            values,
        })
    }

    /// The location, if a single process of the family has at least the variance `of_family`.
    fn location(&self, of_family: f64, added: f64, state: f64) -> Location {
        Location {
            value: self.centre,
            own: self.process.max(of_family) / self.count + added,
            state,
        }
    }
}

/// The logarithms of the costs of all clocks of a run, in core cycles or in nanoseconds.
pub fn costs(rows: &[Option<&TimerRow>], in_cycles: bool) -> Vec<Costs> {
    let states = State::ALL.map(|state| costs_in(state, rows, in_cycles));
    let numbers = 0..rows.len();
    numbers
        .map(|at| states.each_ref().map(|costs| costs[at]))
        .collect()
}

fn costs_in(state: State, rows: &[Option<&TimerRow>], in_cycles: bool) -> Vec<Option<Location>> {
    let cost = |process: &ProcessFigures| {
        let cost = match in_cycles {
            true => process.amortised_cycles?,
            false => process.amortised_ns,
        };
        (cost > 0.0).then(|| cost.ln())
    };
    let clocks: Vec<Option<ProcessValues>> = rows
        .iter()
        .map(|row| ProcessValues::new((*row)?, state, cost))
        .collect();
    let mut families: HashMap<&str, Vec<&ProcessValues>> = HashMap::new();
    for (row, values) in rows.iter().zip(&clocks) {
        if let (Some(row), Some(values)) = (row, values) {
            families.entry(family_of(row)).or_default().push(values);
        }
    }
    let deviation = |name: &str| pooled_deviation(families.get(name)?);
    let of_reference = deviation(REFERENCE).unwrap_or(0.0);
    let described = families.iter().map(|(name, clocks)| {
        let process = median(
            clocks
                .iter()
                .map(|clock| clock.process)
                .collect::<Vec<f64>>(),
        );
        let of_core = if *name == REFERENCE {
            0.0
        } else {
            of_reference
        };
        let apart = deviation(name).unwrap_or(0.0) - of_core;
        (*name, [process.unwrap_or(0.0), apart * apart])
    });
    let families: HashMap<&str, [f64; 2]> = described.collect();
    let location = |(row, values): (&Option<&TimerRow>, Option<ProcessValues>)| {
        let (row, values) = ((*row)?, values?);
        let [of_family, state] = families[family_of(row)];
        let cycles = LOOP_CYCLES[usize::from(!values.is_alone)];
        let added = (cycles / values.centre.exp()).powi(2) / 2.0;
        let family = family_of(row);
        let is_user_mode = family == REFERENCE || family == VDSO;
        let unseen = UNSEEN[usize::from(!is_user_mode)];
        let [own, common] = unseen.map(|deviation| deviation * deviation);
        Some(values.location(of_family, added + own, state + common))
    };
    rows.iter().zip(clocks).map(location).collect()
}

/// The standard deviation of single processes of a family, relative to the cost of its typical
/// clock: what the states of the core do to it.
fn pooled_deviation(clocks: &[&ProcessValues]) -> Option<f64> {
    let costs: Vec<f64> = clocks.iter().map(|clock| clock.centre.exp()).collect();
    let deviations = clocks.iter().zip(&costs).flat_map(|(clock, cost)| {
        let count = clock.values.len() as f64;
        let unbiased = (count / (count - 1.0)).sqrt();
        clock
            .values
            .iter()
            .map(move |value| (value.exp() - cost) * unbiased)
    });
    let deviations = sorted(deviations.collect::<Vec<f64>>());
    let [low, high] = POOLED.map(|probability| quantile(&deviations, probability));
    Some((high? - low?) / POOLED_DEVIATIONS / median(&costs)?)
}

/// The name of the family of a clock: clocks that are read in the same way.
pub fn family_of(row: &TimerRow) -> &str {
    let properties = row.properties.as_ref();
    let family = properties.and_then(|properties| properties.family);
    let reads_by = properties.and_then(|properties| properties.reads_by);
    match (row.runtime.as_str(), family, reads_by) {
        ("native", _, Some(ReadsBy::Instruction)) => REFERENCE,
        ("native", _, Some(ReadsBy::Vdso)) => VDSO,
        ("native", Some(Family::CpuTime | Family::PerfEvent), _) => "CPU time",
        // times(2) returns the time, and also sums the CPU time of the process.
        ("native", ..) if row.id == "times" => "CPU time",
        ("native", _, Some(ReadsBy::SystemCall)) => "system calls",
        ("native", ..) => "other reads",
        (runtime, ..) => runtime,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Status;

    fn clock(costs: &[f64], cores: &[Core]) -> TimerRow {
        let mut row = TimerRow::unmeasured("a", "", "native", Status::Ok);
        row.processes = costs
            .iter()
            .zip(cores.iter().cycle())
            .map(|(cost, core)| ProcessFigures {
                amortised_ns: *cost,
                amortised_cycles: Some(*cost),
                core: *core,
                ..ProcessFigures::default()
            })
            .collect();
        row
    }

    fn location(row: &TimerRow) -> Location {
        costs(&[Some(row)], true)[0][State::Undisturbed as usize].expect("costs")
    }

    #[test]
    fn mixture_is_no_more_certain_than_a_process() {
        use Core::{Alone, Shared, Unknown};
        let costs = [100.0, 101.0, 99.0, 120.0, 121.0, 119.0, 100.5, 120.5];
        let alone = [Alone, Alone, Alone, Shared, Shared, Shared, Alone, Shared];
        let of = |cores: &[Core]| location(&clock(&costs, cores));
        let undisturbed = of(&alone);
        assert!(
            (undisturbed.value.exp() - 100.0).abs() < 0.5,
            "{undisturbed:?}"
        );
        let mixture = of(&[Shared]);
        assert!(mixture.own > 50.0 * undisturbed.own, "{mixture:?}");
        assert!(of(&[Unknown]).own < mixture.own);
    }

    #[test]
    fn interrupted_process_does_not_widen() {
        let calm = location(&clock(&[10.0, 10.1, 10.0, 10.1, 10.2], &[Core::Alone]));
        let disturbed = location(&clock(&[10.0, 13.0, 10.1, 10.0, 10.2], &[Core::Alone]));
        assert!(
            (disturbed.value - calm.value).abs() < 0.01,
            "{calm:?} {disturbed:?}"
        );
        assert!(disturbed.own < 10.0 * calm.own, "{calm:?} {disturbed:?}");
        let none = clock(&[-1.0, -1.0], &[Core::Alone]);
        assert_eq!(costs(&[Some(&none), None], true), [[None; 3]; 2]);
    }
}
