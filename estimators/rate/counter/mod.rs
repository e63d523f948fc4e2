//! A counter that programs read past the kernel: does it count alike on all CPUs, and for ever?
//! What is found stands beside what would have been found at least, so that nothing found says
//! something.

mod handed;
mod watched;

use crate::trace::CounterEvidence;

use crate::rate::{Rate, by_looks};

pub use handed::{Between, CpuOffset};
pub use watched::{CpuRate, Passing, Tested};

/// What is known of a counter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CounterFindings {
    /// Its rate by the kernel's clock, over the whole time that it was watched.
    pub rate: Option<Rate>,
    /// It did not move at all.
    pub stuck: bool,
    /// For how long it was watched, in nanoseconds.
    pub watched_ns: f64,
    /// Steps backwards within a thread, the number of readings they were found in, and the largest
    /// step in nanoseconds.
    pub backward: (u64, u64, f64),
    /// How far each CPU is ahead of the first one.
    pub offsets: Vec<CpuOffset>,
    /// What goes back from CPU to CPU now and then, though their counters agree.
    pub between: Option<Between>,
    /// The same without fences.
    pub unfenced: Option<Between>,
    /// How much faster each further CPU counts than the first one.
    pub cpu_rates: Vec<CpuRate>,
    /// The largest gain that came at once, in nanoseconds.
    pub leap: Option<Tested>,
    /// The largest loss that came at once, in nanoseconds.
    pub freeze: Option<Tested>,
    /// How much slower it counts while the thread sleeps than while it computes, in ppm.
    pub asleep: Option<Tested>,
    /// The largest change of its rate that lasted, in ppm.
    pub change: Option<Tested>,
    /// How much faster it counts than is declared, in ppm.
    pub declared: Option<Tested>,
    /// What a read takes, and one of the kernel's clock, in nanoseconds.
    pub costs: Option<[f64; 2]>,
}

/// The share of a kind of event that shows in 95 of 100 tries, times their number.
/// *Chance*: 1 − e⁻³ is 0.95.
pub const SHOWS: f64 = 3.0;

/// What follows from what was observed.
pub fn findings(seen: &CounterEvidence) -> CounterFindings {
    let looks: Vec<[i64; 3]> = seen.looks.iter().map(|look| look.values).collect();
    let rate = by_looks(&looks, 1.0);
    let ns = rate.map_or(0.0, |rate| rate.ns_per_tick);
    let watched_ns = match (looks.first(), looks.last()) {
        (Some(first), Some(last)) => last[1].wrapping_sub(first[1]) as f64,
        _ => 0.0,
    };
    let stuck = looks.len() > 1
        && looks
            .iter()
            .all(|look| look[0] == looks[0][0] && look[2] == looks[0][0]);
    let mut found = CounterFindings {
        rate,
        stuck,
        watched_ns,
        backward: (
            seen.order.backward,
            seen.order.readings,
            seen.order.largest as f64 * ns,
        ),
        costs: seen.reads.map(|reads| {
            [reads.counter_ns, reads.clock_ns].map(|all| all as f64 / f64::from(reads.count.max(1)))
        }),
        ..CounterFindings::default()
    };
    let Some(rate) = rate else { return found };
    (found.offsets, found.between) = handed::judge(&seen.handed, ns);
    found.unfenced = handed::unfenced(&seen.unfenced, ns);
    let series = watched::series(&seen.looks, ns);
    found.cpu_rates = watched::cpu_rates(&seen.looks);
    found.asleep = watched::asleep(&series);
    (found.leap, found.freeze) = watched::leaps(&series, rate.uncertainty);
    found.change = watched::change(&series);
    let declared = seen.declared_hz.filter(|hz| *hz > 0.0);
    let faster = |hz: f64| Tested::from_share(1e9 / rate.ns_per_tick / hz - 1.0, rate.uncertainty);
    found.declared = declared.map(faster);
    found
}
