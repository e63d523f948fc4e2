//! Plans: how many reads a question is worth. All budgets are in reads or in reference time.

use std::ops::Range;

use crate::hosts::calls::CallsPlan;
use crate::model::Context;

/// How thoroughly to probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Name of the profile in reports.
    pub name: &'static str,
    /// Fresh processes that every timer gets to itself.
    pub processes: u32,
    /// Further ones that only time its calls.
    pub brief: u32,
    /// Those of them that look for steps as well, the first ones.
    pub searching: u32,
    /// Brief ones that follow each other before anybody asks again which intervals are still too
    /// wide.
    pub block: u32,
    /// Fresh processes that a timer gets to itself where its host cannot be visited by brief ones.
    pub unvisited: u32,
    /// Fresh processes that a timer gets at most, where its interval is still too wide.
    pub most_processes: u32,
    /// Half the width that the interval of a Quality may have, as far as more processes make it
    /// narrower; a share.
    pub precision: f64,
    /// Whether timers are asked further that will not come that close by what they may have: where
    /// it was asked for.
    pub insists: bool,
    /// Seconds that a run should take at most: no further processes are started when it is used up
    /// but for the verdicts.
    pub budget_s: f64,
    /// How many calls of a timer a process times.
    pub calls: CallsPlan,
    /// The longest work tried in a process before the timer is left to the slow ones, in
    /// nanoseconds.
    pub growth_ns: f64,
    /// How long all waits for a core that something else shares may take together, in nanoseconds.
    pub patience_ns: f64,
    /// Successive readings that are looked at for steps backwards.
    pub order_readings: u32,
    /// Nanoseconds that they may take.
    pub order_ns: f64,
    /// Handoffs between two threads, a pair of CPUs.
    pub handoffs: u32,
    /// Comparisons with the reference that follow each other.
    pub comparisons: u32,
    /// Milliseconds of spinning, sleeping, and sleeping beside a busy thread, each.
    pub nature_ms: u32,
    /// The code around a read that is asked about.
    pub contexts: &'static [Context],
}

impl Plan {
    /// How many rounds there are: a timer takes part in as many as it gets processes to itself.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.processes.max(self.unvisited)
    }

    /// Fresh processes that a timer gets before anybody asks how well it is known.
    #[must_use]
    pub fn at_first(&self, visited: bool) -> u32 {
        if visited {
            self.processes + self.brief
        } else {
            self.unvisited
        }
    }

    /// Fresh processes that a timer gets to itself.
    #[must_use]
    pub fn alone(&self, visited: bool) -> u32 {
        if visited {
            self.processes
        } else {
            self.unvisited
        }
    }

    /// Which of the brief processes come after a round.
    #[must_use]
    pub fn brief_after(&self, round: u32) -> Range<u32> {
        let before = |round: u32| self.brief * round.min(self.processes) / self.processes;
        before(round)..before(round + 1)
    }

    /// A first look.
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
    /// What figures are quoted from.
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
    /// For publication.
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
