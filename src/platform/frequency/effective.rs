//! Measures the frequency at which a core runs.
//!
//! In a chain of additions, each of which depends on the result of the addition before, an addition
//! takes one cycle of the core. The measurement needs no privilege and works in virtual machines,
//! where cycle counters often cannot be read.

use std::thread;

use serde::{Deserialize, Serialize};
use timers::{time_additions, time_multiplications};

use estimators::model::Hertz;
use estimators::statistics::{CONFIDENCE, median, median_interval, sorted};

/// Number of timed chains of additions, from which the frequency is computed.
const TIMED_CHAINS: u32 = 60;
/// Number of chains of multiplications, for the ratio of a multiplication to an addition.
const MULTIPLICATION_CHAINS: u32 = 15;
/// Target time of a chain, in nanoseconds: long compared with the step of the clock (up to 1 µs)
/// and its reads, short compared with the kernel's tick, which interrupts the chain.
const CHAIN_NS: f64 = 100_000.0;
/// Additions in a chain before its length is known: 0.1 to 1 ms on cores of 5 to 0.5 GHz.
const WARM_UP_ADDITIONS: u64 = 1 << 19;
/// Number of warm-up chains, which bring the core out of its idle states: 15 ms or more.
const WARM_UP_CHAINS: u32 = 150;
/// Instructions in the shortest chain, which measures the cost of reading the clock.
const MIN_INSTRUCTIONS: u64 = 16;

/// Results of chains of dependent instructions on a core.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chains {
    /// Additions per second, from the median of all chains: interruptions and steal time only
    /// lengthen chains, so the mean would give too low a frequency.
    pub hertz: Hertz,
    /// Lower end of the 95 % interval of the median. It covers the scatter of these chains, which
    /// ran within milliseconds of each other, not later changes of the frequency.
    pub low: Hertz,
    /// Upper end of the 95 % interval of the median.
    pub high: Hertz,
    /// Time of a 64-bit multiplication divided by the time of an addition, if measured.
    pub multiplication_cycles: Option<f64>,
    /// Number of timed chains.
    pub samples: u32,
}

/// Measures the frequency of a core under load, in about 30 ms, in a separate thread on that CPU,
/// or on any CPU if `cpu` is `None`.
///
/// `None` if the clock cannot be read, the thread may not run on that CPU, or the chains are
/// implausible.
pub fn measure_effective(cpu: Option<u32>) -> Option<Chains> {
    let measure = move || {
        if let Some(cpu) = cpu {
            timers::pin_to(cpu).ok()?;
        }
        measure()
    };
    thread::Builder::new()
        .name("chains".into())
        .spawn(measure)
        .ok()?
        .join()
        .ok()?
}

fn measure() -> Option<Chains> {
    let warm_up = time_additions(WARM_UP_ADDITIONS, WARM_UP_CHAINS).ok()?;
    // The core may have sped up during the warm-up, so only the later half determines the length of
    // a chain.
    let count = additions_lasting(CHAIN_NS, median_ns(&warm_up[warm_up.len() / 2..])?)?;
    let empty = median_ns(&time_additions(MIN_INSTRUCTIONS, TIMED_CHAINS).ok()?)?;
    let additions = time_additions(count, TIMED_CHAINS).ok()?;

    // A multiplication takes about three times as long as an addition, so a third as many take the
    // same time.
    let multiplication_count = (count / 3).next_multiple_of(MIN_INSTRUCTIONS);
    let multiplications = time_multiplications(multiplication_count, MULTIPLICATION_CHAINS).ok()?;
    let chains = from_chains(count - MIN_INSTRUCTIONS, empty, &additions)?;
    let multiplication_ns =
        (median_ns(&multiplications)? - empty) / (multiplication_count - MIN_INSTRUCTIONS) as f64;
    let ratio = multiplication_ns * chains.hertz.0 * 1e-9;
    Some(Chains {
        multiplication_cycles: (ratio > 0.0).then_some(ratio),
        ..chains
    })
}

/// The number of additions that take `wanted_ns`, given that [`WARM_UP_ADDITIONS`] additions take
/// `warm_ns`.
fn additions_lasting(wanted_ns: f64, warm_ns: f64) -> Option<u64> {
    let count = WARM_UP_ADDITIONS as f64 * wanted_ns / warm_ns;
    // Outside this range the frequency would be below 10 MHz or above 100 GHz.
    (1e3..=1e7)
        .contains(&count)
        .then(|| (count as u64).next_multiple_of(MIN_INSTRUCTIONS))
}

/// Computes the frequency from chains of `additions`, each of which includes `empty_ns` for reading
/// the clock.
fn from_chains(additions: u64, empty_ns: f64, chains_ns: &[i64]) -> Option<Chains> {
    let times = sorted(chains_ns.iter().map(|&ns| ns as f64));
    let frequency = |ns: f64| Hertz::new(additions as f64 / (ns - empty_ns) * 1e9);
    let (shortest, longest) = median_interval(&times, CONFIDENCE)?;
    Some(Chains {
        hertz: frequency(median(&times)?)?,
        low: frequency(longest)?,
        high: frequency(shortest)?,
        multiplication_cycles: None,
        samples: u32::try_from(times.len()).ok()?,
    })
}

fn median_ns(times: &[i64]) -> Option<f64> {
    median(times.iter().map(|&ns| ns as f64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn steal_time_keeps_frequency() {
        let mut chains = vec![100_030; 60];
        for stolen in &mut chains[..20] {
            *stolen += 5_000_000;
        }
        let found = from_chains(260_000, 30.0, &chains).expect("they make sense");
        assert_eq!(
            (found.hertz, found.high, found.samples),
            (Hertz(2.6e9), Hertz(2.6e9), 60)
        );
        assert_eq!(found.low, Hertz(2.6e9));
    }

    #[test]
    fn implausible_chains_give_nothing() {
        assert_eq!(from_chains(1000, 0.0, &[]), None);
        assert_eq!(from_chains(1000, 0.0, &[100; 5]), None);
        assert_eq!(from_chains(1000, 100.0, &[100; 60]), None);
        assert_eq!(additions_lasting(CHAIN_NS, 0.0), None);
        assert_eq!(additions_lasting(CHAIN_NS, -5.0), None);
        assert_eq!(additions_lasting(CHAIN_NS, 1e12), None);
        assert_eq!(
            additions_lasting(CHAIN_NS, WARM_UP_ADDITIONS as f64 / 2.6),
            Some(260_000)
        );
    }

    #[test]
    fn this_machines_frequency_is_plausible() {
        for cpu in [None, Some(0)] {
            if let Some(chains) = measure_effective(cpu) {
                assert!(
                    chains.low <= chains.hertz && chains.hertz <= chains.high,
                    "{chains:?}"
                );
                assert!(chains.low.0 > 0.0);
            }
        }
        assert_eq!(
            measure_effective(Some(u32::MAX)),
            None,
            "there is no such CPU"
        );
    }

    proptest! {
        #[test]
        fn any_chains_give_an_ordered_interval(chains in prop::collection::vec(any::<i64>(), 0..80),
                                               empty in 0.0..1e6_f64, additions in 1_u64..1 << 40) {
            if let Some(found) = from_chains(additions, empty, &chains) {
                prop_assert!(found.low <= found.hertz && found.hertz <= found.high);
            }
        }
    }
}
