//! The trait of clocks that time an operation, and its implementation for the timers of the
//! catalogue.

use timers::{Timer, Unavailable};

/// A clock that times an operation. Measurements are compiled for the type of their clock, so that
/// no call is dynamic.
pub trait Stopwatch {
    /// The unchanged result of a read.
    type Reading: Copy;

    /// Reads the clock and does nothing else. Called in the timed region; implementations are
    /// `#[inline(always)]`.
    fn read(&self) -> Self::Reading;

    /// The nanoseconds from `first` to `second`; negative if the clock went backwards. Never called
    /// in a timed region.
    fn elapsed_ns(&self, first: Self::Reading, second: Self::Reading) -> f64;
}

/// An open timer of the catalogue with its rate.
#[derive(Debug)]
pub struct Registered<T> {
    timer: T,
    ns_per_tick: f64,
}

/// The reason why an operation cannot be timed with a timer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClockError {
    /// The timer cannot be read on this machine.
    Unavailable {
        /// The id of the timer.
        id: &'static str,
        /// The reason.
        why: Unavailable,
    },
    /// The timer does not move at a constant rate.
    NoRate(&'static str),
}

texts! { ClockError {
    Self::Unavailable { id, why } => "{id} cannot be read: {why}",
    Self::NoRate(id) => "the rate of {id} cannot be found: it does not advance together with the system's clock",
} }

impl<T: Timer> Registered<T> {
    /// Prepares a timer that is open. If its rate is not declared, it is measured, which takes 40 ms.
    ///
    /// # Errors
    /// When the rate of the timer cannot be found.
    pub fn from_timer(timer: T) -> Result<Self, ClockError> {
        let ns_per_tick = timers::find_ns_per_tick(&timer).ok_or(ClockError::NoRate(T::INFO.id))?;
        Ok(Self { timer, ns_per_tick })
    }
}

impl<T: Timer> Stopwatch for Registered<T> {
    type Reading = T::Reading;

    #[inline(always)]
    fn read(&self) -> T::Reading {
        self.timer.read()
    }

    fn elapsed_ns(&self, first: T::Reading, second: T::Reading) -> f64 {
        self.timer.ticks(second).since(self.timer.ticks(first)) as f64 * self.ns_per_tick
    }
}

impl<C: Stopwatch> Stopwatch for &C {
    type Reading = C::Reading;

    #[inline(always)]
    fn read(&self) -> C::Reading {
        C::read(self)
    }

    fn elapsed_ns(&self, first: C::Reading, second: C::Reading) -> f64 {
        C::elapsed_ns(self, first, second)
    }
}
