//! Defines how much the values of an unchanged machine differ between runs: what all timers of a
//! family have in common, and what a timer differs by from its family.
//!
//! A run is *restless* if the processes that measured it differ much: other programs, or other
//! virtual machines on the host, slowed some of them down. Then the undisturbed cost of a timer is
//! less certain than in a calm run.

use super::Quantity;
use super::quantity::SLEW;
use crate::fields::{Scatter, Unit};
use crate::model::{Family, ReadsBy, TimerRow};
use crate::statistics::{mean, median, quantile, sorted};

/// Standard deviations between runs of an unchanged machine: of what the timers of a family have in
/// common, and of what a timer differs by from its family.
struct Deviations {
    calm: [f64; 2],
    restless: [f64; 2],
}

/// A family of clocks whose costs change together, because they are read the same way.
struct ClockFamily {
    name: &'static str,
    /// Deviations of the logarithm of the cost in cycles.
    cost: Deviations,
    /// Deviations of the spread *s* on its scale, arcsin √*s*, in calm and in restless runs.
    spread: [f64; 2],
}

/// The families of native clocks. *Seen*: docs/selftest.md, what runs differ by.
const FAMILIES: [ClockFamily; 4] = [
    ClockFamily {
        name: "instructions",
        cost: Deviations {
            calm: [0.003, 0.003],
            restless: [0.02, 0.03],
        },
        spread: [0.1, 0.15],
    },
    ClockFamily {
        name: "vDSO",
        cost: Deviations {
            calm: [0.003, 0.002],
            restless: [0.015, 0.02],
        },
        spread: [0.1, 0.15],
    },
    ClockFamily {
        name: "system calls",
        cost: Deviations {
            calm: [0.009, 0.007],
            restless: [0.06, 0.03],
        },
        spread: [0.2, 0.3],
    },
    ClockFamily {
        name: "CPU time",
        cost: Deviations {
            calm: [0.009, 0.012],
            restless: [0.10, 0.055],
        },
        spread: [0.2, 0.3],
    },
];
/// Clocks of other runtimes, and clocks that are read in an unknown way. *Judgement*: their compilers and
/// garbage collectors add what native clocks lack.
const OTHER_FAMILY: ClockFamily = ClockFamily {
    name: "other reads",
    cost: Deviations {
        calm: [0.03, 0.03],
        restless: [0.10, 0.10],
    },
    spread: [0.2, 0.3],
};
/// Deviations of the logarithm of a lateness: it depends on how deeply the host's CPU slept.
/// *Seen*: as `FAMILIES`.
const LATENESS: Deviations = Deviations {
    calm: [0.3, 0.3],
    restless: [0.3, 0.3],
};
/// The standard deviation of a cost in cycles between calm runs and between restless runs, beyond
/// that of its logarithm. *Seen*: clocks of 7 and 15 cycles move by up to a cycle.
const CYCLES: [f64; 2] = [0.3, 1.0];
/// Pairs of families that share what moves their costs: the core, or the entry to the kernel.
pub(super) const PARTNERS: [[&str; 2]; 2] =
    [["instructions", "vDSO"], ["system calls", "CPU time"]];
/// The standard deviation, common to a family, that is added to costs in nanoseconds if the core
/// frequency is unknown. *Seen*: frequencies of runs on a virtual machine differ by 2 %; others
/// differ more.
pub(super) const UNKNOWN_FREQUENCY: f64 = 0.05;
/// The scatter of a run at which it is fully restless. *Seen*: runs with a scatter up to 0.013
/// agree with each other; from 0.026 on they differ by several percent.
const RESTLESS_SCATTER: f64 = 0.03;
/// The scatter of a single clock at which its measurement is fully restless. *Judgement*: the
/// scatter of one clock is less certain than that of a run.
const RESTLESS_CLOCK: f64 = 0.05;
/// The exponent with which restlessness grows with the scatter. *Judgement*: the transition is
/// narrow.
const RESTLESS_EXPONENT: i32 = 4;
/// The share of disturbed processes that is assumed of a clock of which too few processes were
/// undisturbed, and the largest share. *Definition*.
const MOST_DISTURBED: f64 = 0.9;
/// The distance from the least to the median of three or more processes, in standard deviations
/// between processes. *Judgement*: for reports without the costs of processes.
const MEDIAN_ABOVE_LEAST: f64 = 0.67;

/// The probability of the quantile of the costs of processes that is compared. *Judgement*: most
/// disturbances raise the cost of some processes, so that a low quantile varies least between runs;
/// a lower one rests on too few processes.
const UNDISTURBED: f64 = 0.25;

/// The scatter of a clock between the processes of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProcessScatter {
    /// The logarithm of the ratio of the median to the least cost.
    above_least: f64,
    /// The share of processes that were disturbed.
    disturbed: f64,
}

impl ProcessScatter {
    /// The scatter of a clock; `None` without processes.
    pub(super) fn of_clock(row: &TimerRow) -> Option<Self> {
        let distribution = row.distribution.as_ref()?;
        let observations = row.observations.as_ref()?;
        let processes = row.undisturbed_processes(3);
        let costs = processes
            .iter()
            .map(|process| process.amortised_cycles.unwrap_or(process.amortised_ns));
        let costs: Vec<f64> = costs.collect();
        let above_least = match sorted(&costs).first() {
            Some(least) if costs.len() > 1 => (median(&costs)? / least).ln(),
            _ => MEDIAN_ABOVE_LEAST * distribution.between_ns? / row.cost_ns?.value,
        };
        let is_shared = row
            .findings
            .iter()
            .any(|found| found.code == "restless-core");
        let disturbed =
            f64::from(observations.disturbed_processes) / f64::from(observations.processes.max(1));
        above_least.is_finite().then_some(Self {
            above_least: above_least.max(0.0),
            disturbed: if is_shared {
                MOST_DISTURBED
            } else {
                disturbed.min(MOST_DISTURBED)
            },
        })
    }

    /// How restless a run was according to these clocks, from 0 to 1.
    pub(super) fn restlessness(clocks: &[Self]) -> f64 {
        let scatter = median(
            clocks
                .iter()
                .map(|clock| clock.above_least)
                .collect::<Vec<f64>>(),
        );
        let disturbed = mean(
            clocks
                .iter()
                .map(|clock| clock.disturbed)
                .collect::<Vec<f64>>(),
        );
        scatter.zip(disturbed).map_or(0.0, |(scatter, disturbed)| {
            (scatter / (1.0 - disturbed) / RESTLESS_SCATTER)
                .powi(RESTLESS_EXPONENT)
                .min(1.0)
        })
    }

    /// How restless the measurement of this clock was, from 0 to 1.
    pub(super) fn own_restlessness(self) -> f64 {
        if self.disturbed == MOST_DISTURBED {
            return 1.0;
        }
        (self.above_least / RESTLESS_CLOCK)
            .powi(RESTLESS_EXPONENT)
            .min(1.0)
    }
}

/// The cost of a clock without disturbances: a low quantile of the costs of processes. `None` if
/// the report does not hold them.
pub(super) fn undisturbed(costs: &[f64]) -> Option<f64> {
    quantile(&sorted(costs), UNDISTURBED).filter(|cost| *cost > 0.0)
}

/// The name of the family of a clock.
pub(super) fn family_of(row: &TimerRow) -> &str {
    let properties = row.properties.as_ref();
    let family = properties.and_then(|properties| properties.family);
    let reads_by = properties.and_then(|properties| properties.reads_by);
    match (row.runtime.as_str(), family, reads_by) {
        ("native", _, Some(ReadsBy::Instruction)) => FAMILIES[0].name,
        ("native", _, Some(ReadsBy::Vdso)) => FAMILIES[1].name,
        ("native", Some(Family::CpuTime | Family::PerfEvent), _) => FAMILIES[3].name,
        // times(2) returns the time, and also sums the CPU time of the process.
        ("native", ..) if row.id == "times" => FAMILIES[3].name,
        ("native", _, Some(ReadsBy::SystemCall)) => FAMILIES[2].name,
        ("native", ..) => OTHER_FAMILY.name,
        (runtime, ..) => runtime,
    }
}

/// The variances between runs for a quantity: of what the family has in common, and of what a timer
/// differs by, on the scale of the quantity. `restless` is the restlessness of the run and of the
/// measurement of the timer; `cycles` is the cost.
pub(super) fn variances(
    quantity: Quantity,
    family: &str,
    restless: [f64; 2],
    cycles: f64,
) -> [f64; 2] {
    let known = FAMILIES.iter().find(|known| known.name == family);
    let family = known.unwrap_or(&OTHER_FAMILY);
    let between = |[calm, most]: [f64; 2], restless: f64| calm + restless * (most - calm);
    let each = |deviations: &Deviations| {
        [0, 1].map(|part| {
            between(
                [deviations.calm[part], deviations.restless[part]],
                restless[part],
            )
            .powi(2)
        })
    };
    match quantity.scatter() {
        Scatter::Cost => {
            let [common, own] = each(&family.cost);
            let of_cycle = between(CYCLES, restless[1]) / cycles;
            [common, own + of_cycle * of_cycle]
        }
        Scatter::Lateness => each(&LATENESS),
        Scatter::Spread => [0.0, between(family.spread, restless[1]).powi(2)],
        Scatter::Slew if quantity.unit() == Unit::Ppm => [0.0, (1e6 * SLEW).powi(2)],
        Scatter::Slew => [0.0, SLEW * SLEW],
        Scatter::Quality | Scatter::None => [0.0, 0.0],
    }
}

#[cfg(test)]
mod tests {
    use super::{ProcessScatter, Quantity, undisturbed, variances};

    #[test]
    fn kernel_varies_most() {
        let of = |family, restless| variances(Quantity::COST, family, [restless; 2], 60.0);
        assert!(of("CPU time", 0.0)[0] > of("vDSO", 0.0)[0]);
        for family in [
            "instructions",
            "vDSO",
            "system calls",
            "CPU time",
            "Node.js 20",
        ] {
            let [calm, restless] = [0.0, 1.0].map(|restless| of(family, restless));
            assert!(restless[0] > calm[0] && restless[1] > calm[1], "{family}");
        }
        let cheap = variances(Quantity::COST, "vDSO", [0.0; 2], 7.0);
        assert!(cheap[1] > of("vDSO", 0.0)[1]);
    }

    #[test]
    fn disturbed_processes_make_run_restless() {
        let clock = |above_least, disturbed| ProcessScatter {
            above_least,
            disturbed,
        };
        let of = |clocks: &[ProcessScatter]| ProcessScatter::restlessness(clocks);
        let calm = of(&[clock(0.005, 0.1), clock(0.006, 0.2), clock(0.09, 0.1)]);
        assert!(calm < 0.01, "{calm}");
        assert!(of(&[clock(0.005, 0.8)]) > 10.0 * calm);
        assert_eq!(of(&[clock(0.05, 0.1)]), 1.0);
        assert_eq!(of(&[]), 0.0);
    }

    #[test]
    fn disturbances_leave_undisturbed_cost() {
        let calm = undisturbed(&[10.0, 10.1, 10.0, 10.1, 10.2]).unwrap();
        let disturbed = undisturbed(&[10.0, 13.0, 10.1, 10.0, 15.0]).unwrap();
        assert!((disturbed / calm - 1.0).abs() < 0.01, "{calm} {disturbed}");
        assert_eq!(undisturbed(&[]), None);
        assert_eq!(undisturbed(&[-1.0, -1.0]), None);
    }
}
