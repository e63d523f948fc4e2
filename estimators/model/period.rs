//! A periodic timer in a report: its rate, its jitter, and its policy for missed expirations.
//!
//! The grid of a periodic timer is the series of times, one period apart, at which it expires. A
//! timer that starts a new period after each wake-up has no grid.

use timers::waits::WaitActivity;

use super::row::deref_to_head;
use super::{Interval, RowHead, WaitConditions};

/// The policy of a periodic timer for expirations that its thread was too busy for.
#[apply(names)]
pub enum MissedPolicy {
    /// It delivers the missed expirations immediately, one after the other, and returns to its
    /// grid.
    Burst = "burst",
    /// It drops the expirations and continues with the next point of its grid.
    Skip = "skip",
    /// It continues one period after the late expiration: its grid has moved.
    Delay = "delay",
}

/// All results for a periodic timer.
#[apply(wire)]
#[derive(Default)]
pub struct PeriodFigures {
    /// Relative difference of its period from the requested one, in ppm.
    pub rate_error_ppm: Option<Interval>,
    /// Median of |interval − period|, in nanoseconds.
    pub jitter_p50_ns: Option<Interval>,
    /// 99th percentile of |interval − period|, in nanoseconds; requires 500 intervals.
    pub jitter_p99_ns: Option<Interval>,
    /// Median lateness relative to its own grid, in nanoseconds; without a grid, relative to one
    /// period after the preceding wake-up.
    pub lateness_p50_ns: Option<Interval>,
    /// 99th percentile of this lateness, in nanoseconds; requires 500 wake-ups.
    pub lateness_p99_ns: Option<Interval>,
    /// The largest lateness of wake-ups without a preceding injected stall, in nanoseconds.
    pub max_ns: Option<f64>,
    /// The number of expirations; expirations that are reported together count separately.
    pub expirations: u64,
    /// The number of wake-ups.
    pub wakeups: u64,
    /// Missed expirations that the timer reports.
    pub missed_reported: u64,
    /// Points of its grid without a wake-up.
    pub missed: u64,
    /// The part of them that the timer does not report and no injected stall explains.
    #[serde(default)]
    pub lost: u64,
    /// Stalls that were injected, of 3.5 periods each.
    pub stalls: u32,
    /// The policy after a stall; null if unknown.
    pub policy: Option<MissedPolicy>,
    /// The number of fresh processes.
    pub processes: u32,
}

/// A periodic timer, under one set of conditions.
#[apply(wire)]
pub struct PeriodRow {
    /// Identity and status.
    #[serde(flatten)]
    pub head: RowHead,
    /// The conditions of the measurement.
    pub conditions: WaitConditions,
    /// The requested period, in nanoseconds.
    pub period_ns: u64,
    /// Whether the thread blocks until a wake-up, runs a loop, or does both in turn.
    #[serde(default)]
    pub means: WaitActivity,
    /// The results; null if the status is not `ok`.
    pub figures: Option<PeriodFigures>,
}

deref_to_head!(PeriodRow);

#[cfg(test)]
mod tests {
    use super::MissedPolicy;
    use crate::model::BackgroundLoad;

    #[test]
    fn names_equal_serialised_names() {
        for policy in [MissedPolicy::Burst, MissedPolicy::Skip, MissedPolicy::Delay] {
            assert_eq!(serde_json::to_value(policy).unwrap(), policy.name());
        }
        for load in [
            BackgroundLoad::None,
            BackgroundLoad::SameCpu,
            BackgroundLoad::OtherCpu,
        ] {
            assert_eq!(serde_json::to_value(load).unwrap(), load.name());
        }
    }
}
