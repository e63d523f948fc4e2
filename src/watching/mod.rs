//! Detects what happened to the clocks of a machine, from samples that the caller takes. All
//! functions are pure.
//!
//! A sample reads MONOTONIC, BOOTTIME, RAW, REALTIME and the CPU counter immediately after each
//! other. The clocks that moved differently show the cause: a suspend moves BOOTTIME and not
//! MONOTONIC, a program that sets the time of day moves REALTIME and not BOOTTIME, a slew moves
//! MONOTONIC relative to RAW, a migration the counter relative to RAW. A pause moves none of them,
//! and is detected by samples that come late.

mod judge;
pub mod kept;
mod pause;
mod rates;
mod samples;
mod story;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::model::Interval;

pub use judge::Judge;
pub use samples::Stability;
pub use story::{sentence, tally};

/// One sample of the clocks. Times are in nanoseconds of the respective clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// The planned time of the sample, on MONOTONIC.
    pub planned: i64,
    /// The kernel's clock that is slewed and never set.
    pub monotonic: i64,
    /// The kernel's clock that also continues during a suspend.
    pub boottime: Option<i64>,
    /// The clock of the clock source, without slewing.
    pub raw: Option<i64>,
    /// The time of day.
    pub realtime: Option<i64>,
    /// The CPU counter, in ticks.
    pub counter: Option<u64>,
    /// Time from the first read to the last, in nanoseconds: the error of offsets between two of
    /// the clocks.
    pub took: i64,
    /// Whether the process was continued (SIGCONT) since the last sample.
    pub continued: bool,
    /// Total time for which this thread was ready to run but had no CPU, since its start, in
    /// nanoseconds.
    pub waited: Option<u64>,
    /// The correction that the kernel applies to the rate of its clocks, in ppm.
    pub trim_ppm: Option<f64>,
    /// Seconds by which TAI is ahead of the time of day, according to the kernel.
    pub tai_offset_s: Option<i64>,
    /// The state of the machine; read from time to time, and whenever a sample is late.
    pub machine: Option<Machine>,
}

impl Look {
    /// Drops the state of the machine and keeps the clocks.
    fn without_machine(mut self) -> Self {
        self.machine = None;
        self
    }
}

/// The state of a machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// The current clock source.
    pub source: Option<String>,
    /// The available clock sources.
    pub sources: Vec<String>,
    /// Interrupts since the machine was started.
    pub interrupts: Option<u64>,
    /// CPU time that the host took since the machine was started, in nanoseconds.
    pub stolen_ns: Option<u64>,
    /// The clock that runs while the machine is off (RTC), in seconds.
    pub rtc_s: Option<i64>,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// A sample came late, although all clocks continued.
    Pause,
    /// MONOTONIC stood still, BOOTTIME did not.
    Suspend,
    /// All clocks except the RTC stood still.
    Frozen,
    /// The time of day was set.
    Step,
    /// The rate of MONOTONIC relative to RAW changed.
    Slew,
    /// The clock source changed.
    Source,
    /// The CPU counter jumped relative to RAW.
    CounterJump,
    /// The rate of the CPU counter relative to RAW changed.
    CounterRate,
}

/// The cause of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Only this process was stopped, by a signal, a debugger or its control group; the machine
    /// continued.
    Process,
    /// This machine gave its CPU to other threads.
    Scheduler,
    /// The host gave the CPU to other guests and reports this (stolen time).
    Host,
    /// The whole machine stood still: its host, its firmware or its kernel.
    Machine,
    /// The machine slept.
    Suspend,
    /// The time of day was set, by a program or a person.
    ClockSet,
    /// A leap second.
    LeapSecond,
    /// A program set another rate (adjtimex), as a time service does.
    Discipline,
    /// The kernel slews in an offset at its own rate (adjtime).
    Kernel,
    /// The kernel rejected the clock source.
    KernelGaveUp,
    /// The clock source was chosen by hand.
    Chosen,
    /// The counter was set: by the host, which may have moved the machine, or by firmware.
    Counter,
    /// The machine was moved to another host, or reset to a snapshot: it paused and its counter
    /// jumped.
    Migration,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The kind of the event.
    pub kind: EventKind,
    /// The cause of the event.
    pub cause: Cause,
    /// The time of day after the event, in seconds since 1970.
    pub at_s: f64,
    /// Seconds since the watch began, on the clock that continues during a suspend.
    pub since_s: f64,
    /// The size of the event: seconds of time, or parts per million of rate.
    pub size: Option<Interval>,
    /// The unit of `size`: `s` or `ppm`.
    pub unit: String,
    /// Additional information, such as `tsc → hpet`.
    pub note: String,
}
