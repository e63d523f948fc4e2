//! Defines the plans for sleep primitives and periodic timers: the number of waits for each
//! question, and the settings of a campaign.

use std::time::Duration;

/// Settings of a campaign that measures sleep primitives or periodic timers.
#[derive(Clone, Debug)]
pub struct WaitSettings {
    /// The number of processes and waits.
    pub plan: WaitPlan,
    /// The requested lengths, in nanoseconds.
    pub lengths_ns: Vec<u64>,
    /// The seed of all random choices.
    pub seed: u64,
    /// The longest total time of the answers of a process.
    pub timeout: Duration,
    /// The time for which rounds are repeated; `None` for the number of rounds of the plan.
    pub span: Option<Duration>,
    /// Lateness that ends the run, in nanoseconds.
    pub break_ns: Option<u64>,
}

/// The numbers of processes and waits, and the time limits, for sleep primitives and periodic
/// timers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaitPlan {
    /// Name of the plan in reports.
    pub name: &'static str,
    /// Fresh processes for each timer.
    pub processes: u32,
    /// Further rounds for the timers for which no other is both less late and cheaper.
    pub further: u32,
    /// Share of `waits` and `length_ns` that the first processes of every timer use.
    pub first: f64,
    /// The default lengths if the user gives none, in nanoseconds.
    pub lengths_ns: &'static [u64],
    /// Most waits of one length in a process.
    pub waits: u32,
    /// Nanoseconds that the waits of one length may take in a process, not counting the last wait.
    pub length_ns: f64,
    /// Waits of random lengths per scan in a process; 0 to measure only the given lengths.
    pub scan: u32,
    /// Nanoseconds that a scan may take in a process, not counting eight waits.
    pub scan_ns: f64,
    /// Waits and nanoseconds of a scan if the lateness is spread so widely that it may contain
    /// steps.
    pub wide_scan: (u32, f64),
    /// Rounds of long waits, in which all primitives that block wait at the same time.
    pub long_rounds: u32,
    /// The long waits of a round, in nanoseconds.
    pub long_ns: &'static [u64],
    /// Scans of such a round: the shortest length in nanoseconds, and the number of waits.
    pub long_scans: &'static [(u64, u32)],
    /// Pairs of arming and cancelling in a process.
    pub arms: u32,
    /// Nanoseconds for which a periodic timer runs in a process.
    pub ticking_ns: f64,
}

const MS: u64 = 1_000_000;

/// Fewest wake-ups of a periodic timer in a process, so that stalls fit between them.
pub const FEWEST_WAKEUPS: u32 = 40;

/// Fewest waits of one length in a process: three processes then give an interval for the median.
/// *Computed*.
pub const FEWEST_OF_LENGTH: u32 = 2;

impl WaitPlan {
    /// Returns the expected time of the answers of a process, in nanoseconds, for a timer that
    /// takes at most twice the requested time.
    #[must_use]
    pub fn process_ns(&self, lengths_ns: &[u64]) -> f64 {
        let of_length = |length: &u64| {
            self.length_ns
                .max(f64::from(FEWEST_OF_LENGTH) * *length as f64)
        };
        let long = u64::from(FEWEST_OF_LENGTH) * self.long_ns.iter().sum::<u64>();
        let scans: f64 = self
            .long_scans
            .iter()
            .map(|(length, count)| *length as f64 * f64::from(*count))
            .sum();
        2.0 * (lengths_ns.iter().map(of_length).sum::<f64>()
            + 4.0 * self.wide_scan.1
            + long as f64
            + scans)
    }

    /// Returns the expected time of a process with a periodic timer, in nanoseconds.
    #[must_use]
    pub fn ticking_process_ns(&self, period_ns: u64) -> f64 {
        2.0 * self
            .ticking_ns
            .max(2.0 * f64::from(FEWEST_WAKEUPS) * period_ns as f64)
    }
}

impl WaitPlan {
    /// Returns the plan of the first processes of every timer.
    #[must_use]
    pub fn first(&self) -> Self {
        let waits = f64::from(self.waits) * self.first;
        Self {
            waits: waits as u32,
            length_ns: self.length_ns * self.first,
            ..*self
        }
    }

    /// Returns the plan that makes all waits for all timers, without further rounds or long waits.
    #[must_use]
    pub fn whole(&self) -> Self {
        Self {
            further: 0,
            first: 1.0,
            long_rounds: 0,
            ..*self
        }
    }

    /// Returns the plan with at least `waits` waits of each length, unless that takes too long.
    #[must_use]
    pub fn at_least(&self, waits: u32) -> Self {
        /// Nanoseconds for each timer: more than is needed to choose.
        const MOST_NS: f64 = 3e10;
        let each = waits.div_ceil(self.processes);
        Self {
            waits: each.max(self.waits),
            length_ns: MOST_NS / f64::from(self.processes),
            ..self.whole()
        }
    }

    /// Returns the plan with `waits` waits of each length, however long they take.
    #[must_use]
    pub fn exactly(&self, waits: u32) -> Self {
        Self {
            waits: waits.div_ceil(self.processes),
            ..self.at_least(waits)
        }
    }

    /// A plan to choose which primitives are worth further waits; nothing is reported from it.
    pub const GLANCE: Self = Self {
        name: "glance",
        processes: 1,
        waits: 24,
        length_ns: 5e7,
        scan: 16,
        scan_ns: 0.0,
        wide_scan: (16, 0.0),
        long_rounds: 0,
        arms: 4,
        ..Self::QUICK
    };
    /// A quick first impression.
    pub const QUICK: Self = Self {
        name: "quick",
        processes: 3,
        further: 0,
        first: 1.0,
        lengths_ns: &[1_000, 100_000, MS],
        waits: 40,
        length_ns: 1.4e7,
        scan: 24,
        scan_ns: 2.8e7,
        wide_scan: (40, 1e8),
        long_rounds: 3,
        long_ns: &[10 * MS, 85 * MS, 170 * MS],
        long_scans: &[(30 * MS, 18)],
        arms: 50,
        ticking_ns: 1.2e8,
    };
    /// The plan for reported results.
    pub const DEFAULT: Self = Self {
        name: "default",
        processes: 3,
        further: 3,
        first: 0.4,
        lengths_ns: &[1_000, 10_000, 100_000, MS, 10 * MS],
        waits: 140,
        length_ns: 1.6e8,
        scan: 60,
        scan_ns: 1.2e8,
        wide_scan: (60, 1.2e8),
        long_rounds: 3,
        long_ns: &[50 * MS, 100 * MS, 300 * MS, 1_000 * MS],
        long_scans: &[(30 * MS, 24), (300 * MS, 6)],
        arms: 100,
        ticking_ns: 5e8,
    };
    /// The plan for publications.
    pub const THOROUGH: Self = Self {
        name: "thorough",
        processes: 10,
        further: 0,
        first: 1.0,
        waits: 600,
        length_ns: 8e8,
        scan: 120,
        scan_ns: 4e8,
        wide_scan: (120, 4e8),
        long_rounds: 5,
        long_scans: &[(30 * MS, 48), (300 * MS, 16)],
        arms: 400,
        ticking_ns: 4e9,
        ..Self::DEFAULT
    };
}
