//! Defines the evidence for the verdicts on a timer. Readings are stored as they were read; if there are too
//! many of them, only their number and extreme values are stored.
//!
//! A *comparison* is three readings: of the reference, of the timer, and of the reference again.
//! A *handoff* is two readings: a thread reads the timer and passes the value to another thread,
//! which then reads the timer too.

use std::collections::BTreeMap;

pub use timers::Activity as ThreadActivity;

use crate::model::Counted;

/// All evidence about a timer.
#[apply(recorded, Default)]
pub struct Evidence {
    /// The declared properties of the timer.
    pub claims: Claims,
    /// Successive readings of one thread that was moved between CPUs.
    pub order: Option<Order>,
    /// Handoffs between threads.
    pub threads: Option<Threads>,
    /// Comparisons with the reference, one in each round of the campaign.
    #[serde(alias = "glances")]
    pub sparse_comparisons: Vec<[i64; 3]>,
    /// The time from the first to the last sparse comparison as this program's own clock measured
    /// it, in nanoseconds: the least and the greatest possible value. `None` if it was not
    /// measured, or if the reference is not known to follow real time.
    #[optional]
    pub passed_ns: Option<[u64; 2]>,
    /// Comparisons with the reference, one after each process in two rounds of the campaign.
    #[serde(default)]
    #[serde(alias = "close_glances")]
    pub close_comparisons: Vec<[i64; 3]>,
    /// Comparisons at the start and at the end of additional fresh processes, for a clock whose
    /// rate each process may determine for itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub process_comparisons: Vec<[[i64; 3]; 2]>,
    /// Consecutive comparisons, about a millisecond apart.
    pub series: Vec<[i64; 3]>,
    /// For a clock whose steps are far longer than a read: the number of reads between successive
    /// changes of its value, a list for each uninterrupted sequence of reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<Vec<u32>>,
    /// The advance of the timer during various activities of the thread.
    pub advances: Vec<Advance>,
    /// The reasons why the host did not answer questions, by question of the protocol.
    pub refusals: BTreeMap<String, String>,
}

/// The properties that a timer declares.
#[apply(recorded, Copy, Default)]
pub struct Claims {
    /// The quantity that the timer counts.
    pub counts: Option<Counted>,
    /// The resolution that the operating system or the runtime declares, in nanoseconds.
    pub resolution_ns: Option<f64>,
}

/// The order of successive readings of one thread that was moved between CPUs.
#[apply(recorded, Copy, Default)]
pub struct Order {
    /// The number of readings.
    #[serde(deserialize_with = "super::read_count")]
    pub readings: u64,
    /// The number of backward steps.
    #[serde(deserialize_with = "super::read_count")]
    pub backward: u64,
    /// The largest backward step, in ticks.
    pub largest: u64,
    /// How often the thread was moved to another CPU.
    pub moves: u32,
    /// The number of CPUs among which the thread was moved.
    pub cpus: u32,
    /// How far the timer advanced from the first to the last reading, in ticks; `None` in traces of
    /// earlier versions.
    pub advance: Option<u64>,
}

impl Order {
    /// Returns how many readings differed from the one before if the value changes in steps of `step`
    /// ticks; `None` if that is unknown.
    pub fn changes(&self, step: f64) -> Option<u64> {
        let steps = (self.advance? as f64 / step).ceil();
        Some(self.readings.min(steps as u64))
    }
}

/// Handoffs between the threads of a process.
#[apply(recorded, Default)]
pub struct Threads {
    /// The number of rounds; the pairs of one round ran at the same time.
    pub rounds: u32,
    /// The number of all possible pairs of CPUs.
    #[serde(alias = "possible")]
    pub possible_pairs: u32,
    /// The pairs that were tested.
    pub pairs: Vec<Pair>,
}

/// A summary of the handoffs between two threads that read the timer in turn: each reads it when it
/// has received the reading of the other.
#[apply(recorded, Default)]
pub struct Pair {
    /// The CPUs of the threads, if they were pinned.
    pub cpus: Option<[u32; 2]>,
    /// The number of handoffs, in both directions together.
    pub handoffs: u32,
    /// The number of handoffs in which the two readings differed; `None` in traces of earlier
    /// versions.
    pub changed: Option<u32>,
    /// The number of handoffs in which the later reading was smaller.
    pub backward: u32,
    /// The largest backward step, in ticks.
    pub largest: u64,
    /// The least difference between the later and the earlier reading of a handoff, in ticks: from
    /// the first CPU to the second, and from the second to the first.
    #[serde(alias = "least")]
    pub min_difference: [Option<i64>; 2],
}

impl Pair {
    /// Summarises handoffs. They alternate in direction; the first one starts from the first CPU.
    pub fn from_handoffs(cpus: Option<[u32; 2]>, handoffs: &[[i64; 2]]) -> Self {
        let mut pair = Self {
            cpus,
            handoffs: handoffs.len() as u32,
            changed: Some(handoffs.iter().filter(|[one, other]| one != other).count() as u32),
            ..Self::default()
        };
        for (number, [first, second]) in handoffs.iter().enumerate() {
            let difference = second.wrapping_sub(*first);
            if difference < 0 {
                pair.backward += 1;
                pair.largest = pair.largest.max(difference.unsigned_abs());
            }
            let least = &mut pair.min_difference[number % 2];
            *least = Some(least.map_or(difference, |least| least.min(difference)));
        }
        pair
    }
}

/// The advance of a timer and of its reference over the same time.
#[apply(recorded, Copy)]
pub struct Advance {
    /// The activity of the thread.
    #[serde(alias = "meanwhile")]
    pub activity: ThreadActivity,
    /// Ticks of the timer.
    pub timer: i64,
    /// Ticks of the reference.
    pub reference: i64,
}

impl Advance {
    /// Returns the rate of the timer, in its ticks per tick of the reference.
    pub fn rate(&self) -> f64 {
        self.timer as f64 / (self.reference as f64).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handoffs_are_summarised_by_direction() {
        let pair = Pair::from_handoffs(Some([0, 3]), &[[10, 15], [20, 28], [30, 33], [40, 38]]);
        assert_eq!((pair.handoffs, pair.backward, pair.largest), (4, 1, 2));
        let coarse = Pair::from_handoffs(None, &[[10, 10], [10, 14], [14, 14]]);
        assert_eq!((pair.changed, coarse.changed), (Some(4), Some(1)));
        assert_eq!(pair.min_difference, [Some(3), Some(-2)]);
        assert_eq!(Pair::from_handoffs(None, &[]).min_difference, [None, None]);
    }
}
