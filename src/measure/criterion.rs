//! Lets the benchmark library criterion measure with any clock.
//!
//! If the clock is known at compile time, open it by its type:
//!
//! ```
//! use criterion::Criterion;
//! use timermeter::measure::Registered;
//! use timermeter::measure::criterion::ClockTime;
//! use timers::clocks::ThreadCputime;
//!
//! # fn main() -> Result<(), timermeter::measure::ClockError> {
//! let clock = Registered::<ThreadCputime>::open()?;
//! let criterion = Criterion::default().with_measurement(ClockTime(clock));
//! # let _ = criterion;
//! # Ok(())
//! # }
//! ```
//!
//! If the clock is chosen at run time, pass a visitor to [`timers::visit`]. The visitor is compiled
//! for each timer, so that no read is a dynamic call. `benches/clocks.rs` is a complete benchmark.
//!
//! ```
//! use criterion::Criterion;
//! use timermeter::measure::{ClockError, Registered};
//! use timermeter::measure::criterion::ClockTime;
//! use timers::{Timer, Visitor};
//!
//! struct Benchmarks;
//!
//! impl Visitor for Benchmarks {
//!     type Output = Result<(), ClockError>;
//!
//!     fn visit<T: Timer + 'static>(self, timer: T) -> Self::Output {
//!         let mut criterion = Criterion::default().with_measurement(ClockTime(Registered::from_timer(timer)?));
//!         // criterion.bench_function(…)
//!         # let _ = &mut criterion;
//!         Ok(())
//!     }
//! }
//!
//! let outcome = timers::visit("monotonic", Benchmarks).expect("the id exists").expect("it can be read");
//! assert_eq!(outcome, Ok(()));
//! ```

use criterion::measurement::{Measurement, ValueFormatter, WallTime};

use super::clock::Clock;

/// A clock that criterion measures with: `Criterion::default().with_measurement(ClockTime(clock))`.
#[derive(Clone, Copy, Debug)]
pub struct ClockTime<C>(pub C);

impl<C: Clock> Measurement for ClockTime<C> {
    type Intermediate = C::Reading;
    /// Elapsed time in nanoseconds.
    type Value = f64;

    fn start(&self) -> C::Reading {
        timers::fence();
        let reading = self.0.read();
        timers::fence();
        reading
    }

    fn end(&self, first: C::Reading) -> f64 {
        timers::fence();
        let second = self.0.read();
        // Criterion takes the logarithm of the result, which must therefore be above 0.
        self.0.elapsed_ns(first, second).max(f64::MIN_POSITIVE)
    }

    fn add(&self, a: &f64, b: &f64) -> f64 {
        a + b
    }

    fn zero(&self) -> f64 {
        0.0
    }

    fn to_f64(&self, value: &f64) -> f64 {
        *value
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        // It formats times in nanoseconds.
        const WALL_TIME: &WallTime = &WallTime;
        WALL_TIME.formatter()
    }
}
