//! Detects what happened to the clocks of a machine, from samples that the caller takes. All
//! functions are pure.
//!
//! A sample reads five clocks immediately after each other: the kernel's clocks CLOCK_MONOTONIC,
//! CLOCK_BOOTTIME, CLOCK_MONOTONIC_RAW (short: RAW) and CLOCK_REALTIME (the time of day), and the
//! CPU counter. An event changes the offset between two of these clocks, which shows its cause:
//!
//! - A suspend of the machine moves BOOTTIME forward relative to MONOTONIC.
//! - A program that sets the time of day moves REALTIME relative to BOOTTIME.
//! - A slew, a small change of the kernel's clock rate, moves MONOTONIC relative to RAW.
//! - A migration of a virtual machine to another host moves the CPU counter relative to RAW.
//! - A pause moves none of the clocks; it is detected because a sample comes late.
//! - A machine that is restored from a snapshot stood still with its clocks, which the real-time
//!   clock (RTC) shows; or its clocks followed those of the host, but its counter did not.

mod judge;
pub mod log;
mod offsets;
mod pause;
mod rates;
mod rtc;
mod series;
#[cfg(test)]
mod tests;
mod wording;

use serde::{Deserialize, Serialize};

use crate::model::{Interval, VmClock};

pub use judge::Judge;
pub use series::EventSeries;
pub use wording::{describe, describe_all_series, describe_pauses, describe_series, tally};

/// One sample of the clocks. Times are in nanoseconds of the respective clock.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// The CPU counter, in ticks.
    pub counter: Option<u64>,
    /// Time from the first read of the sample to the last, in nanoseconds. An offset between two
    /// clocks of the sample has at most this error.
    pub duration_ns: i64,
    /// Whether the process was continued (SIGCONT) since the last sample.
    pub continued: bool,
    /// Whether the thread slept in one piece until the sample: it was not stopped, and waited for
    /// nothing else. `None` if this is unknown.
    pub slept_through: Option<bool>,
    /// Total time, in nanoseconds, for which this thread has been ready to run but had no CPU since
    /// it started.
    pub run_queue_ns: Option<u64>,
    /// Total time, in nanoseconds, for which CPU quotas have kept the control groups of this process
    /// from running, summed over CPUs.
    pub throttled_ns: Option<u64>,
    /// The correction that the kernel applies to the rate of its clocks, in ppm.
    pub trim_ppm: Option<f64>,
    /// Seconds by which TAI, the time scale without leap seconds, is ahead of the time of day,
    /// according to the kernel.
    pub tai_offset_s: Option<i64>,
    /// The state of the machine, which is read every two seconds and whenever a sample is late;
    /// `None` if it was not read with this sample.
    pub machine: Option<MachineState>,
}

impl ClockSample {
    /// Drops the state of the machine and keeps the clocks.
    fn without_machine(mut self) -> Self {
        self.machine = None;
        self
    }
}

/// The state of a machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineState {
    /// The current clock source.
    pub source: Option<String>,
    /// The available clock sources.
    pub sources: Vec<String>,
    /// Interrupts since the machine was started.
    pub interrupts: Option<u64>,
    /// Time, in nanoseconds since the machine was started, for which the hypervisor ran something
    /// else although a CPU of this machine had work (steal time).
    pub stolen_ns: Option<u64>,
    /// The real-time clock (RTC), which also runs while the machine is off, in seconds.
    pub rtc_s: Option<i64>,
    /// Whether a time service keeps the time of day synchronised, according to the kernel.
    pub synchronised: Option<bool>,
    /// The page of the VMClock device.
    pub vmclock: Option<VmClock>,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// A sample came late, although all clocks continued.
    Pause,
    /// MONOTONIC stood still while BOOTTIME continued.
    Suspend,
    /// The kernel's clocks stood still, by the RTC.
    Frozen,
    /// The rate of the kernel's clocks differs from that of the RTC.
    RtcRate,
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
    /// The VMClock device reports that the counter was disrupted or the machine restored.
    Moved,
}

/// The cause of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Only this process was stopped, by a signal, a debugger or its control group; the machine
    /// continued.
    Process,
    /// The control group of this process had used up its CPU quota.
    Quota,
    /// This machine gave its CPU to other threads.
    Scheduler,
    /// The host gave the CPU to other guests and reports this (steal time).
    Host,
    /// The whole machine stood still: its host, its firmware or its kernel.
    Machine,
    /// Nothing shows the cause, such as whether this process or the machine stood still.
    Unknown,
    /// The machine was suspended.
    Suspend,
    /// The time of day was set, by a program or a person.
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
    /// The host or the firmware set the counter.
    Counter,
    /// The machine was moved to another host or reset to a snapshot. It paused, and its counter
    /// jumped.
    Migration,
    /// The machine was restored from a snapshot.
    Restored,
    /// The RTC is wrong, if the time service that synchronises the time of day is right.
    Rtc,
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
    /// Seconds since the watch began, on the clock that continues during a suspend.
    pub since_s: f64,
    /// The size of the event: seconds of time, or parts per million of rate.
    pub size: Option<Interval>,
    /// The unit of `size`: `s` or `ppm`.
    pub unit: String,
    /// How long a changed rate lasted, in seconds; `None` for other events, if the rate is still
    /// changed, and if the beginning was not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Interval>,
    /// The old and new clock source, such as `tsc → hpet`, or another detail; often empty.
    pub note: String,
    /// The series of events at regular times to which the event belongs, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<EventSeries>,
}
