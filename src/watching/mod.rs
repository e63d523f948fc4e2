//! What happened to the clocks of a machine while they were looked at: pure judgements of looks
//! that others take.
//!
//! A look reads MONOTONIC, BOOTTIME, RAW, REALTIME and the counter of the CPU one right after the
//! other. What one of them did and the others did not tells the cause: a suspend moves BOOTTIME
//! and not MONOTONIC, a program that sets the time of day moves REALTIME and not BOOTTIME, a slew
//! moves MONOTONIC against RAW, a migration the counter against RAW. A pause moves none of them,
//! and is detected by looks that come late.

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

/// One look at the clocks. Times are in nanoseconds, each of its own clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// When it was to be taken, by MONOTONIC.
    pub planned: i64,
    /// The kernel's clock that is slewed and never set.
    pub monotonic: i64,
    /// The same, and it goes on in a suspend.
    pub boottime: Option<i64>,
    /// What the clock source says, unslewed.
    pub raw: Option<i64>,
    /// The time of day.
    pub realtime: Option<i64>,
    /// The counter of the CPU, in its own ticks.
    pub counter: Option<u64>,
    /// From the first read to the last: offsets between two of them are known that well.
    pub took: i64,
    /// Whether the process was continued (SIGCONT) since the last look.
    pub continued: bool,
    /// How long this thread was ready to run and did not get a CPU, since it began.
    pub waited: Option<u64>,
    /// By how much the kernel trims the rate of its clocks, in ppm.
    pub trim_ppm: Option<f64>,
    /// Seconds by which TAI is ahead of the time of day, as the kernel has it.
    pub tai_offset_s: Option<i64>,
    /// What the machine says of itself; looked at now and then, and whenever a look is late.
    pub machine: Option<Machine>,
}

impl Look {
    /// What is kept of it: all but what the machine says.
    fn of_clocks(mut self) -> Self {
        self.machine = None;
        self
    }
}

/// What a machine says of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// The clock source.
    pub source: Option<String>,
    /// Those that could be used.
    pub sources: Vec<String>,
    /// Interrupts since the machine was started.
    pub interrupts: Option<u64>,
    /// CPU time that the host took, since the machine was started.
    pub stolen_ns: Option<u64>,
    /// The clock that goes on without the machine (RTC), in seconds.
    pub rtc_s: Option<i64>,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// A look came late, though all clocks went on.
    Pause,
    /// MONOTONIC stood still, BOOTTIME did not.
    Suspend,
    /// All clocks stood still but the RTC.
    Frozen,
    /// The time of day was set.
    Step,
    /// The rate of MONOTONIC against RAW changed.
    Slew,
    /// The clock source changed.
    Source,
    /// The counter of the CPU jumped against RAW.
    CounterJump,
    /// The rate of the counter of the CPU against RAW changed.
    CounterRate,
}

/// What caused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// This process alone was stopped, by a signal, a debugger or its control group: the machine
    /// went on.
    Process,
    /// This machine gave its CPU to other threads.
    Scheduler,
    /// The host gave the CPU to others, and says so (stolen time).
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
    /// The kernel gave the clock source up.
    KernelGaveUp,
    /// The clock source was chosen by hand.
    Chosen,
    /// The counter was set: by the host, which may have moved the machine, or by firmware.
    Counter,
    /// The machine was moved to another host, or set back to a snapshot: a pause and a counter that
    /// jumped.
    Migration,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// What caused it.
    pub cause: Cause,
    /// The time of day after it, in seconds since 1970.
    pub at_s: f64,
    /// Seconds since the watch began, by the clock that goes on in a suspend.
    pub since_s: f64,
    /// How much: seconds of time, or parts per million of rate.
    pub size: Option<Interval>,
    /// `s` or `ppm`.
    pub unit: String,
    /// What else is known, as in `tsc → hpet`.
    pub note: String,
}
