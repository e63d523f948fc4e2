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
//!     fn visit<T: Timer>(self, timer: T) -> Self::Output {
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

use criterion::Throughput;
use criterion::measurement::{Measurement, ValueFormatter};

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
        &Nanoseconds
    }
}

/// Formats times in nanoseconds with a suitable unit.
struct Nanoseconds;

/// Returns the unit for times of about `typical` nanoseconds: its size in nanoseconds, and its
/// name.
fn choose_unit(typical: f64) -> (f64, &'static str) {
    match typical {
        ns if ns < 1.0 => (1e-3, "ps"),
        ns if ns < 1e3 => (1.0, "ns"),
        ns if ns < 1e6 => (1e3, "µs"),
        ns if ns < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

impl ValueFormatter for Nanoseconds {
    fn scale_values(&self, typical: f64, values: &mut [f64]) -> &'static str {
        let (size, name) = choose_unit(typical);
        values.iter_mut().for_each(|value| *value /= size);
        name
    }

    fn scale_throughputs(
        &self,
        _typical: f64,
        throughput: &Throughput,
        values: &mut [f64],
    ) -> &'static str {
        let (count, name) = match *throughput {
            Throughput::Bytes(bytes) | Throughput::BytesDecimal(bytes) => (bytes as f64, "B/s"),
            Throughput::Elements(elements) => (elements as f64, "elem/s"),
            Throughput::Bits(bits) => (bits as f64, "bit/s"),
            Throughput::ElementsAndBytes { elements, .. } => (elements as f64, "elem/s"),
        };
        values
            .iter_mut()
            .for_each(|value| *value = count * 1e9 / *value);
        name
    }

    fn scale_for_machines(&self, _values: &mut [f64]) -> &'static str {
        "ns"
    }
}
