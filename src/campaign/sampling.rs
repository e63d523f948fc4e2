//! Defines the plans of a campaign: the number of processes and reads for each question. All
//! budgets are numbers of reads or times of the reference.

use std::ops::Range;

use crate::hosts::calls::CallsPlan;
use crate::model::Context;

/// The numbers of processes and reads, and the time limits, of a campaign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Name of the plan in reports.
    pub name: &'static str,
    /// Fresh processes that measure only one timer, for each timer.
    pub processes: u32,
    /// Brief processes, which only time the calls of many timers.
    pub brief: u32,
    /// The first brief processes, which also search for steps.
    pub searching: u32,
    /// Brief processes that follow each other before the timers with too wide intervals are
    /// selected again.
    pub block: u32,
    /// Fresh processes for each timer if its host does not support brief processes.
    pub unvisited: u32,
    /// Most fresh processes for a timer whose interval is still too wide.
    pub most_processes: u32,
    /// Target for half the width of the interval of a Quality, as a share, as far as more processes
    /// make it narrower.
    pub precision: f64,
    /// Whether timers are measured further even if the allowed processes will not reach the target
    /// precision; set if the user asked for it.
    pub insists: bool,
    /// Seconds that a run should take at most. When they are used up, no further processes are
    /// started except for the verdicts.
    pub budget_s: f64,
    /// Calls of a timer that a process times.
    pub calls: CallsPlan,
    /// The longest work that a process tries before it treats the timer as slow, in nanoseconds.
    pub growth_ns: f64,
    /// The total time of all waits for a core that is shared with something else, in nanoseconds.
    pub patience_ns: f64,
    /// Successive readings that are checked for steps backwards.
    pub order_readings: u32,
    /// Longest time of these readings, in nanoseconds.
    pub order_ns: f64,
    /// Handoffs between two threads for each pair of CPUs.
    pub handoffs: u32,
    /// Comparisons with the reference in a closely spaced series.
    pub comparisons: u32,
    /// Milliseconds of each of three conditions: spinning, sleeping, and sleeping next to a busy
    /// thread.
    pub nature_ms: u32,
    /// The code contexts in which the cost of a read is measured.
    pub contexts: &'static [Context],
}

impl Plan {
    /// Returns the number of rounds. A timer takes part in as many as it gets processes of its own.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.processes.max(self.unvisited)
    }

    /// Returns the fresh processes for a timer before further ones are chosen by its precision.
    /// `visited` says whether its host supports brief processes.
    #[must_use]
    pub fn at_first(&self, visited: bool) -> u32 {
        if visited {
            self.processes + self.brief
        } else {
            self.unvisited
        }
    }

    /// Returns the fresh processes that measure only this timer.
    #[must_use]
    pub fn alone(&self, visited: bool) -> u32 {
        if visited {
            self.processes
        } else {
            self.unvisited
        }
    }

    /// Returns the indices of the brief processes that follow a round.
    #[must_use]
    pub fn brief_after(&self, round: u32) -> Range<u32> {
        let before = |round: u32| self.brief * round.min(self.processes) / self.processes;
        before(round)..before(round + 1)
    }

    /// A quick first impression.
    pub const QUICK: Self = Self {
        name: "quick",
        processes: 2,
        brief: 10,
        searching: 1,
        block: 4,
        unvisited: 5,
        most_processes: 12,
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
        patience_ns: 1e8,
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
        unvisited: 5,
        most_processes: 60,
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
        patience_ns: 3e8,
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
        unvisited: 12,
        most_processes: 400,
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
        patience_ns: 5e9,
        order_readings: 2_000_000,
        order_ns: 1e9,
        handoffs: 20_000,
        comparisons: 129,
        nature_ms: 20,
        contexts: &Context::ALL,
    };
}
