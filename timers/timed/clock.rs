//! Clocks to measure with: those of the registry, and any that a user writes.

use timers::{Timer, Unavailable};

/// A clock as a measurement reads it. All calls are static: a measurement is compiled for its
/// clock.
pub trait Clock {
    /// What a read returns, as it comes.
    type Reading: Copy;

    /// Reads the clock, and nothing else. It is the only call in a timed region; implementations
    /// are `#[inline(always)]`.
    fn read(&self) -> Self::Reading;

    /// Nanoseconds from `first` to `second`, negative when the clock went backwards. Never called
    /// in a timed region.
    fn elapsed_ns(&self, first: Self::Reading, second: Self::Reading) -> f64;
}

/// A timer of the registry, opened, with its rate.
#[derive(Debug)]
pub struct Registered<T> {
    timer: T,
    ns_per_tick: f64,
}

/// Why a timer of the registry cannot be measured with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClockError {
    /// The machine does not let it be read.
    #[error("{id} cannot be read: {why}")]
    Unavailable {
        /// The timer.
        id: &'static str,
        /// The reason.
        why: Unavailable,
    },
    /// It does not run at a rate.
    #[error("{0} does not move at a rate that could be found against CLOCK_MONOTONIC")]
    NoRate(&'static str),
}

impl<T: Timer> Registered<T> {
    /// Opens the timer for the calling thread. One that declares no unit is watched for 40 ms to
    /// find its rate.
    ///
    /// # Errors
    /// When it cannot be read, or has no rate.
    pub fn open() -> Result<Self, ClockError> {
        let timer = T::open().map_err(|why| ClockError::Unavailable {
            id: T::INFO.id,
            why,
        })?;
        Self::from_timer(timer)
    }

    /// The same of a timer that is open.
    ///
    /// # Errors
    /// When it has no rate.
    pub fn from_timer(timer: T) -> Result<Self, ClockError> {
        let ns_per_tick = timers::find_ns_per_tick(&timer).ok_or(ClockError::NoRate(T::INFO.id))?;
        Ok(Self { timer, ns_per_tick })
    }
}

impl<T: Timer> Clock for Registered<T> {
    type Reading = T::Reading;

    #[inline(always)]
    fn read(&self) -> T::Reading {
        self.timer.read()
    }

    fn elapsed_ns(&self, first: T::Reading, second: T::Reading) -> f64 {
        self.timer.ticks(second).since(self.timer.ticks(first)) as f64 * self.ns_per_tick
    }
}

impl<C: Clock> Clock for &C {
    type Reading = C::Reading;

    #[inline(always)]
    fn read(&self) -> C::Reading {
        C::read(self)
    }

    fn elapsed_ns(&self, first: C::Reading, second: C::Reading) -> f64 {
        C::elapsed_ns(self, first, second)
    }
}
