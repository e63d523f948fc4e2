//! Waits to measure, and what is observed of them.

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
    /// For each wake-up, the reading of the reference, in its ticks, and the number of expirations
    /// that the timer reports.
    pub list: Vec<(i64, u64)>,
    /// The CPU time of the thread for all of them, in nanoseconds; `None` if the host cannot read it.
    pub cpu_ns: Option<i64>,
    /// How often a signal ended a wait early and the host waited again; 0 if the host does not count
    /// them.
    pub signals: u32,
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
    pub fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}
