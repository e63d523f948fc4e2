//! A periodic timer in a report: its rate, its jitter, what becomes of missed expirations.

use super::row::headed;
use super::{Interval, RowHead, WaitConditions};

/// What a periodic timer does with the expirations that its thread was too busy for.
#[apply(names)]
pub enum MissedPolicy {
    /// It makes up for them at once, one after the other, and is back on its grid.
    Burst = "burst",
    /// It leaves them out and goes on with the next point of its grid.
    Skip = "skip",
    /// It goes on a period after the late one: its grid has moved.
    Delay = "delay",
}

/// Everything that was found out of a periodic timer.
#[apply(wire)]
#[derive(Default)]
pub struct PeriodFigures {
    /// How much longer its period is than the one asked for, in ppm.
    pub rate_error_ppm: Option<Interval>,
    /// Median of |interval − period|, in nanoseconds.
    pub jitter_p50_ns: Option<Interval>,
    /// 99th percentile of |interval − period|, in nanoseconds; from 500 intervals on.
    pub jitter_p99_ns: Option<Interval>,
    /// Median lateness to its own grid, in nanoseconds.
    pub lateness_p50_ns: Option<Interval>,
    /// 99th percentile of that; from 500 wake-ups on.
    pub lateness_p99_ns: Option<Interval>,
    /// The latest wake-up that no stall was injected before, in nanoseconds.
    pub max_ns: Option<f64>,
    /// Expirations, those that it reports at once counted singly.
    pub expirations: u64,
    /// Wake-ups.
    pub wakeups: u64,
    /// Expirations that the timer says it missed.
    pub missed_reported: u64,
    /// Points of its grid at which nothing woke up.
    pub missed: u64,
    /// Stalls that were injected, of 3.5 periods each.
    pub stalls: u32,
    /// What it does after a stall; null where that could not be told.
    pub policy: Option<MissedPolicy>,
    /// Fresh processes.
    pub processes: u32,
}

/// A periodic timer, under one set of conditions.
#[apply(wire)]
pub struct PeriodRow {
    /// Who was measured, and how that ended.
    #[serde(flatten)]
    pub head: RowHead,
    /// Under what it ticked.
    pub conditions: WaitConditions,
    /// The period that was asked for, in nanoseconds.
    pub period_ns: u64,
    /// What was found; null when it is not `ok`.
    pub figures: Option<PeriodFigures>,
}

headed!(PeriodRow);

#[cfg(test)]
mod tests {
    use super::MissedPolicy;
    use crate::model::BackgroundLoad;

    #[test]
    fn names_are_those_of_reports() {
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
