//! Defines the plan of a run: all amounts of what is asked, the limits of its time, and where and with which
//! random numbers it runs. The flags of a verb make it once, and whoever asks reads it. Amounts are numbers of
//! reads or times by the reference.

use std::ops::Range;
use std::time::Duration;

use crate::agents::children::Placement;
use estimators::model;
use probe::prober::CallsPlan;

/// All amounts of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Name of the plan in reports.
    pub name: &'static str,
    /// The seed of all random choices.
    pub seed: u64,
    /// The CPU that the processes are pinned to, and how the kernel schedules those that wait.
    pub placement: Placement,
    /// The longest time that a process may take; `None` for one that suits the run.
    pub timeout: Option<Duration>,
    /// Processes that measure only one timer, for each timer.
    pub processes: u32,
    /// Brief processes. A brief process measures many timers and, for most of them, only times
    /// their calls.
    pub brief: u32,
    /// Number of brief processes that also search for steps; these are the first ones.
    pub searching: u32,
    /// After the rounds, number of brief processes between two selections of the timers whose
    /// intervals are still too wide.
    pub block: u32,
    /// Processes for each timer of an agent that does not support brief processes.
    pub without_brief: u32,
    /// Largest number of processes for a timer whose interval is still too wide.
    pub max_processes: u32,
    /// Target for half the width of the interval of the Quality of a timer, as a share: 0.005 is
    /// half a percentage point.
    pub precision: f64,
    /// Whether timers get further processes even if `max_processes` of them would not reach the
    /// target precision.
    pub insists: bool,
    /// Seconds that a run should take at most. When most of this time is used up, no further
    /// processes are started except for the verdicts.
    pub budget_s: f64,
    /// Calls that a process of an agent times which measures one timer. Native workers, and agents that
    /// open the named timers only, time those of [`CallsPlan::BRIEF`] in each process.
    pub calls: CallsPlan,
    /// Length of the longest work between two readings, in nanoseconds. If a timer does not move
    /// during it, the process treats the timer as slow.
    pub growth_ns: f64,
    /// Successive readings that are checked for their order: none may be smaller than the one
    /// before.
    pub order_readings: u32,
    /// Longest time of these readings, in nanoseconds.
    pub order_ns: f64,
    /// Handoffs between two threads, for each pair of CPUs: one thread reads the timer, then the
    /// other one does.
    pub handoffs: u32,
    /// Comparisons with the reference in a series, about a millisecond apart.
    pub comparisons: u32,
    /// Milliseconds for which a timer is observed under each of three conditions, which show what
    /// it counts: its thread computes, sleeps, or sleeps next to a busy thread.
    pub nature_ms: u32,
    /// Whether the time that a read adds to the code around it is measured.
    pub adds: bool,
    /// The numbers for sleep primitives and periodic timers.
    pub waits: WaitPlan,
    /// The time for which waits are measured; `None` for the number of their processes.
    pub span: Option<Duration>,
}

impl Plan {
    /// Returns the number of rounds. In each round, a timer gets one process that measures only
    /// this timer, until it has had `own_processes` of them.
    pub fn rounds(&self) -> u32 {
        self.processes.max(self.without_brief)
    }

    /// Returns the number of processes that measure only this timer. `has_brief` says whether its
    /// agent supports brief processes.
    pub fn own_processes(&self, has_brief: bool) -> u32 {
        if has_brief {
            self.processes
        } else {
            self.without_brief
        }
    }

    /// Returns the limits of a search for the step in one process, in nanoseconds: the total time of
    /// its intervals, and the longest work.
    pub fn search_limits(&self) -> [f64; 2] {
        [self.calls.interval_ns, self.growth_ns]
    }

    /// Returns the indices of the brief processes that follow a round.
    pub fn brief_after(&self, round: u32) -> Range<u32> {
        let before = |round: u32| self.brief * round.min(self.processes) / self.processes;
        before(round)..before(round + 1)
    }

    /// The same plan with a time budget in seconds, which decides when the run ends: more processes than
    /// the plan has are then allowed.
    #[must_use]
    pub fn limited(self, budget_s: Option<f64>) -> Self {
        /// The largest number of processes per timer. *Judgement*.
        const MAX_PROCESSES: u32 = 200;
        budget_s.map_or(self, |budget_s| Self {
            insists: true,
            budget_s,
            max_processes: MAX_PROCESSES.max(self.max_processes),
            ..self
        })
    }

    /// The longest time that a process may take.
    pub fn time_limit(&self) -> Duration {
        const DEFAULT: Duration = Duration::from_secs(30);
        self.timeout.unwrap_or(DEFAULT)
    }

    /// Returns the calls that a process times. `has_brief` says whether its agent supports brief processes.
    pub fn calls(&self, has_brief: bool) -> &CallsPlan {
        if has_brief {
            &CallsPlan::BRIEF
        } else {
            &self.calls
        }
    }

    /// The plan as reports describe it, with the least number of processes for each timer.
    pub fn settings(&self, processes: u32) -> model::Settings {
        model::Settings {
            plan: self.name.into(),
            cpu: self.placement.cpu,
            seed: self.seed,
            processes,
            precision_points: Some(100.0 * self.precision),
            budget_seconds: Some(self.budget_s),
            timeout_seconds: self.time_limit().as_secs(),
        }
    }

    /// The plan for reported results.
    pub const DEFAULT: Self = Self {
        name: "default",
        seed: 1,
        placement: Placement {
            cpu: None,
            slack_ns: None,
            policy: None,
        },
        timeout: None,
        processes: 2,
        brief: 8,
        searching: 1,
        block: 4,
        without_brief: 5,
        max_processes: 60,
        precision: 0.005,
        insists: false,
        budget_s: 20.0,
        calls: CallsPlan {
            singles: 5_000,
            batches: 101,
            interval_ns: 5e6,
            slow_ns: 3.2e9,
        },
        growth_ns: 5e5,
        order_readings: 100_000,
        order_ns: 1e7,
        handoffs: 4_000,
        comparisons: 9,
        nature_ms: 4,
        adds: true,
        waits: WaitPlan {
            processes: 3,
            waits: 40,
            length_ns: 5e6,
            leading_ns: 2.4e9,
            scan: 60,
            scan_ns: 1.2e8,
            ticking_ns: 1.65e8,
        },
        span: None,
    };
    /// The plan for a quick first impression.
    pub const QUICK: Self = Self {
        name: "quick",
        processes: 1,
        searching: 2,
        max_processes: 9,
        budget_s: 10.0,
        calls: CallsPlan {
            singles: 2_000,
            batches: 41,
            interval_ns: 1.4e6,
            slow_ns: 1.1e9,
        },
        growth_ns: 3e5,
        order_readings: 50_000,
        order_ns: 4e6,
        handoffs: 500,
        comparisons: 7,
        nature_ms: 2,
        adds: false,
        waits: WaitPlan {
            waits: 16,
            length_ns: 3e6,
            leading_ns: 0.0,
            scan: 40,
            scan_ns: 6e7,
            ticking_ns: 1.2e8,
            ..Self::DEFAULT.waits
        },
        ..Self::DEFAULT
    };
    /// The plan for publications.
    pub const THOROUGH: Self = Self {
        name: "thorough",
        processes: 12,
        brief: 40,
        searching: 0,
        block: 10,
        without_brief: 12,
        max_processes: 400,
        precision: 0.001,
        insists: true,
        budget_s: 120.0,
        calls: CallsPlan {
            singles: 20_000,
            batches: 201,
            interval_ns: 2e7,
            slow_ns: 1.2e10,
        },
        growth_ns: 1e6,
        order_readings: 2_000_000,
        order_ns: 1e9,
        handoffs: 20_000,
        comparisons: 129,
        nature_ms: 20,
        waits: WaitPlan {
            processes: 10,
            waits: 600,
            length_ns: 8e8,
            leading_ns: 0.0,
            scan: 120,
            scan_ns: 4e8,
            ticking_ns: 4e9,
        },
        ..Self::DEFAULT
    };
}

/// Fewest wake-ups of a periodic timer in a process. *Judgement*: their median has an interval.
pub const MIN_WAKEUPS: u32 = 40;

/// Fewest waits of one length in a process. *Judgement*: 24 in three processes show a median.
pub const MIN_WAITS_PER_LENGTH: u32 = 8;

/// The numbers of processes and waits, and the time limits, for sleep primitives and periodic
/// timers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaitPlan {
    /// Processes for each timer.
    pub processes: u32,
    /// Largest number of waits of one length in a process.
    pub waits: u32,
    /// Nanoseconds that the waits of one length may take in a process. At least
    /// `MIN_WAITS_PER_LENGTH` waits are made, however long they take.
    pub length_ns: f64,
    /// Nanoseconds that further waits of one length of all leading primitives may take; 0 to measure
    /// all alike.
    pub leading_ns: f64,
    /// Largest number of waits in a scan, which consists of waits of random lengths; 0 to measure
    /// only the requested lengths.
    pub scan: u32,
    /// Nanoseconds that a scan may take. At least a third of its waits are made, however long they
    /// take.
    pub scan_ns: f64,
    /// Nanoseconds for which a periodic timer runs in a process.
    pub ticking_ns: f64,
}

impl WaitPlan {
    /// Returns the least time that a primitive waits with this length, in nanoseconds.
    pub fn least_ns(&self, length_ns: u64) -> f64 {
        f64::from(self.processes * MIN_WAITS_PER_LENGTH) * length_ns as f64
    }

    /// Returns the plan of one of the `processes` for each of `count` leading primitives, after brief
    /// measurements that took this time; `None` if they leave no time.
    pub fn for_leading(&self, count: usize, brief_ns: f64) -> Option<Self> {
        /// Number of waits of one length: with the brief ones enough for a 99th percentile.
        const WAITS: u32 = 480;
        /// Nanoseconds for the waits of a length of all primitives. *Judgement*.
        const MAX_NS: f64 = 6.8e9;
        let left_ns = self.leading_ns.min(MAX_NS - brief_ns);
        (left_ns > 0.0).then(|| Self {
            waits: WAITS.div_ceil(self.processes),
            length_ns: left_ns / f64::from(self.processes) / count.max(1) as f64,
            scan: 0,
            ..*self
        })
    }
}
