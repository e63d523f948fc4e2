//! Measuring operations, with a promise.
//!
//! A [`Stopwatch`] is a clock whose figures are known. It measures closures: two reads with calls
//! between them, compiled for the clock and the closure, so that nothing dynamic stands in the
//! timed region; results go through [`black_box`](std::hint::black_box), what goes in should too.
//! How many calls it takes follows from the clock: a coarse one needs longer batches for the same
//! error. The result has an interval, made of what the clock may do
//! ([`Budget`](crate::method::Budget)) and how the samples vary among themselves.
//!
//! ```
//! use std::hint::black_box;
//! use timermeter::measure::{Goal, Registered, Stopwatch};
//! use timers::clocks::Monotonic;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A step of 1 µs is a safe bound for this clock on any machine of today; `timermeter probe` tells the real one.
//! let watch = Stopwatch::bounded(Registered::<Monotonic>::open()?, 1e3, 1e3);
//! let goal = Goal { error: 0.05, samples: 5, ..Goal::default() };
//! let root = watch.adaptive(|| black_box(2.0_f64).sqrt(), &goal)?;
//! println!("{:.2} ns, {:.1} % at most off", root.summary.mean_ns, root.summary.error * 100.0);
//! # Ok(())
//! # }
//! ```
//!
//! What needs something put back before each call is a [`WithSetUp`]:
//!
//! ```
//! use timermeter::measure::{Goal, Registered, Stopwatch, WithSetUp};
//! use timers::clocks::Monotonic;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let watch = Stopwatch::bounded(Registered::<Monotonic>::open()?, 1e3, 1e3);
//! let sort = WithSetUp {
//!     data: Vec::new(),
//!     set_up: |data: &mut Vec<u32>| *data = (0..1_000).rev().collect(),
//!     call: |data: &mut Vec<u32>| data.sort_unstable(),
//! };
//! let sorted = watch.adaptive(sort, &Goal { error: 0.5, samples: 3, ..Goal::default() })?;
//! assert!(sorted.summary.mean_ns > 0.0);
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "allocations")]
pub mod allocations;
pub use timers::timed::{clock, operations, window};
#[cfg(feature = "criterion")]
pub mod criterion;
pub mod instruments;
pub mod interference;
pub mod stability;
pub mod summary;
pub mod trial;
pub mod worker;

use std::time::Duration;

pub use clock::{Clock, ClockError, Registered};
pub use summary::{Sample, Summary};
pub use trial::{Goal, Measured, TrialError};
pub use window::{Operation, Timed, WithSetUp};

use crate::method::{ClockFigures, Facts, Plan};
use crate::model::Properties;
use window::Pair;

/// A clock whose figures are known.
#[derive(Clone, Debug)]
pub struct Stopwatch<C> {
    clock: C,
    figures: ClockFigures,
}

impl<C: Clock> Stopwatch<C> {
    /// With the figures that a report holds of it ([`ClockFigures::from_row`]).
    pub fn new(clock: C, figures: ClockFigures) -> Self {
        Self { clock, figures }
    }

    /// With bounds for its step and the cost of a read, in nanoseconds, where no report is at hand.
    /// The larger they are, the longer it measures.
    pub fn bounded(clock: C, step_ns: f64, cost_ns: f64) -> Self {
        let figures = ClockFigures {
            id: "given".into(),
            runtime: "native".into(),
            step_ns,
            resolved: false,
            cost_ns: 0.0,
            cost_error_ns: cost_ns,
            adds_ns: None,
            cost_p99_ns: Some(cost_ns),
            spread: None,
            facts: Facts::from_declared(&Properties::default()),
        };
        Self { clock, figures }
    }

    /// Batches that double until they are long enough for this clock; see
    /// [`instruments::adaptive`].
    ///
    /// # Errors
    /// When the limit passes or the clock does not see the operation.
    pub fn adaptive<O: Operation>(
        &self,
        mut operation: O,
        goal: &Goal,
    ) -> Result<Measured, TrialError> {
        instruments::adaptive(&mut self.pair(&mut operation), &self.figures, goal)
    }

    /// How often in a given time; see [`instruments::throughput`].
    ///
    /// # Errors
    /// When the clock is too coarse for that time.
    pub fn throughput<O: Operation>(
        &self,
        mut operation: O,
        goal: &Goal,
        span: Duration,
    ) -> Result<Measured, TrialError> {
        instruments::throughput(&mut self.pair(&mut operation), &self.figures, goal, span)
    }

    /// Single calls, averaged, of an operation that takes roughly `duration_ns`; see
    /// [`instruments::discrete`].
    ///
    /// # Errors
    /// When the step of the clock is not known, or no number of calls would do.
    pub fn edge_crossing<O: Operation>(
        &self,
        mut operation: O,
        goal: &Goal,
        duration_ns: f64,
    ) -> Result<(Plan, Measured), TrialError> {
        instruments::discrete(
            &mut self.pair(&mut operation),
            &self.figures,
            goal,
            duration_ns,
        )
    }

    /// Weighted samples around one length; see [`instruments::micro`].
    ///
    /// # Errors
    /// When the limit passes before enough samples are valid.
    pub fn micro<O: Operation>(
        &self,
        mut operation: O,
        goal: &Goal,
    ) -> Result<Measured, TrialError> {
        instruments::micro(&mut self.pair(&mut operation), &self.figures, goal)
    }

    /// Single calls, each a sample; see [`instruments::macro_trial`].
    ///
    /// # Errors
    /// When one call is too short for this clock.
    pub fn macro_trial<O: Operation>(
        &self,
        mut operation: O,
        goal: &Goal,
    ) -> Result<Measured, TrialError> {
        instruments::macro_trial(&mut self.pair(&mut operation), &self.figures, goal)
    }

    fn pair<'a, O: Operation>(&'a self, operation: &'a mut O) -> Pair<'a, &'a C, O> {
        Pair {
            clock: &self.clock,
            operation,
        }
    }
}
