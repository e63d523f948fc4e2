//! What was observed of timers that wait.

use serde::{Deserialize, Serialize};

use super::Reference;

/// One wait, in ticks of the reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// What was asked for, in nanoseconds.
    pub request_ns: u64,
    /// The reference before the call.
    pub before: i64,
    /// The reference after the call.
    pub after: i64,
    /// CPU time of the waiting thread, in nanoseconds, what reading it costs included.
    pub cpu_ns: Option<i64>,
    /// How long the thread was ready to run and had no CPU, in nanoseconds.
    pub run_delay_ns: Option<i64>,
}

impl Wait {
    /// How long it took, in nanoseconds. The subtraction wraps, as counters may.
    #[must_use]
    pub fn took_ns(&self, ns_per_tick: f64) -> f64 {
        self.after.wrapping_sub(self.before) as f64 * ns_per_tick
    }

    /// How much longer than asked for it took, in nanoseconds.
    #[must_use]
    pub fn late_ns(&self, ns_per_tick: f64) -> f64 {
        self.took_ns(ns_per_tick) - self.request_ns as f64
    }
}

/// What one fresh process observed of a timer that waits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WaitRun {
    /// The loop around a wait with nothing in it; empty where the host has no such timer.
    pub empty: Vec<Wait>,
    /// Waits of chosen lengths, 0 and 1 ns among them, in the order in which they were made.
    pub lengths: Vec<Wait>,
    /// Waits of random lengths, a list for each scale of lengths.
    pub scans: Vec<Vec<Wait>>,
    /// Long waits, made while other timers waited too.
    pub long: Vec<Wait>,
    /// Pairs of arming and cancelling, in ticks of the reference.
    pub arms: Vec<i64>,
}

/// What was observed of a timer that waits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WaitTrace {
    /// The clock that timed the waits.
    pub reference: Reference,
    /// Whether the thread blocks, at least at first: only then is run-queue delay part of lateness.
    pub blocks: bool,
    /// One entry a fresh process.
    pub runs: Vec<WaitRun>,
}

/// What one fresh process observed of a periodic timer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeriodRun {
    /// The reference at each wake-up, in its ticks, and how many expirations the timer says that it stands for.
    pub wakeups: Vec<(i64, u64)>,
    /// The wake-ups, counted from 0, after which a stall of 3.5 periods was injected.
    pub stalls: Vec<u32>,
}

/// What was observed of a periodic timer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PeriodTrace {
    /// The clock that timed the wake-ups.
    pub reference: Reference,
    /// The period that was asked for, in nanoseconds.
    pub period_ns: u64,
    /// One entry a fresh process.
    pub runs: Vec<PeriodRun>,
}
