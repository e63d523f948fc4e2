//! Measures operations with an error bound.
//!
//! A clock whose step and cost are known is read before and after a batch of calls of a closure. The timed region is compiled for the clock and the closure and
//! contains no dynamic calls. The result of the closure passes through
//! [`black_box`](std::hint::black_box), so that the compiler does not remove the calls; the closure
//! should pass its inputs through it for the same reason. The number of calls in a batch depends on
//! the clock: a coarse clock needs longer batches for the same error. The interval of the result
//! includes the error of the clock ([`Budget`](judgement::choice::Budget)) and the variation of the
//! samples.

pub use timers::timed::{clock, operations, window};
pub mod instruments;
pub mod interference;
pub mod summary;
#[cfg(test)]
mod tests;
pub mod trial;
pub mod worker;

pub use clock::{ClockError, Registered, Stopwatch};
pub use instruments::Instrument;
pub use summary::{CallSample, MeasuredOperation};
pub use trial::{Goal, TrialError};
pub use window::{Operation, TimedOperation, WithSetUp};
