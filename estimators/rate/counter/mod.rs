//! Analyses a counter that programs can read without the kernel: whether it counts equally on all
//! CPUs and at all times. Each result comes with the smallest detectable effect, so that a negative
//! result is meaningful.

mod handoffs;
mod paired_readings;

use crate::model::CpuOffset;
use crate::trace::CounterEvidence;

use crate::rate::correction::LargeCorrection;
use crate::rate::{Rate, rate_from_paired_readings};

pub use handoffs::CrossCpuBackward;
pub use paired_readings::{CounterAdvance, CpuRate, TestedEffect};

/// The results for a counter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CounterFindings {
    /// The rate of the counter relative to the kernel's clock over the whole observation; `None` if
    /// it is unknown.
    pub rate: Option<Rate>,
    /// Whether the counter never moved.
    pub stuck: bool,
    /// The duration of the observation, in nanoseconds.
    pub observed_ns: f64,
    /// Backward steps within a thread: their number, the number of readings, and the largest step
    /// in nanoseconds.
    pub backward: (u64, u64, f64),
    /// The number of these readings that differed from the one before, at most; `None` if unknown.
    pub order_changes: Option<u64>,
    /// The number of CPUs between which the thread of these readings was moved.
    pub order_cpus: u32,
    /// The offset of the counter of each CPU from that of the first CPU.
    pub offsets: Vec<CpuOffset>,
    /// The duration of the fastest handoff from CPU to CPU, in nanoseconds.
    pub fastest_handoff_ns: f64,
    /// Backward steps from CPU to CPU that no offset explains.
    pub across_cpus: Option<CrossCpuBackward>,
    /// Backward steps from CPU to CPU if the counter is read without fences.
    pub unfenced: Option<CrossCpuBackward>,
    /// The rate of the counter of each further CPU relative to that of the first CPU.
    pub cpu_rates: Vec<CpuRate>,
    /// The largest sudden gain of the counter on the clock, in nanoseconds.
    pub sudden_gain: Option<TestedEffect>,
    /// The largest sudden loss of the counter on the clock, in nanoseconds.
    pub sudden_loss: Option<TestedEffect>,
    /// The decrease of the rate while the thread sleeps, compared with the rate while it computes,
    /// in ppm.
    pub sleep_rate_loss: Option<TestedEffect>,
    /// The most significant lasting change of the rate, in ppm.
    pub lasting_change: Option<TestedEffect>,
    /// Relative difference between the rate and the declared rate, in ppm.
    pub declared: Option<TestedEffect>,
    /// The cost of a read of the counter and of the kernel's clock, in nanoseconds.
    pub costs: Option<[f64; 2]>,
}

/// The expected number of events at which the probability of at least one event is 95 %. *Chance*:
/// 1 − e⁻³ is 0.95.
pub const EXPECTED_FOR_DETECTION: f64 = 3.0;
/// The fewest changes of a value of which a share below 1 would have shown a step back. *Computed*:
/// the next number after [`EXPECTED_FOR_DETECTION`].
pub const MIN_CHANGES: u32 = 4;

/// Returns the rate of the counter relative to the kernel's uncorrected clock.
pub fn paired_rate(observed: &CounterEvidence) -> Option<Rate> {
    let readings = observed.paired_readings.iter();
    let readings: Vec<[i64; 3]> = readings.map(|reading| reading.values).collect();
    rate_from_paired_readings(&readings, 1.0)
}

/// Computes all results from the observations. `correction` is a large correction of the kernel's
/// clocks meanwhile.
pub fn findings(
    observed: &CounterEvidence,
    correction: Option<LargeCorrection>,
) -> CounterFindings {
    let readings = &observed.paired_readings;
    let paired = paired_rate(observed);
    let rate = paired.map(|rate| correction.map_or(rate, |large| large.settle(rate, false)));
    let ns = rate.map_or(0.0, |rate| rate.ns_per_tick);
    let observed_ns = match (readings.first(), readings.last()) {
        (Some(first), Some(last)) => last.values[1].wrapping_sub(first.values[1]) as f64,
        _ => 0.0,
    };
    let stuck = readings.len() > 1
        && readings
            .iter()
            .all(|reading| [reading.values[0], reading.values[2]] == [readings[0].values[0]; 2]);
    let mut found = CounterFindings {
        rate,
        stuck,
        observed_ns,
        backward: (
            observed.order.backward,
            observed.order.readings,
            observed.order.largest as f64 * ns,
        ),
        order_changes: observed.order.changes(1.0),
        order_cpus: observed.order.cpus.min(observed.order.moves),
        costs: observed.reads.map(|reads| {
            [reads.counter_ns, reads.clock_ns].map(|all| all as f64 / f64::from(reads.count.max(1)))
        }),
        ..CounterFindings::default()
    };
    let (Some(paired), Some(rate)) = (paired, rate) else {
        return found;
    };
    found.across_cpus = handoffs::unexplained(&observed.handoffs, ns);
    if found.across_cpus.is_some() {
        found.offsets = handoffs::cpu_offsets(&observed.handoffs, ns);
        found.fastest_handoff_ns = handoffs::fastest_ns(&observed.handoffs, ns);
    }
    found.unfenced = handoffs::unfenced(&observed.unfenced, ns);
    let series = paired_readings::advances(&observed.paired_readings, paired.ns_per_tick);
    found.cpu_rates = paired_readings::cpu_rates(&observed.paired_readings);
    found.sleep_rate_loss = paired_readings::sleep_rate_loss(&series);
    (found.sudden_gain, found.sudden_loss) =
        paired_readings::sudden_changes(&series, paired.uncertainty);
    found.lasting_change = paired_readings::lasting_change(&series);
    let declared = observed.declared_hz.filter(|hz| *hz > 0.0);
    let faster =
        |hz: f64| TestedEffect::from_ratio(1e9 / rate.ns_per_tick / hz - 1.0, rate.uncertainty);
    found.declared = declared.map(faster);
    found
}
