//! Reports frequencies: the nominal frequency, the rate of the time stamp counter, and the
//! frequency at which a core runs.

mod effective;
mod summary;

use std::borrow::Cow;

pub use effective::{Chains, measure_effective};
pub use summary::{CyclesFrom, KnownFrequencies, summarise};
use timers::Subject;

use super::cpu;
use crate::quantity::parse_frequency;
use estimators::model::Hertz;
use estimators::rate::tightest;

/// The nominal frequency and its source: CPUID leaf 0x16, else the brand string. Most AMD and Arm
/// processors declare none.
pub fn nominal() -> Option<(Hertz, Cow<'static, str>)> {
    let declared = timers::arch::identity().base_hz.and_then(Hertz::new);
    declared
        .map(|hertz| (hertz, "CPUID leaf 0x16".into()))
        .or_else(|| Some((brand_frequency(&cpu::brand()?)?, "brand string".into())))
}

/// The last frequency in a brand string, such as `… CPU @ 2.60GHz` or `… 3.2 GHz`.
fn brand_frequency(brand: &str) -> Option<Hertz> {
    let lower = brand.to_ascii_lowercase();
    lower.rmatch_indices("hz").find_map(|(at, unit)| {
        let end = at + unit.len();
        let prefix = lower[..at].trim_end_matches(['g', 'm', 'k']).trim_end();
        let digits = prefix.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        parse_frequency(&lower[digits.len()..end]).ok()
    })
}

/// Number of comparisons of the time stamp counter with a clock, of which the tightest is used.
const COMPARISONS_PER_READING: u32 = 9;

/// Measures the rate of the time stamp counter against a clock of the kernel (one of
/// [`timers::RATE_SOURCES`]); holds their readings at the beginning of a run.
pub struct TscWatch {
    counter: Box<dyn Subject>,
    reference: &'static str,
    ns_per_tick: f64,
    first_comparison: [i64; 3],
}

impl TscWatch {
    /// Takes the first comparison; `None` if the counter or the clock cannot be read.
    pub fn begin(reference: &'static str) -> Option<Self> {
        let ns_per_tick = (timers::find(reference)?.ns_per_tick)()?;
        let mut counter = (timers::find("rdtsc-lfence")?.open)().ok()?;
        let first_comparison = compare_with(counter.as_mut(), reference)?;
        Some(Self {
            counter,
            reference,
            ns_per_tick,
            first_comparison,
        })
    }

    /// The rate of the counter since the beginning, in hertz, according to the clock. A comparison
    /// has an error of about 50 ns, so after one second the rate is known to 0.1 ppm; the rate of
    /// `monotonic` itself may be slewed by up to 500 ppm (adjtimex(2)).
    pub fn end(mut self) -> Option<Hertz> {
        let last_comparison = compare_with(self.counter.as_mut(), self.reference)?;
        let advance = |at: usize| last_comparison[at].wrapping_sub(self.first_comparison[at]);
        let reference = (advance(0) as f64 + advance(2) as f64) / 2.0;
        rate(advance(1), reference * self.ns_per_tick)
    }
}

/// Readings of the clock, the counter and the clock again, from the comparison with the shortest
/// time between the clock's readings.
fn compare_with(counter: &mut dyn Subject, reference: &str) -> Option<[i64; 3]> {
    let comparisons = counter.comparisons(reference, 0, COMPARISONS_PER_READING);
    tightest(comparisons.ok()?)
}

/// The rate in hertz of a counter that advanced by `ticks` in `nanoseconds`; `None` unless both are
/// positive.
fn rate(ticks: i64, nanoseconds: f64) -> Option<Hertz> {
    Hertz::new(ticks as f64 / nanoseconds.max(0.0) * 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequency_from_brand() {
        for (brand, hertz) in [
            ("Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz", Some(2.5e9)),
            (
                "Intel(R) Core(TM)2 Duo CPU     T5450  @ 1.66GHz  ",
                Some(1.66e9),
            ),
            ("Intel(R) Pentium(R) III CPU 866MHz", Some(866e6)),
            ("1.2GHz, now @ 2GHz", Some(2e9)),
            ("AMD EPYC 9654 96-Core Processor", None),
            ("12th Gen Intel(R) Core(TM) i7-12700K", None),
            ("Hz", None),
            ("GHz 5", None),
            ("1.2.3GHz", None),
        ] {
            assert_eq!(brand_frequency(brand), hertz.map(Hertz), "{brand:?}");
        }
    }

    #[test]
    fn rejects_backward_and_empty_advances() {
        assert_eq!(rate(2_600_000, 1e6), Some(Hertz(2.6e9)));
        assert_eq!(rate(-1, 1e6), None);
        assert_eq!(rate(0, 1e6), None);
        assert_eq!(rate(1, 0.0), None);
        assert_eq!(rate(-1, -1e6), None);
    }

    #[test]
    fn measured_rate_is_positive_or_none() {
        for reference in timers::RATE_SOURCES {
            let hertz = TscWatch::begin(reference).and_then(TscWatch::end);
            assert!(hertz.is_none_or(|hertz| hertz.0.is_finite() && hertz.0 > 0.0));
        }
        assert!(TscWatch::begin("no such clock").is_none());
        assert!(
            TscWatch::begin("rdtsc").is_none(),
            "its unit is not declared"
        );
    }
}
