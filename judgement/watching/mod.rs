//! Detects what happened to the clocks of a machine, from samples that the caller takes. All
//! functions are pure.
//!
//! A sample reads CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_MONOTONIC_RAW (short: RAW) and
//! CLOCK_REALTIME (the time of day) immediately after each other. A suspend moves BOOTTIME relative
//! to MONOTONIC, a program that sets the time of day moves REALTIME relative to BOOTTIME, and a
//! slew, a small change of the kernel's clock rate, moves MONOTONIC relative to RAW. A pause moves
//! none of the clocks; it is detected because a sample comes late.

mod judge;
pub mod log;
mod slews;
#[cfg(test)]
mod tests;
mod wording;

use serde::{Deserialize, Serialize};

use estimators::model::{ClockSource, Estimate};

pub use judge::Judge;
pub use wording::describe;

/// One sample of the clocks. Times are in nanoseconds of the respective clock.
#[derive(Debug, Default)]
pub struct ClockSample {
    /// The planned time of the sample, on CLOCK_MONOTONIC.
    pub planned: i64,
    /// CLOCK_MONOTONIC, which is slewed and never set.
    pub monotonic: i64,
    /// CLOCK_BOOTTIME, which also continues during a suspend.
    pub boottime: Option<i64>,
    /// CLOCK_MONOTONIC_RAW, which is never slewed.
    pub raw: Option<i64>,
    /// CLOCK_REALTIME, the time of day since 1970.
    pub realtime: Option<i64>,
    /// The largest error of an offset between two clocks of the sample.
    pub duration_ns: i64,
    /// The total times, in nanoseconds, for which CPU quotas, the hypervisor (steal time) and other
    /// threads kept this thread from running; `None` if not read or not reported.
    pub lost_ns: [Option<u64>; 3],
    /// The correction that the kernel applies to the rate of its clocks, in ppm.
    pub trim_ppm: Option<f64>,
    /// Seconds by which TAI, the time scale without leap seconds, is ahead of the time of day.
    pub tai_offset_s: Option<i64>,
    /// The clock source, if it was read with this sample.
    pub source: Option<ClockSource>,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// A sample came late, although all clocks continued.
    Pause,
    /// MONOTONIC stood still while BOOTTIME continued.
    Suspend,
    /// The time of day was set.
    Step,
    /// The rate of MONOTONIC relative to RAW changed.
    Slew,
    /// The clock source changed.
    Source,
    /// An event that another version reported.
    #[serde(other)]
    Other,
}

/// The cause of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The control group of this process had used up its CPU quota.
    Quota,
    /// The host gave the CPU to other guests and reports this (steal time).
    Host,
    /// This machine gave its CPU to other threads.
    Scheduler,
    /// The machine was suspended.
    Suspend,
    /// A program or a person set the time of day.
    ClockSet,
    /// A leap second.
    LeapSecond,
    /// A program, usually a time service, set another rate (adjtimex).
    Discipline,
    /// The kernel corrects an offset by running its clock at another rate for a while (adjtime).
    Kernel,
    /// The kernel rejected the previous clock source, which is no longer available.
    KernelGaveUp,
    /// A person or a program chose another clock source; the previous one is still available.
    Chosen,
    /// The kernel does not know the cause.
    #[serde(other)]
    Unknown,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockEvent {
    /// The kind of the event.
    pub kind: EventKind,
    /// The cause of the event.
    pub cause: Cause,
    /// The time of day after the event, in seconds since 1970.
    pub at_s: f64,
    /// The size of the event: seconds of time, or for slews parts per million of rate.
    pub size: Option<Estimate>,
    /// The old and new clock source, such as `tsc → hpet`; otherwise empty.
    pub note: String,
}
