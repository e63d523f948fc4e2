//! Defines the evidence for the verdicts on a timer, and for the findings about a counter that
//! programs can read without the kernel. Readings are stored as they were read; if there are too
//! many, their counts and extreme values are stored.
//!
//! A *comparison* is three readings: of the reference, of the timer, and of the reference again.

use std::collections::BTreeMap;

use crate::model::Counted;

/// All evidence about a timer.
#[apply(recorded)]
#[derive(Default)]
pub struct Evidence {
    /// The declared properties of the timer.
    pub claims: Claims,
    /// Successive readings of one thread that was moved between CPUs.
    pub order: Option<Order>,
    /// Readings passed from thread to thread.
    pub threads: Option<Threads>,
    /// Comparisons with the reference, one in each round of the campaign.
    #[serde(rename = "glances")]
    pub sparse_comparisons: Vec<[i64; 3]>,
    /// The time between the first and the last sparse comparison by the clock of this program, in
    /// nanoseconds: least and greatest possible value. `None` if it was not measured, or if the
    /// reference is not known to follow real time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed_ns: Option<[u64; 2]>,
    /// Comparisons after each process in two rounds of the campaign.
    #[serde(default)]
    #[serde(rename = "close_glances")]
    pub close_comparisons: Vec<[i64; 3]>,
    /// Comparisons at the start and at the end of additional fresh processes, for a clock whose
    /// rate may be determined per process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub process_comparisons: Vec<[[i64; 3]; 2]>,
    /// Consecutive comparisons, about a millisecond apart.
    pub series: Vec<[i64; 3]>,
    /// For a clock whose steps are far longer than a read: the number of reads between successive
    /// changes of its value, in lists without a gap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<Vec<u32>>,
    /// The advance of the timer during various activities of the thread.
    pub advances: Vec<Moved>,
    /// Readings of the timer between two readings of the same clock on another path.
    #[serde(default, rename = "beside", skip_serializing_if = "Vec::is_empty")]
    pub other_paths: Vec<OtherPath>,
    /// The reasons why questions were not answered, by question of the protocol.
    pub refusals: BTreeMap<String, String>,
}

/// The properties that a timer declares.
#[apply(recorded)]
#[derive(Copy, Default)]
pub struct Claims {
    /// The quantity that the timer counts.
    pub counts: Option<Counted>,
    /// The resolution that the operating system or the runtime declares, in nanoseconds.
    pub resolution_ns: Option<f64>,
}

/// Successive readings of one thread.
#[apply(recorded)]
#[derive(Copy, Default)]
pub struct Order {
    /// The number of readings.
    #[serde(deserialize_with = "super::plausible")]
    pub readings: u64,
    /// The number of backward steps.
    #[serde(deserialize_with = "super::plausible")]
    pub backward: u64,
    /// The largest backward step, in ticks.
    pub largest: u64,
    /// How often the thread was moved to another CPU.
    pub moves: u32,
    /// The number of CPUs among which the thread was moved.
    pub cpus: u32,
}

/// Readings passed from thread to thread.
#[apply(recorded)]
#[derive(Default)]
pub struct Threads {
    /// The number of rounds; the pairs of one round ran at the same time.
    pub rounds: u32,
    /// The number of all possible pairs of CPUs.
    pub possible: u32,
    /// The pairs that were tested.
    pub pairs: Vec<Pair>,
}

/// Two threads that take readings in turn: each thread reads the timer after it has received the
/// reading of the other.
#[apply(recorded)]
#[derive(Default)]
pub struct Pair {
    /// The CPUs of the threads, if they were pinned.
    pub cpus: Option<[u32; 2]>,
    /// The number of handoffs, in both directions together.
    pub handoffs: u32,
    /// The number of handoffs in which the later reading was smaller.
    pub backward: u32,
    /// The largest backward step, in ticks.
    pub largest: u64,
    /// The least difference between the second and the first reading, in ticks: from the first CPU
    /// to the second, and back.
    pub least: [Option<i64>; 2],
}

impl Pair {
    /// Summarises handoffs; they alternate in direction, starting from the first CPU.
    pub fn from_handoffs(cpus: Option<[u32; 2]>, handoffs: &[[i64; 2]]) -> Self {
        let mut pair = Self {
            cpus,
            handoffs: handoffs.len() as u32,
            ..Self::default()
        };
        for (number, [first, second]) in handoffs.iter().enumerate() {
            let difference = second.wrapping_sub(*first);
            if difference < 0 {
                pair.backward += 1;
                pair.largest = pair.largest.max(difference.unsigned_abs());
            }
            let least = &mut pair.least[number % 2];
            *least = Some(least.map_or(difference, |least| least.min(difference)));
        }
        pair
    }
}

/// Readings of a timer between two readings of the same clock on another path.
#[apply(recorded)]
#[derive(Default)]
pub struct OtherPath {
    /// The id of the timer on the other path, whose two readings enclose each reading.
    pub within: String,
    /// Nanoseconds in a unit of the reading: upper limit of the truncation.
    pub unit_ns: i64,
    /// The time by which the clock may lag according to its declaration, in nanoseconds.
    pub lag_ns: i64,
    /// Whether another CPU was busy at the same time.
    pub busy: bool,
    /// The number of readings.
    pub readings: u32,
    /// The largest lead of a reading over the following one, in nanoseconds; negative if there is
    /// none.
    pub ahead_ns: i64,
    /// The largest lag of a reading behind the preceding one, in nanoseconds.
    pub behind_ns: i64,
    /// The least distance between the preceding and the following reading, in nanoseconds.
    pub narrowest_ns: i64,
}

impl OtherPath {
    /// Summarises triples of readings in nanoseconds: other path, this timer, other path.
    pub fn from_readings(
        within: &str,
        [unit_ns, lag_ns]: [i64; 2],
        busy: bool,
        readings: &[[i64; 3]],
    ) -> Self {
        let largest = |value: fn(&[i64; 3]) -> i64| readings.iter().map(value).max().unwrap_or(0);
        Self {
            within: within.to_owned(),
            unit_ns,
            lag_ns,
            busy,
            readings: readings.len() as u32,
            ahead_ns: largest(|[_, own, after]| own.saturating_sub(*after)),
            behind_ns: largest(|[before, own, _]| before.saturating_sub(*own)),
            narrowest_ns: -largest(|[before, _, after]| before.saturating_sub(*after)),
        }
    }
}

/// The activity of the calling thread while a timer was observed.
#[apply(recorded)]
#[derive(Copy, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Meanwhile {
    /// The thread computed.
    Spin,
    /// The thread slept.
    Sleep,
    /// The thread slept while another thread of the process computed.
    OtherSpin,
}

/// The advance of a timer and of its reference over the same time.
#[apply(recorded)]
#[derive(Copy)]
pub struct Moved {
    /// The activity of the thread.
    pub meanwhile: Meanwhile,
    /// Ticks of the timer.
    pub timer: i64,
    /// Ticks of the reference.
    pub reference: i64,
}

impl Moved {
    /// Returns the ticks of the timer per tick of the reference.
    pub fn rate(&self) -> f64 {
        self.timer as f64 / (self.reference as f64).max(1.0)
    }
}

/// All evidence about the counter of the processor.
#[apply(recorded)]
#[derive(Default)]
pub struct CounterEvidence {
    /// Successive readings of one thread that was moved between CPUs.
    pub order: Order,
    /// Readings passed from CPU to CPU.
    #[serde(rename = "handed")]
    pub handoffs: Vec<HandoffPair>,
    /// Readings without fences, from the first round of pairs.
    pub unfenced: Vec<HandoffPair>,
    /// Paired readings of the counter and a clock of the kernel, in the order of execution.
    #[serde(rename = "looks")]
    pub paired_readings: Vec<PairedReading>,
    /// The declared frequency, in hertz.
    pub declared_hz: Option<f64>,
    /// The least duration of a number of consecutive reads of the counter and of the kernel's
    /// clock.
    pub reads: Option<Reads>,
    /// The reasons why questions were not answered.
    pub refusals: Vec<String>,
}

/// Two CPUs that read the counter in turn.
#[apply(recorded)]
#[derive(Default)]
pub struct HandoffPair {
    /// Counts of handoffs, and extreme differences.
    pub pair: Pair,
    /// The median difference between the second and the first reading, in ticks: from the first CPU
    /// to the second, and back.
    pub usual: [Option<i64>; 2],
}

impl HandoffPair {
    /// Summarises handoffs; they alternate in direction, starting from the first CPU.
    pub fn from_handoffs(cpus: [u32; 2], handoffs: &[[i64; 2]]) -> Self {
        let usual = [0, 1].map(|direction| {
            let differences = handoffs
                .iter()
                .skip(direction)
                .step_by(2)
                .map(|[first, second]| second.wrapping_sub(*first));
            let mut differences: Vec<i64> = differences.collect();
            differences.sort_unstable();
            differences.get(differences.len() / 2).copied()
        });
        Self {
            pair: Pair::from_handoffs(Some(cpus), handoffs),
            usual,
        }
    }
}

/// A paired reading of the counter and a clock on one CPU.
#[apply(recorded)]
#[derive(Copy)]
pub struct PairedReading {
    /// The CPU.
    pub cpu: u32,
    /// Whether the thread slept before the reading; otherwise it computed.
    pub slept: bool,
    /// Readings of counter, clock, counter.
    pub values: [i64; 3],
}

/// Durations of consecutive reads.
#[apply(recorded)]
#[derive(Copy)]
pub struct Reads {
    /// The number of reads.
    pub count: u32,
    /// The duration of the reads of the counter, in nanoseconds.
    pub counter_ns: u64,
    /// The duration of the reads of the kernel's clock, in nanoseconds.
    pub clock_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handoffs_are_reduced_by_direction() {
        let pair = Pair::from_handoffs(Some([0, 3]), &[[10, 15], [20, 28], [30, 33], [40, 38]]);
        assert_eq!((pair.handoffs, pair.backward, pair.largest), (4, 1, 2));
        assert_eq!(pair.least, [Some(3), Some(-2)]);
        assert_eq!(Pair::from_handoffs(None, &[]).least, [None, None]);
    }

    #[test]
    fn usual_handoffs_have_a_direction() {
        let handed = HandoffPair::from_handoffs(
            [0, 3],
            &[[10, 15], [20, 28], [30, 33], [40, 49], [50, 57], [60, 66]],
        );
        assert_eq!(handed.usual, [Some(5), Some(8)]);
        assert_eq!(handed.pair.least, [Some(3), Some(6)]);
        assert_eq!(HandoffPair::from_handoffs([0, 1], &[]).usual, [None, None]);
    }
}
