//! Chains of dependent instructions, timed: what tells at which frequency the core really runs.
//!
//! What ticks: the clock of the system that no library can distort, read once before a chain and
//! once after it. How it lies: a chain that was interrupted is longer than its instructions, never
//! shorter, so the median of many chains is to be believed and their mean is not. The clock may
//! advance in steps of up to 1 µs; a chain should take 100 µs or more.

use crate::os::Undistorted;
use crate::{Timer, Unavailable, arch, work};

/// Nanoseconds that a chain of `count` dependent additions takes, measured `repeat` times. The
/// chain has a multiple of 16 additions: `count` is rounded up.
///
/// # Errors
/// Says why the system's clock cannot be read, or that it is unknown how many cycles an instruction
/// takes here.
pub fn time_additions(count: u64, repeat: u32) -> Result<Vec<i64>, Unavailable> {
    time(|| work::dependent_additions(count), repeat)
}

/// Nanoseconds that a chain of `count` dependent multiplications takes, measured `repeat` times.
/// The chain has a multiple of 8 multiplications: `count` is rounded up.
///
/// # Errors
/// Says why the system's clock cannot be read, or that it is unknown how many cycles an instruction
/// takes here.
pub fn time_multiplications(count: u64, repeat: u32) -> Result<Vec<i64>, Unavailable> {
    time(|| work::dependent_multiplications(count), repeat)
}

/// How a core does at this moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoreFrequency {
    /// Dependent additions a second: its frequency.
    pub hertz: f64,
    /// Independent additions a cycle. A core that runs another thread beside this one has fewer
    /// left for it.
    pub width: f64,
}

/// Looks at the core the calling thread runs on, in some 60 µs a look; in more where the clock
/// moves in coarser steps than 10 ns.
#[derive(Clone, Copy, Debug)]
pub struct CoreFrequencyMeter {
    /// What the reads of the clock take, in nanoseconds.
    empty: f64,
    /// How many times as long as usual its chains are, so that the steps of the clock do not show.
    length: u64,
}

impl CoreFrequencyMeter {
    /// Additions in a chain: some 5 µs, 500 steps of a clock of 10 ns.
    const DEPENDENT: u64 = 16_000;
    /// Additions side by side: some 2 µs.
    const INDEPENDENT: u64 = 24_000;
    /// Chains of each kind; the middle one counts.
    const LOOKS: u32 = 5;

    /// Finds out what its own reads take.
    ///
    /// # Errors
    /// Says why the system's clock cannot be read, or that it is unknown how many cycles an
    /// instruction takes here.
    pub fn new() -> Result<Self, Unavailable> {
        let empty = middle(time(|| work::dependent_additions(16), 99)?).unwrap_or(0.0);
        Ok(Self {
            empty,
            length: (Undistorted::ns_per_tick().unwrap_or(0.0) / 10.0).clamp(1.0, 100.0) as u64,
        })
    }

    /// Takes a look. `None` where the clock moves too coarsely to tell.
    #[must_use]
    pub fn look(&self) -> Option<CoreFrequency> {
        let of = |chain: fn(u64), count| {
            let count = count * self.length;
            let ns = middle(time(|| chain(count), Self::LOOKS).ok()?)? - self.empty;
            (ns > 0.0).then_some(count as f64 / ns)
        };
        let dependent = of(work::dependent_additions, Self::DEPENDENT)?;
        let independent = of(work::independent_additions, Self::INDEPENDENT)?;
        Some(CoreFrequency {
            hertz: dependent * 1e9,
            width: independent / dependent,
        })
    }
}

fn middle(mut ns: Vec<i64>) -> Option<f64> {
    ns.sort_unstable();
    ns.get(ns.len() / 2).map(|&ns| ns as f64)
}

fn time(chain: impl Fn(), repeat: u32) -> Result<Vec<i64>, Unavailable> {
    if !arch::COUNTS_CYCLES {
        return Err(Unavailable::because(
            "no chain of instructions is known that takes a cycle each on this processor",
        ));
    }
    let clock = Undistorted::open()?;
    let unit = Undistorted::ns_per_tick()
        .ok_or_else(|| Unavailable::because("the system does not tell the unit of its clock"))?;
    Ok((0..repeat)
        .map(|_| {
            let first = clock.read();
            chain();
            let second = clock.read();
            (clock.ticks(second).since(clock.ticks(first)) as f64 * unit) as i64
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_figure_a_chain() {
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
        assert_eq!(meter.is_ok(), arch::COUNTS_CYCLES);
        if let Some(core_frequency) = meter.ok().and_then(|meter| meter.look()) {
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
