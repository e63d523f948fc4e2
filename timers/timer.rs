//! What the author of a timer method implements: how it is opened, how it is read, and how a reading
//! becomes a number.

use std::{fmt, io};

use crate::Properties;

/// Whether a tick may take so many nanoseconds, up to 30 years. *Definition*: reports hold no others.
pub fn is_tick(ns: f64) -> bool {
    (1e-9..=1e18).contains(&ns)
}

/// The name and the declared properties of a timer method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info {
    /// The id on the command line and in the report: lower case, words joined by `-`.
    pub id: &'static str,
    /// The call itself, as its documentation writes it.
    pub label: &'static str,
    /// The nanoseconds per tick of the values that [`Timer::ticks`] returns. `None` for a raw
    /// counter, whose rate must be measured, and for a timer whose unit depends on the machine
    /// ([`Timer::ns_per_tick`]).
    pub ns_per_tick: Option<f64>,
    /// The properties that the documentation of the timer promises.
    pub properties: Properties,
}

/// The reason why a timer method cannot be read on this machine, and a remedy if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// The cause, with the system's error message if there is one.
    pub reason: String,
    /// An action by which the user can make the timer readable; `None` if there is none.
    pub remedy: Option<String>,
    /// Whether only other operating systems or processors have the timer.
    pub elsewhere: bool,
}

texts! { Unavailable {
    Self { reason, .. } => "{reason}",
} }

/// What was asked for, or why the timer is unavailable.
pub type Available<T = ()> = Result<T, Unavailable>;

impl Unavailable {
    /// A cause without a remedy; [`remedy`](Self::remedy) adds one.
    pub fn because(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            remedy: None,
            elsewhere: false,
        }
    }

    /// A failed call, with the system's error message.
    pub fn failed_call(call: impl fmt::Display, error: &io::Error) -> Self {
        Self::because(format!("{call}: {error}"))
    }

    /// A timer that only other operating systems or processors have.
    pub fn elsewhere(reason: impl Into<String>) -> Self {
        Self {
            elsewhere: true,
            ..Self::because(reason)
        }
    }

    /// Adds a remedy.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

/// A reading of a timer in its own unit. Only differences of readings have a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticks(pub u64);

impl Ticks {
    /// The ticks from `earlier` to this reading; negative if the timer went backwards. Correct also
    /// if a counter of 64 bits wrapped around between the readings; a narrower counter then seems
    /// to go backwards.
    #[must_use]
    #[inline(always)]
    pub fn since(self, earlier: Self) -> i64 {
        self.0.wrapping_sub(earlier.0) as i64
    }
}

/// The name and the declared properties of a timer method. The macro that defines the table of
/// clocks implements this trait.
pub trait Described {
    /// Id, label, unit and declared properties.
    const INFO: Info;
}

/// The trait that the author of a timer method implements.
///
/// In a timed region only [`read`](Timer::read) is called, which returns the result of the call
/// unchanged. [`ticks`](Timer::ticks) converts the result to a number afterwards.
pub trait Timer: Described + Sized + Send + Sync {
    /// The unchanged result of the call: a `timespec`, an `Instant`, a register.
    type Reading: Copy + Send;

    /// Prepares the timer for reads by the calling thread.
    ///
    /// # Errors
    /// When the timer cannot be read on this machine.
    fn open() -> Available<Self>;

    /// Checks that [`open`](Timer::open) would succeed. A timer overrides this method only if
    /// opening it is slow.
    ///
    /// # Errors
    /// As for [`open`](Timer::open).
    fn availability() -> Available {
        Self::open().map(drop)
    }

    /// The nanoseconds per tick, as declared by [`INFO`](Described::INFO) or by the system at run
    /// time; `None` if not declared.
    fn ns_per_tick() -> Option<f64> {
        Self::INFO.ns_per_tick
    }

    /// The resolution in nanoseconds that the system declares (`clock_getres(2)`); `None` if not
    /// declared.
    fn declared_resolution() -> Option<f64> {
        None
    }

    /// Reads the timer: makes the call that is measured and nothing else. If that fails, calls
    /// [`record_failure`]. Implementations are `#[inline(always)]`.
    fn read(&self) -> Self::Reading;

    /// Converts a reading to ticks, and calls [`record_failure`] if it is none. Never called in a
    /// timed region.
    fn ticks(&self, reading: Self::Reading) -> Ticks;
}
