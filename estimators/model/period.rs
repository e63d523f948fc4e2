//! A periodic timer in a report: its lateness and its rate.
//!
//! The wake-ups of a periodic timer are due at the start and k periods. A loop of relative waits
//! starts a new period after each wake-up: it has no due times.

use timers::waits::WaitActivity;

use super::row::deref_to_head;
use super::{Estimate, Lateness, MAX_RATE_PPM, RowHead, WaitConditions};

/// All results for a periodic timer.
#[apply(wire, Default)]
pub struct PeriodFigures {
    /// Relative difference of its period from the requested one, in ppm.
    pub rate_error_ppm: Option<Estimate>,
    /// How late wake-ups are: from when they were due; without due times, from one period after the
    /// preceding wake-up. Null if it is unknown when the timer was started.
    pub lateness: Option<Lateness>,
    /// The number of expirations; expirations that are reported together count separately.
    pub expirations: u64,
    /// Missed expirations that the timer reports.
    pub missed_reported: u64,
    /// Due times without a wake-up: those that it reports, and those that it loses.
    pub missed: u64,
    /// Whether it is a loop of relative waits, which has no schedule to keep.
    #[serde(default)]
    pub is_loop: bool,
    /// The number of fresh processes.
    pub processes: u32,
}

impl PeriodFigures {
    /// The number of missed expirations that the timer does not report.
    pub fn lost(&self) -> u64 {
        self.missed.saturating_sub(self.missed_reported)
    }

    /// The number of due times, with or without a wake-up.
    pub fn due(&self) -> u64 {
        self.expirations.saturating_add(self.lost())
    }

    /// Whether it has a schedule and keeps it. A loop of relative waits is slow by its lateness.
    pub fn keeps_schedule(&self) -> bool {
        let rate = self.rate_error_ppm;
        !self.is_loop && rate.is_none_or(|ppm| ppm.low().unwrap_or(ppm.value) < MAX_RATE_PPM)
    }
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
