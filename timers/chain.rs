//! Times chains of dependent instructions, which shows the current frequency of the core.
//!
//! What ticks: the system's clock ([`UndistortedClock`]), read once before and once after a chain.
//! How it lies: an interruption makes a chain longer, never shorter; therefore use the median of
//! many chains, not the mean. The clock may advance in steps of up to 1 µs; chains of 100 µs or more
//! then have an error of at most 1 %.

use crate::kernel_time::open_with_unit;
use crate::os::UndistortedClock;
use crate::{Available, Described, Timer, Unavailable, arch, failure, work};

/// The nanoseconds of a chain of `count` dependent additions, measured `repeat` times. `count` is
/// rounded up to a multiple of 16.
///
/// # Errors
/// When the system's clock cannot be read, or no chain with a known number of cycles is implemented
/// for this processor.
pub fn time_additions(count: u64, repeat: u32) -> Available<Vec<i64>> {
    time(|| work::dependent_additions(count), repeat)
}

/// The nanoseconds of a chain of `count` dependent multiplications, measured `repeat` times.
/// `count` is rounded up to a multiple of 8.
///
/// # Errors
/// As for [`time_additions`].
pub fn time_multiplications(count: u64, repeat: u32) -> Available<Vec<i64>> {
    time(|| work::dependent_multiplications(count), repeat)
}

/// The speed of a core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoreSpeed {
    /// The dependent additions per second, which is the frequency in hertz.
    pub hertz: f64,
    /// The independent additions per cycle. They are fewer while the core's other hardware thread
    /// is busy.
    pub width: f64,
}

/// Measures the speed of the core that runs the calling thread. A measurement takes about 40 µs, or
/// longer if a tick of the clock is longer than 10 ns (Windows, macOS).
#[derive(Clone, Copy, Debug)]
pub struct CoreFrequencyMeter {
    /// The nanoseconds of a chain of [`Self::MIN_ADDITIONS`], mostly the cost of reading the clock.
    overhead_ns: f64,
    /// The length of a tick of the clock in units of 10 ns, between 1 and 100; chains are longer by
    /// this factor.
    length_factor: u64,
}

impl CoreFrequencyMeter {
    /// The additions of a dependent chain; they take about 5 µs, 500 ticks of 10 ns.
    const DEPENDENT_ADDITIONS: u64 = 16_000;
    /// The independent additions; they take about 2 µs.
    const INDEPENDENT_ADDITIONS: u64 = 24_000;
    /// The additions of the shortest chain.
    const MIN_ADDITIONS: u64 = 16;
    /// The repetitions of each chain, of which the median is used.
    const REPETITIONS: u32 = 5;

    /// Measures the overhead of reading the clock.
    ///
    /// # Errors
    /// As for [`time_additions`].
    pub fn new() -> Available<Self> {
        let overhead_ns =
            median(time(|| work::dependent_additions(Self::MIN_ADDITIONS), 99)?).unwrap_or(0.0);
        Ok(Self {
            overhead_ns,
            length_factor: (UndistortedClock::ns_per_tick().unwrap_or(0.0) / 10.0).clamp(1.0, 100.0)
                as u64,
        })
    }

    /// Takes one measurement; `None` if the clock is too coarse to time a chain.
    pub fn measure(&self) -> Option<CoreSpeed> {
        let per_ns = |chain: fn(u64), count| {
            let count = count * self.length_factor;
            let ns = median(time(|| chain(count), Self::REPETITIONS).ok()?)? - self.overhead_ns;
            (ns > 0.0).then_some((count - Self::MIN_ADDITIONS) as f64 / ns)
        };
        let dependent = per_ns(work::dependent_additions, Self::DEPENDENT_ADDITIONS)?;
        let independent = per_ns(work::independent_additions, Self::INDEPENDENT_ADDITIONS)?;
        Some(CoreSpeed {
            hertz: dependent * 1e9,
            width: independent / dependent,
        })
    }
}

/// The median; of an even number, the upper of the two in the middle.
pub(crate) fn median(mut ns: Vec<i64>) -> Option<f64> {
    ns.sort_unstable();
    ns.get(ns.len() / 2).map(|&ns| ns as f64)
}

/// Times a chain `repeat` times, in nanoseconds.
fn time(chain: impl Fn(), repeat: u32) -> Available<Vec<i64>> {
    if !arch::ADDITION_TAKES_ONE_CYCLE {
        return Err(Unavailable::because(
            "the core frequency cannot be measured on this processor: no chain of instructions of one cycle each is implemented for it",
        ));
    }
    time_code(chain, repeat)
}

/// Times code `repeat` times, in nanoseconds.
pub(crate) fn time_code(code: impl Fn(), repeat: u32) -> Available<Vec<i64>> {
    let (clock, unit) = open_with_unit::<UndistortedClock>()?;
    let times = (0..repeat)
        .map(|_| {
            let first = clock.read();
            code();
            let second = clock.read();
            (clock.ticks(second).since(clock.ticks(first)) as f64 * unit) as i64
        })
        .collect();
    failure(UndistortedClock::INFO.id).map_or(Ok(times), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_each_chain() {
        for time in [time_additions, time_multiplications] {
            if let Ok(chains) = time(1 << 12, 7) {
                assert_eq!(chains.len(), 7);
                assert!(
                    chains.iter().all(|&ns| ns >= 0),
                    "the clock does not go backwards: {chains:?}"
                );
            }
        }
    }

    #[test]
    fn core_frequency_is_positive() {
        let meter = CoreFrequencyMeter::new();
        assert_eq!(meter.is_ok(), arch::ADDITION_TAKES_ONE_CYCLE);
        if let Some(core_frequency) = meter.ok().and_then(|meter| meter.measure()) {
            assert!(
                core_frequency.hertz > 0.0 && core_frequency.width > 0.0,
                "{core_frequency:?}"
            );
        }
    }

    #[test]
    fn longer_chain_takes_longer() {
        let shortest = |count| {
            time_additions(count, 20)
                .ok()
                .and_then(|chains| chains.into_iter().min())
        };
        if let (Some(short), Some(long)) = (shortest(1 << 10), shortest(1 << 20)) {
            assert!(long > short, "{long} ns against {short} ns");
        }
    }
}
