//! The timer methods that timermeter characterises, one file a family, and the hot loops that
//! question them.
//!
//! A *timer method* is any call that reads a counter ([Kuperberg, Krogmann, Reussner 2011], section
//! 2). The author of one writes a [`Timer`]: what it is called, how it is opened, how it is read.
//! One line in [`catalogue()`] makes it known. The prober sees it as a [`Subject`]: something that
//! can be asked five questions.
//!
//! This crate is the only place of the project that reads real clocks and the only one that holds
//! `unsafe` code.
//!
//! [Kuperberg, Krogmann, Reussner 2011]: https://doi.org/10.1145/1958746.1958776

mod affinity;
pub mod agents;
#[cfg(feature = "allocations")]
pub mod allocations;
pub mod arch;
mod busy;
mod chain;
pub mod clock_sources;
mod context;
mod counters;
mod deadline;
mod kernel_entry;
mod native;
mod null;
pub mod os;
mod paired;
mod properties;
mod quanta_clock;
pub mod raw;
mod std_time;
mod subject;
pub mod timed;
pub mod waits;
mod work;

mod catalogue;
mod entry;

pub use affinity::{Pinned, allowed_cpus, move_process, move_thread, pin_to, unpin};
pub use arch::fence;
pub use busy::Busy;
pub use catalogue::{FLOOR_ID, Reader, catalogue, find, floor, reader, visit};
pub use chain::{CoreFrequency, CoreFrequencyMeter, time_additions, time_multiplications};
pub use context::Context;
pub use deadline::{Deadline, kernel_raw_time, kernel_time};
pub use entry::{Entry, Visitor};
pub use kernel_entry::{KernelEntry, kernel_entry};
pub use native::{Native, RATE_SOURCES, REFERENCES, pass, rate_of};
pub use os::AffinityError;
pub use paired::{PairedReads, paired_reads};
pub use properties::{Counted, Family, Properties, ReadsBy};
pub use std_time::date;
pub use subject::{Advance, Answer, During, Fault, Ordered, Subject};
pub use work::links;

// So that a timer reads the same in this crate and in another one.
extern crate self as timers;

/// Timers by their types, for who compiles a measurement for one of them.
pub mod clocks {
    #[allow(unused_imports, reason = "Windows has none of POSIX")]
    pub use crate::os::posix::by_type::*;
    pub use crate::std_time::StdInstant;
}

/// What a timer method is called and what it declares about itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info {
    /// The id by which the command line and the report know it: lower case, words joined by `-`.
    pub id: &'static str,
    /// The call itself, as its documentation writes it.
    pub label: &'static str,
    /// Nanoseconds in one tick of the values that [`Timer::ticks`] returns; `None` for a raw
    /// counter, whose rate is not declared and has to be found, and for one whose unit only the
    /// machine tells ([`Timer::ns_per_tick`]).
    pub ns_per_tick: Option<f64>,
    /// What its documentation says that it is.
    pub properties: Properties,
}

/// Why a timer method cannot be read on this machine, and what would change that.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Unavailable {
    /// The cause, in the system's own words where it gave any.
    pub reason: String,
    /// What the user can do about it, if anything.
    pub remedy: Option<String>,
    /// Whether other systems or processors have it, and none like this one does.
    pub elsewhere: bool,
}

impl Unavailable {
    /// A cause that cannot be removed on this machine.
    pub fn because(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            remedy: None,
            elsewhere: false,
        }
    }

    /// What only other systems or processors have.
    pub fn elsewhere(reason: impl Into<String>) -> Self {
        Self {
            elsewhere: true,
            ..Self::because(reason)
        }
    }

    /// The same cause with something to try.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

/// A value of a timer, in its own unit. Opaque: only differences mean something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticks(pub u64);

impl Ticks {
    /// How far the timer moved since `earlier`, negative when it went backwards. Differences are
    /// taken on the integers, so they hold across the wrap of the counter.
    #[must_use]
    #[inline(always)]
    pub fn since(self, earlier: Self) -> i64 {
        self.0.wrapping_sub(earlier.0) as i64
    }
}

/// Says what a timer method is called and what it declares about itself. Its row in a table of
/// clocks writes this.
pub trait Described {
    /// Name, label, unit, and what it is.
    const INFO: Info;
}

/// What the author of a timer method writes, and a row in the table of its file.
///
/// [`read`](Timer::read) is all that ever stands in a timed region: it makes the call and keeps the
/// result as the call gives it. [`ticks`](Timer::ticks) turns that into a number afterwards.
pub trait Timer: Described + Sized + Send + Sync + 'static {
    /// The result of the call as it comes: a `timespec`, an `Instant`, a register.
    type Reading: Copy + Send;

    /// Makes the timer ready to be read on this machine, by the calling thread.
    ///
    /// # Errors
    /// Says why this machine does not let the timer be read.
    fn open() -> Result<Self, Unavailable>;

    /// Whether [`open`](Timer::open) would succeed. To be written only where opening is slow.
    ///
    /// # Errors
    /// As for [`open`](Timer::open).
    fn availability() -> Result<(), Unavailable> {
        Self::open().map(drop)
    }

    /// Nanoseconds in one tick, as declared: by [`INFO`](Described::INFO), or by the system while it
    /// runs.
    fn ns_per_tick() -> Option<f64> {
        Self::INFO.ns_per_tick
    }

    /// The resolution that the system declares for it, in nanoseconds, where it declares one
    /// (`clock_getres(2)`).
    fn declared_resolution() -> Option<f64> {
        None
    }

    /// Reads the timer: the call under examination and nothing else. Implementations are
    /// `#[inline(always)]`.
    fn read(&self) -> Self::Reading;

    /// The reading as a number of ticks. Never called in a timed region.
    fn ticks(&self, reading: Self::Reading) -> Ticks;
}

/// Writes a variable into the environment that every process inherits which this one starts from
/// now on, and all that those start: so that they can be told from others, whatever becomes of
/// their parents, groups and sessions. To be called before there is a second thread at work.
pub fn mark_descendants(name: &str, value: &str) {
    // SAFETY: the environment is not read meanwhile, as no other thread is at work.
    unsafe { std::env::set_var(name, value) };
}
