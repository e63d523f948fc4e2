//! Measures operations with an error bound.
//!
//! A [`Stopwatch`] is a clock whose step and cost are known. It reads the clock before and after a
//! batch of calls of a closure. The timed region is compiled for the clock and the closure and
//! contains no dynamic calls. The result of the closure passes through
//! [`black_box`](std::hint::black_box), so that the compiler does not remove the calls; the closure
//! should pass its inputs through it for the same reason. The number of calls in a batch depends on
//! the clock: a coarse clock needs longer batches for the same error. The interval of the result
//! includes the error of the clock ([`Budget`](crate::choice::Budget)) and the variation of the
//! samples.
//!
//! ```
//! use std::hint::black_box;
//! use timermeter::measure::{Goal, Instrument, Registered, Stopwatch};
//! use timers::clocks::Monotonic;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A step of 1 µs is a safe bound for this clock; `timermeter probe` measures the actual step.
//! let watch = Stopwatch::bounded(Registered::<Monotonic>::open()?, 1e3, 1e3);
//! let goal = Goal { error: 0.05, samples: 5, ..Goal::default() };
//! let root = watch.measure(Instrument::Adaptive, || black_box(2.0_f64).sqrt(), &goal)?;
//! println!("{:.2} ns, {:.1} % at most off", root.mean_ns.value, root.error * 100.0);
//! # Ok(())
//! # }
//! ```
//!
//! An operation that needs a set-up before each call is a [`WithSetUp`]:
//!
//! ```
//! use timermeter::measure::{Goal, Instrument, Registered, Stopwatch, WithSetUp};
//! use timers::clocks::Monotonic;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let watch = Stopwatch::bounded(Registered::<Monotonic>::open()?, 1e3, 1e3);
//! let sort = WithSetUp {
//!     data: Vec::new(),
//!     set_up: |data: &mut Vec<u32>| *data = (0..1_000).rev().collect(),
//!     call: |data: &mut Vec<u32>| data.sort_unstable(),
//! };
//! let sorted = watch.measure(Instrument::Adaptive, sort, &Goal { error: 0.5, samples: 3, ..Goal::default() })?;
//! assert!(sorted.mean_ns.value > 0.0);
//! # Ok(())
//! # }
//! ```

pub mod allocations;
pub use timers::timed::{clock, operations, window};
pub mod instruments;
pub mod interference;
pub mod summary;
#[cfg(test)]
mod tests;
pub mod trial;
pub mod worker;

pub use clock::{Clock, ClockError, Registered};
pub use instruments::Instrument;
pub use summary::{CallSample, MeasuredOperation};
pub use trial::{Goal, TrialError};
pub use window::{Operation, TimedOperation, WithSetUp};

use crate::choice::{ClockFigures, Facts};
use window::ClockAndOperation;

/// A clock with its known step and cost, which measures operations.
#[derive(Clone, Debug)]
pub struct Stopwatch<C> {
    clock: C,
    figures: ClockFigures,
}

impl<C: Clock> Stopwatch<C> {
    /// Creates a stopwatch with the figures of the clock in a report ([`ClockFigures::from_row`]).
    pub fn new(clock: C, figures: ClockFigures) -> Self {
        Self { clock, figures }
    }

    /// Creates a stopwatch without a report, from upper bounds of the step of the clock and of the
    /// cost of a read, in nanoseconds. With larger bounds, measurements take longer.
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
            facts: Facts::default(),
        };
        Self { clock, figures }
    }

    /// Measures an operation with an instrument.
    ///
    /// # Errors
    /// When the time limit passes, the clock does not move during the operation, or the clock is
    /// too coarse for the goal.
    pub fn measure<O: Operation>(
        &self,
        instrument: Instrument,
        mut operation: O,
        goal: &Goal,
    ) -> Result<MeasuredOperation, TrialError> {
        let mut pair = ClockAndOperation {
            clock: &self.clock,
            operation: &mut operation,
        };
        instruments::measure(instrument, &mut pair, &self.figures, goal)
    }
}
