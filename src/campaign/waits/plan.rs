//! Defines the settings and plans of a campaign that measures sleep primitives or periodic timers:
//! the numbers of processes and of waits for each question.

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
    /// The longest time that all answers of a process together may take.
    pub timeout: Duration,
    /// The time for which rounds are repeated; `None` for the number of rounds of the plan.
    pub span: Option<Duration>,
    /// Lateness in nanoseconds above which a wait ends the run; `None` for no limit.
    pub break_ns: Option<u64>,
}

/// The numbers of processes and waits, and the time limits, for sleep primitives and periodic
/// timers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaitPlan {
    /// Name of the plan in reports.
    pub name: &'static str,
    /// Processes for each timer.
    pub processes: u32,
    /// Number of further rounds, for the primitives for which no other primitive is both less late
    /// and cheaper.
    pub further: u32,
    /// Share of `waits` and `length_ns` that is used before the further rounds.
    pub first_share: f64,
    /// The requested lengths if the user gives none, in nanoseconds.
    pub lengths_ns: &'static [u64],
    /// Largest number of waits of one length in a process.
    pub waits: u32,
    /// Nanoseconds that the waits of one length may take in a process. At least
    /// `MIN_WAITS_PER_LENGTH` waits are made, however long they take.
    pub length_ns: f64,
    /// Largest number of waits in a scan, which consists of waits of random lengths; 0 to measure
    /// only the requested lengths.
    pub scan: u32,
    /// Nanoseconds that a scan may take. At least eight waits are made, however long they take.
    pub scan_ns: f64,
    /// `scan` and `scan_ns` if the lateness varies so much that wake-up times may lie on a grid.
    pub wide_scan: (u32, f64),
    /// Number of rounds in which all primitives that block also make long waits, at the same time.
    pub long_rounds: u32,
    /// The lengths of the long waits of a round, in nanoseconds.
    pub long_ns: &'static [u64],
    /// The scans of long waits of a round: the shortest length in nanoseconds, and the number of
    /// waits.
    pub long_scans: &'static [(u64, u32)],
    /// How often a process arms and cancels the primitive.
    pub arms: u32,
    /// Nanoseconds for which a periodic timer runs in a process.
    pub ticking_ns: f64,
}

const MS: u64 = 1_000_000;

/// Fewest wake-ups of a periodic timer in a process, so that stalls fit between them.
pub const MIN_WAKEUPS: u32 = 40;

/// Fewest waits of one length in a process. With three processes, they give an interval for the
/// median.
/// *Computed*.
pub const MIN_WAITS_PER_LENGTH: u32 = 2;

impl WaitPlan {
    /// Returns the expected time of all answers of a process, in nanoseconds, for waits of these
    /// lengths that take at most twice the requested time.
    #[must_use]
    pub fn process_ns(&self, lengths_ns: &[u64]) -> f64 {
        let time_of_length = |length: &u64| {
            self.length_ns
                .max(f64::from(MIN_WAITS_PER_LENGTH) * *length as f64)
        };
        let long = u64::from(MIN_WAITS_PER_LENGTH) * self.long_ns.iter().sum::<u64>();
        let scans: f64 = self
            .long_scans
            .iter()
            .map(|(length, count)| *length as f64 * f64::from(*count))
            .sum();
        2.0 * (lengths_ns.iter().map(time_of_length).sum::<f64>()
            + 4.0 * self.wide_scan.1
            + long as f64
            + scans)
    }

    /// Returns the expected time of a process that runs a periodic timer with this period, in
    /// nanoseconds.
    #[must_use]
    pub fn ticking_process_ns(&self, period_ns: u64) -> f64 {
        2.0 * self
            .ticking_ns
            .max(2.0 * f64::from(MIN_WAKEUPS) * period_ns as f64)
    }
}

impl WaitPlan {
    /// Returns the plan of the rounds before the further ones.
    #[must_use]
    pub fn first_rounds(&self) -> Self {
        let waits = f64::from(self.waits) * self.first_share;
        Self {
            waits: waits as u32,
            length_ns: self.length_ns * self.first_share,
            ..*self
        }
    }

    /// Returns the plan that makes all waits in the first rounds, without further rounds or long
    /// waits.
    #[must_use]
    pub fn without_further_rounds(&self) -> Self {
        Self {
            further: 0,
            first_share: 1.0,
            long_rounds: 0,
            ..*self
        }
    }

    /// Returns the plan with at least `waits` waits of each length, unless they take longer than
    /// half a minute. There are no further rounds or long waits.
    #[must_use]
    pub fn with_min_waits(&self, waits: u32) -> Self {
        /// Nanoseconds that the waits of a length may take in all processes: more than is needed to
        /// choose a primitive.
        const MAX_LENGTH_NS: f64 = 3e10;
        let per_process = waits.div_ceil(self.processes);
        Self {
            waits: per_process.max(self.waits),
            length_ns: MAX_LENGTH_NS / f64::from(self.processes),
            ..self.without_further_rounds()
        }
    }

    /// Returns the plan with `waits` waits of each length, unless they take longer than half a
    /// minute. There are no further rounds or long waits.
    #[must_use]
    pub fn with_waits(&self, waits: u32) -> Self {
        Self {
            waits: waits.div_ceil(self.processes),
            ..self.with_min_waits(waits)
        }
    }

    /// The plan to choose the primitives that are worth further waits. Its results are not
    /// reported.
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
    /// The plan for a quick first impression.
    pub const QUICK: Self = Self {
        name: "quick",
        processes: 3,
        further: 0,
        first_share: 1.0,
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
        first_share: 0.4,
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
        first_share: 1.0,
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
