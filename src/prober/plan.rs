//! Plans: how many reads a question is worth. All budgets are in reads or in reference time.

/// How thoroughly to probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Name of the profile in reports.
    pub name: &'static str,
    /// Fresh processes a timer.
    pub processes: u32,
    /// Single invocations a process.
    pub singles: u32,
    /// Batches a process.
    pub batches: u32,
    /// Nanoseconds of intervals a process.
    pub interval_ns: f64,
    /// The longest work tried in a process before the timer is left to the slow ones, in nanoseconds.
    pub growth_ns: f64,
    /// How long slow timers are waited for, all together, in nanoseconds.
    pub slow_ns: f64,
}

impl Plan {
    /// A first look.
    pub const QUICK: Self = Self {
        name: "quick",
        processes: 3,
        singles: 3_000,
        batches: 61,
        interval_ns: 2e6,
        growth_ns: 3e5,
        slow_ns: 2.15e9,
    };
    /// What figures are quoted from.
    pub const DEFAULT: Self = Self {
        name: "default",
        processes: 15,
        singles: 5_000,
        batches: 101,
        interval_ns: 5e6,
        growth_ns: 5e5,
        slow_ns: 4.2e9,
    };
    /// For publication.
    pub const THOROUGH: Self = Self {
        name: "thorough",
        processes: 25,
        singles: 20_000,
        batches: 201,
        interval_ns: 2e7,
        growth_ns: 1e6,
        slow_ns: 1.2e10,
    };
}
