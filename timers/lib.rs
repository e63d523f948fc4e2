//! The timer methods that timermeter characterises, one file per family, and the hot loops that
//! measure them.
//!
//! A *timer method* is any call that reads a counter ([Kuperberg, Krogmann, Reussner 2011], section
//! 2). Its author implements [`Timer`]: how it is opened, how it is read, and how a reading becomes
//! a number. A row in a table of clocks states its name and its declared properties
//! ([`Described`]), and adds it to the [`catalogue()`]. A measurement uses it as a [`Subject`],
//! which answers questions such as "how long do these reads take?".
//!
//! ```
//! let entry = timers::find("instant").expect("it is on all systems");
//! let mut clock = (entry.open)()?;
//! let readings = clock.readings(2)?;
//! assert!(readings[0] <= readings[1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate is the only part of the project that reads real clocks and the only one with `unsafe`
//! code.
//!
//! [Kuperberg, Krogmann, Reussner 2011]: https://doi.org/10.1145/1958746.1958776

#![allow(
    clippy::disallowed_methods,
    reason = "this crate is where clocks are read"
)]

use std::{fmt, io};

/// Implements `Display`, with a text for each variant, and `Error`.
macro_rules! texts {
    ($error:ty { $($variant:pat => $text:literal,)* }) => {
        impl std::fmt::Display for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $($variant => write!(f, $text),)*
                }
            }
        }

        impl std::error::Error for $error {}
    };
}

mod affinity;
pub mod agents;
pub mod allocations;
pub mod arch;
mod chain;
pub mod clock_sources;
mod context;
mod counters;
mod deadline;
mod kernel_entry;
mod native;
mod null;
pub mod os;
pub mod parts;
mod properties;
#[cfg(feature = "quanta")]
mod quanta_clock;
mod std_time;
mod subject;
pub mod timed;
pub mod waits;
mod work;

mod catalogue;
mod entry;
mod failures;

pub use affinity::{Pinned, allowed_cpus, move_process, move_thread, pin_to, unpin};
pub use arch::fence;
pub use catalogue::{ClockReader, FLOOR_ID, catalogue, find, floor, reader, visit};
pub use chain::{CoreFrequencyMeter, CoreSpeed, time_additions, time_multiplications};
pub use context::Context;
pub use counters::{COUNTER_CLOCKS, COUNTERS, declared_counter_rate};
pub use deadline::{Deadline, kernel_raw_time, kernel_time, pause};
pub use entry::{Entry, Visitor};
pub use failures::{failure, record_failure};
pub use kernel_entry::{KernelEntry, measure_kernel_entry};
pub use native::{Native, RATE_SOURCES, REFERENCES, find_ns_per_tick, pass, unfenced_handoffs};
pub use os::AffinityError;
pub use properties::{Counted, Family, Properties, ReadsBy};
pub use std_time::date;
pub use subject::{Activity, Advance, Answer, BackwardSteps, Fault, Subject};
pub use work::run_chain;

// Lets this crate use the paths `timers::…`, as a timer in another crate does.
extern crate self as timers;

/// The types of some timers. A program that uses this crate as a library names one of them as the
/// type argument of its measurement.
pub mod clocks {
    #[allow(unused_imports, reason = "the module is empty on Windows")]
    pub use crate::os::posix::by_type::*;
    pub use crate::std_time::StdInstant;
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

/// Sets an environment variable that all processes started from now on inherit, directly or
/// indirectly. The variable identifies them even if their parent ended or they left their process
/// group or session. Must be called before a second thread uses the environment.
pub fn mark_descendants(name: &str, value: &str) {
    // SAFETY: no other thread accesses the environment at the same time, because this function is
    // called before there is a second thread that does.
    unsafe { std::env::set_var(name, value) };
}
