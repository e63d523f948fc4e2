//! Defines how the costs of real clocks vary between processes and between runs.
//!
//! The constants are *Seen*: in 84 runs of a Zen 4 guest, 13 processes a clock.

use rand::RngExt;
use rand::rngs::StdRng;
use rand_distr::{Distribution, Exp1, StandardNormal};

use timermeter::model::{Family, ReadsBy, TimerRow};

use crate::population::log_uniform;

/// Number of processes that measure a clock.
pub(super) const PROCESSES: usize = 13;
/// The least number of processes that are used.
const MIN_USED: usize = 3;
/// The restlessness from which many processes are disturbed; the largest is 1.
pub(super) const RESTLESS: f64 = 0.15;
/// The shares of processes that are left out as disturbed in calm and in restless runs.
const DISTURBED: [f64; 2] = [0.32, 0.53];
/// The share of the clocks of a restless run all of whose processes are disturbed and used.
pub(super) const ALL_DISTURBED: f64 = 0.1;
/// The cost of processes above the least one in calm runs, as ranges with their probabilities.
const EXCESSES: [(f64, [f64; 2]); 3] = [
    (0.6, [0.001, 0.005]),
    (0.33, [0.005, 0.03]),
    (0.07, [0.05, 0.25]),
];
/// The standard deviation of the measured core frequency of a process.
const FREQUENCY_NOISE: f64 = 0.002;
/// How much cheaper CPU-time clocks are in some processes.
const CHEAPER_STATE: f64 = 0.05;

/// How costs of a family of clocks vary.
pub(super) struct Variation {
    /// The range of the standard deviation of the family's cost between calm runs.
    pub calm: [f64; 2],
    /// The range of the family's change in the most restless run, in addition to what its processes
    /// show.
    pub restless: [f64; 2],
    /// The mean cost of processes above the least one in the most restless run.
    pub excess: f64,
    /// The standard deviation of a clock next to its family in the most restless run, in addition
    /// to what its processes show.
    pub own: f64,
    /// The mean decrease of the angle arcsin √*s* of the spread *s* in calm and in the most
    /// restless runs.
    pub spread: [f64; 2],
}

/// A family of clocks, whose costs change together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockFamily {
    /// Read by an instruction.
    Instructions,
    /// Read in user mode by code of the kernel.
    Vdso,
    /// Read by a system call.
    SystemCalls,
    /// CPU time, which the kernel sums.
    CpuTime,
}

impl ClockFamily {
    /// All families, in the order of their declaration.
    pub const ALL: [Self; 4] = [
        Self::Instructions,
        Self::Vdso,
        Self::SystemCalls,
        Self::CpuTime,
    ];

    pub(super) fn of(row: &TimerRow) -> Self {
        let properties = row.properties.as_ref();
        let family = properties.and_then(|properties| properties.family);
        match properties.and_then(|properties| properties.reads_by) {
            Some(ReadsBy::Instruction) => Self::Instructions,
            Some(ReadsBy::Vdso) => Self::Vdso,
            _ if matches!(family, Some(Family::CpuTime | Family::PerfEvent))
                || row.id == "times" =>
            {
                Self::CpuTime
            }
            _ => Self::SystemCalls,
        }
    }

    pub(super) fn is_of_kernel(self) -> bool {
        matches!(self, Self::SystemCalls | Self::CpuTime)
    }

    pub(super) fn variation(self) -> &'static Variation {
        const VDSO: Variation = Variation {
            calm: [0.0005, 0.003],
            restless: [-0.01, 0.01],
            excess: 0.07,
            own: 0.01,
            spread: [0.005, 0.02],
        };
        match self {
            Self::Instructions => &Variation {
                restless: [-0.04, 0.04],
                excess: 0.05,
                own: 0.03,
                ..VDSO
            },
            Self::Vdso => &VDSO,
            Self::SystemCalls => &Variation {
                restless: [-0.02, 0.03],
                excess: 0.3,
                spread: [0.07, 0.5],
                ..VDSO
            },
            Self::CpuTime => &Variation {
                calm: [0.001, 0.007],
                restless: [-0.06, 0.06],
                excess: 0.4,
                own: 0.01,
                spread: [0.1, 0.75],
            },
        }
    }
}

/// What happens to the processes that measure a clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Disturbances {
    /// How restless the run is, from 0 (calm) to 1.
    pub restlessness: f64,
    /// Whether all processes are disturbed, and used.
    pub all: bool,
    /// The probability that the clock is cheaper in a process.
    pub cheaper: f64,
}

impl ClockFamily {
    /// The costs in cycles of the processes that are used, of a clock that takes at least `cycles`.
    pub(super) fn processes(
        self,
        cycles: f64,
        disturbances: Disturbances,
        random: &mut StdRng,
    ) -> Vec<f64> {
        let restlessness = disturbances.restlessness;
        let restless_excess = self.variation().excess;
        let disturbed_share = DISTURBED[usize::from(restlessness > RESTLESS)];
        let mut processes: Vec<(f64, f64)> = Vec::new();
        let mut disturbed = 0;
        for _ in 0..PROCESSES {
            let mut exponential = || -> f64 { Exp1.sample(random) };
            let mut excess = if disturbances.all {
                restless_excess / 4.0 * (exponential() + exponential())
            } else {
                restless_excess * restlessness * exponential()
            };
            excess += calm_excess(random);
            let marked = excess * random.random_range(0.2..1.0);
            if random.random_bool(disturbances.cheaper) {
                excess -= CHEAPER_STATE;
            }
            let noise = FREQUENCY_NOISE * normal(random);
            processes.push((marked, cycles * (excess + noise).exp()));
            disturbed += usize::from(random.random_bool(disturbed_share));
        }
        // Mostly the slowest processes are found to be disturbed.
        processes.sort_by(|a, b| a.0.total_cmp(&b.0));
        if !disturbances.all {
            processes.truncate((PROCESSES - disturbed).max(MIN_USED));
        }
        processes.into_iter().map(|(_, cycles)| cycles).collect()
    }
}

fn calm_excess(random: &mut StdRng) -> f64 {
    let mut draw: f64 = random.random();
    for (share, range) in EXCESSES {
        if draw < share {
            return in_range(range, random);
        }
        draw -= share;
    }
    0.0
}

pub(super) fn in_range([low, high]: [f64; 2], random: &mut StdRng) -> f64 {
    log_uniform(low, high, random)
}

pub(super) fn normal(random: &mut StdRng) -> f64 {
    StandardNormal.sample(random)
}
