//! Defines how the costs of real clocks vary between processes and between runs.
//!
//! The constants are *Seen*: in 84 runs of a Zen 4 guest, 13 processes a clock.

use rand::RngExt;
use rand::rngs::StdRng;

use estimators::model::{Family, ReadsBy, TimerRow};

use simulated::draw::log_uniform;

/// Number of processes that measure a clock.
pub(super) const PROCESSES: usize = 13;
/// The cost of processes above the least one, as ranges with their probabilities, while the core is
/// not shared.
const EXCESSES: [(f64, [f64; 2]); 3] = [
    (0.6, [0.001, 0.005]),
    (0.33, [0.005, 0.03]),
    (0.07, [0.05, 0.25]),
];

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

    /// The range of the standard deviation of the family's cost between runs.
    pub(super) fn deviations(self) -> [f64; 2] {
        match self {
            Self::CpuTime => [0.001, 0.007],
            _ => [0.0005, 0.003],
        }
    }
}

/// Draws the cost of a process above the least one, as a logarithm, while the core is not shared.
pub(super) fn excess(random: &mut StdRng) -> f64 {
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
