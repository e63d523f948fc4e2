//! Defines the plans of a campaign that measures clocks: the numbers of processes and of reads for
//! each question. All budgets are numbers of reads or times by the reference.

use std::ops::Range;

use crate::model::Context;
use crate::prober::CallsPlan;

/// The numbers of processes and reads, and the time limits, of a campaign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Name of the plan in reports.
    pub name: &'static str,
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
    /// Processes for each timer of a host that does not support brief processes.
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
    /// Calls of a timer that a process times.
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
    /// The code contexts in which the cost of a read is measured.
    pub contexts: &'static [Context],
}

impl Plan {
    /// Returns the number of rounds. In each round, a timer gets one process that measures only
    /// this timer, until it has had `own_processes` of them.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.processes.max(self.without_brief)
    }

    /// Returns the number of processes for a timer before its interval decides about further ones.
    /// `has_brief` says whether its host supports brief processes.
    #[must_use]
    pub fn first_processes(&self, has_brief: bool) -> u32 {
        if has_brief {
            self.processes + self.brief
        } else {
            self.without_brief
        }
    }

    /// Returns the number of processes that measure only this timer. `has_brief` says whether its
    /// host supports brief processes.
    #[must_use]
    pub fn own_processes(&self, has_brief: bool) -> u32 {
        if has_brief {
            self.processes
        } else {
            self.without_brief
        }
    }

    /// Returns the limits of a search for the step in one process, in nanoseconds: the total time of
    /// its intervals, and the longest work.
    #[must_use]
    pub fn search_limits(&self) -> [f64; 2] {
        [self.calls.interval_ns, self.growth_ns]
    }

    /// Returns the indices of the brief processes that follow a round.
    #[must_use]
    pub fn brief_after(&self, round: u32) -> Range<u32> {
        let before = |round: u32| self.brief * round.min(self.processes) / self.processes;
        before(round)..before(round + 1)
    }

    /// The plan for a quick first impression.
    pub const QUICK: Self = Self {
        name: "quick",
        processes: 2,
        brief: 10,
        searching: 1,
        block: 4,
        without_brief: 5,
        max_processes: 12,
        precision: 0.005,
        insists: false,
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
        contexts: &[],
    };
    /// The plan for reported results.
    pub const DEFAULT: Self = Self {
        name: "default",
        processes: 2,
        brief: 11,
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
        order_ns: 1.5e7,
        handoffs: 4_000,
        comparisons: 9,
        nature_ms: 4,
        contexts: &Context::USUAL,
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
        contexts: &Context::ALL,
    };
}
