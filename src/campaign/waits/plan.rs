//! Plans: how many waits a question is worth, and how a campaign is run.

use std::time::Duration;

/// How a campaign over timers that wait is run.
#[derive(Clone, Debug)]
pub struct WaitSettings {
    /// How thoroughly.
    pub plan: WaitPlan,
    /// The lengths that are asked for, in nanoseconds.
    pub lengths_ns: Vec<u64>,
    /// The seed of all random choices.
    pub seed: u64,
    /// How long the answers of a process may take together.
    pub timeout: Duration,
    /// How long rounds go on; as many as the plan has where nothing is said.
    pub span: Option<Duration>,
    /// Lateness that ends the run, in nanoseconds.
    pub break_ns: Option<u64>,
}

/// How thoroughly timers that wait are characterised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaitPlan {
    /// Name of the profile in reports.
    pub name: &'static str,
    /// Fresh processes that every timer gets.
    pub processes: u32,
    /// Further ones of those that no other is both less late and cheaper than.
    pub further: u32,
    /// How much of the waits of chosen lengths those ask for that every timer gets; a share.
    pub first: f64,
    /// The lengths that are asked for where the user names none, in nanoseconds.
    pub lengths_ns: &'static [u64],
    /// Waits of one length a process at most.
    pub waits: u32,
    /// Nanoseconds that the waits of one length may take in a process, but for one of them.
    pub length_ns: f64,
    /// Waits of random lengths a scan in a process; none, where only the given lengths are to be
    /// waited.
    pub scan: u32,
    /// Nanoseconds that a scan may take in a process, but for eight waits.
    pub scan_ns: f64,
    /// Both for a timer whose latenesses are spread so widely that they may hold steps.
    pub wide_scan: (u32, f64),
    /// Rounds of long waits, in which all timers that block wait side by side.
    pub long_rounds: u32,
    /// The long waits of a round, in nanoseconds.
    pub long_ns: &'static [u64],
    /// Scans of such a round: around which length, in nanoseconds, and how many waits.
    pub long_scans: &'static [(u64, u32)],
    /// Pairs of arming and cancelling in a process.
    pub arms: u32,
    /// Nanoseconds that a periodic timer ticks in a process.
    pub ticking_ns: f64,
}

const MS: u64 = 1_000_000;

/// Wake-ups of a periodic timer in a process at least, so that stalls fit between them.
pub const FEWEST_WAKEUPS: u32 = 40;

/// Waits of a length in a process, at least: those of three processes tell an interval of their
/// median then. *Computed*.
pub const FEWEST_OF_LENGTH: u32 = 2;

impl WaitPlan {
    /// Nanoseconds that the answers of a process should take, where its timer is no slower than
    /// twice what it is asked for.
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

    /// The same of a timer that ticks.
    #[must_use]
    pub fn ticking_process_ns(&self, period_ns: u64) -> f64 {
        2.0 * self
            .ticking_ns
            .max(2.0 * f64::from(FEWEST_WAKEUPS) * period_ns as f64)
    }
}

impl WaitPlan {
    /// What those processes ask for that every timer gets.
    #[must_use]
    pub fn first(&self) -> Self {
        let waits = f64::from(self.waits) * self.first;
        Self {
            waits: waits as u32,
            length_ns: self.length_ns * self.first,
            ..*self
        }
    }

    /// The same where all waits of all timers are wanted.
    #[must_use]
    pub fn whole(&self) -> Self {
        Self {
            further: 0,
            first: 1.0,
            long_rounds: 0,
            ..*self
        }
    }

    /// So many waits of each length at least, unless that takes too long.
    #[must_use]
    pub fn at_least(&self, waits: u32) -> Self {
        /// Nanoseconds a timer: more than is needed to choose.
        const MOST_NS: f64 = 3e10;
        let each = waits.div_ceil(self.processes);
        Self {
            waits: each.max(self.waits),
            length_ns: MOST_NS / f64::from(self.processes),
            ..self.whole()
        }
    }

    /// The same with so many waits of each length, however long they take.
    #[must_use]
    pub fn exactly(&self, waits: u32) -> Self {
        Self {
            waits: waits.div_ceil(self.processes),
            ..self.at_least(waits)
        }
    }

    /// A look at which methods are worth further waits: no figure is quoted from it.
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
    /// A first look.
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
    /// What figures are quoted from.
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
    /// For publication.
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
