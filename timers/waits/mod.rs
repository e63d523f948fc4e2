//! Wait methods: sleep primitives, which return once a requested time has passed, and periodic
//! timers, which return once per period. One file per family.
//!
//! A campaign measures each method as a [`Subject`]: an object that can wait or fire periodically.

pub(crate) mod method;
mod observe;
mod spinning;
mod standard;

use std::sync::LazyLock;

use crate::os::{self, CommonClock};
use crate::{Available, Described, Subject};
use method::WaitMethod;

/// The id of the entry that does not wait, which measures the overhead of the measuring loop.
pub const FLOOR_ID: &str = "nothing";

/// Every sleep primitive and periodic timer known to this build, available on this machine or not.
/// A new one is a row in the table of its family.
pub fn catalogue() -> &'static [WaitEntry] {
    static ALL: LazyLock<Vec<WaitEntry>> =
        LazyLock::new(|| [os::linux_waits::ALL, standard::ALL, spinning::ALL].concat());
    &ALL
}

/// The entry that does not wait, which measures the overhead of the measuring loop. It is not part
/// of the [`catalogue`], so that it is never selected.
pub fn floor() -> WaitEntry {
    standard::FLOOR
}

/// The entry with the given id, [`floor`] included; `None` if there is none.
pub fn find(id: &str) -> Option<WaitEntry> {
    let mut all = catalogue().iter().copied().chain([floor()]);
    all.find(|entry| entry.info.id == id)
}

/// The default reference for waits, which a campaign uses if the host has it: the clock that runs
/// at the rate of the kernel's timers.
pub const REFERENCE_ID: &str = CommonClock::INFO.id;

/// The name and the declared properties of a wait method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaitInfo {
    /// The id on the command line and in the report: lower case, words joined by `-`.
    pub id: &'static str,
    /// The call itself, as its documentation writes it.
    pub label: &'static str,
    /// The activity of the calling thread during the wait.
    pub activity: WaitActivity,
    /// The unit of requests in nanoseconds: 1 for a `timespec`, 1 000 000 for milliseconds.
    pub unit_ns: u64,
}

/// The activity of a thread during a wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Means")
)]
pub enum WaitActivity {
    /// The thread blocks: another thread may run on the CPU.
    #[default]
    Blocks,
    /// The thread runs a loop until the time has passed.
    Spins,
    /// The thread blocks first and runs a loop at the end.
    Hybrid,
}

/// A catalogue entry for a wait method.
#[derive(Clone, Copy)]
pub struct WaitEntry {
    /// Id, label and declared properties.
    pub info: WaitInfo,
    /// The supported measurements.
    pub supports: Supported,
    /// Opens the method; the argument is the label used in error messages.
    pub(crate) method: fn(&'static str) -> Available<Box<dyn WaitMethod>>,
}

impl WaitEntry {
    /// Checks that the method can be used on this machine.
    ///
    /// # Errors
    /// The reason why the method is unavailable.
    pub fn availability(&self) -> Available {
        (self.method)(self.info.label).map(drop)
    }

    /// Prepares measurements. Each opens the method again, so that what the method changes in the
    /// calling thread lasts as long as the measurement.
    ///
    /// # Errors
    /// The reason why the method is unavailable.
    pub fn open(&self) -> Available<Box<dyn Subject>> {
        self.availability()?;
        Ok(Box::new(*self))
    }
}

/// The measurements that a wait method supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Supported {
    /// Supports [`Subject::waits`].
    pub waits: bool,
    /// Supports [`Subject::periods`].
    pub periods: bool,
}

impl Supported {
    pub(crate) const PERIODS: Self = Self {
        waits: false,
        periods: true,
    };
    pub(crate) const WAITS_AND_PERIODS: Self = Self {
        waits: true,
        ..Self::PERIODS
    };
    pub(crate) const WAITS: Self = Self {
        periods: false,
        ..Self::WAITS_AND_PERIODS
    };
}

/// Waits to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitList<'a> {
    /// The length of each wait in nanoseconds, in the order in which the waits are made.
    pub lengths_ns: &'a [u64],
    /// The maximum of the random pause before each wait, in nanoseconds. The pause makes waits
    /// begin at random phases of the underlying timer.
    pub pause_ns: u64,
}

/// The measurement of one wait: one call of a sleep primitive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Wait {
    /// The requested length, in nanoseconds.
    pub request_ns: u64,
    /// The reference clock before the call, in ticks of that clock.
    pub before: i64,
    /// The reference clock after the call, in ticks of that clock.
    pub after: i64,
    /// The CPU time of the calling thread from `before` to `after`, in nanoseconds; it includes the
    /// cost of reading the CPU time. `None` if the host cannot read it.
    pub cpu_ns: Option<i64>,
    /// How often a signal ended the call early and the host waited again, for the rest of the time;
    /// 0 if the host does not count them.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
    pub signals: u32,
}

/// Whether a number is left out of traces.
#[cfg(feature = "serde")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Wait {
    /// The lateness: duration minus requested length, in nanoseconds. The subtraction of readings
    /// wraps, because the reference may be a counter that has passed its largest value.
    pub fn late_ns(&self, ns_per_tick: f64) -> f64 {
        self.after.wrapping_sub(self.before) as f64 * ns_per_tick - self.request_ns as f64
    }
}

/// The wake-ups of a periodic timer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wakeups {
    /// When the timer was armed.
    pub start: Start,
    /// The wake-ups, in their order.
    pub list: Vec<Expiration>,
}

/// When a periodic timer was armed: its due times are one period apart from then on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(untagged)
)]
pub enum Start {
    /// It has no due times: a loop of relative waits, in which a period begins with each wake-up.
    Relative,
    /// Between these two readings of the reference, in its ticks.
    Between([i64; 2]),
    /// It was not recorded.
    #[default]
    #[cfg_attr(feature = "serde", serde(skip))]
    Unknown,
}

impl Start {
    /// Whether it was not recorded.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

/// One wake-up of a periodic timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expiration {
    /// The reference clock at the wake-up, in ticks of that clock.
    pub at: i64,
    /// The number of expirations that the timer reports for this wake-up; 1 if it reports no
    /// number.
    pub expirations: u64,
}
