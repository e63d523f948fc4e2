//! What was observed of a timer to find out whether it can be trusted, and of a counter that
//! programs may read past the kernel: counts and extremes where the readings themselves would be
//! too many to keep, integers as they were read elsewhere.

use std::collections::BTreeMap;

use crate::model::Counted;

/// Everything of that kind.
#[apply(recorded)]
#[derive(Default)]
pub struct Evidence {
    /// What the timer claims.
    pub claims: Claims,
    /// Successive readings of one thread that was moved over the CPUs.
    pub order: Option<Order>,
    /// Readings handed from thread to thread.
    pub threads: Option<Threads>,
    /// Comparisons with the reference, made once a round during the whole campaign.
    #[serde(rename = "glances")]
    pub sparse_comparisons: Vec<[i64; 3]>,
    /// What passed between the first and the last of those by the clock of the runner, in
    /// nanoseconds: at least, and at most. None where it did not look, or where the reference is
    /// not known to move as time passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed_ns: Option<[u64; 2]>,
    /// Those made after each process of two rounds.
    #[serde(default)]
    #[serde(rename = "close_glances")]
    pub close_comparisons: Vec<[i64; 3]>,
    /// Comparisons at the beginning and at the end of other fresh processes, of a clock whose rate
    /// a process may find for itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub process_comparisons: Vec<[[i64; 3]; 2]>,
    /// Comparisons that follow each other, about a millisecond apart.
    pub series: Vec<[i64; 3]>,
    /// Reads between successive edges of a clock that moves in steps far longer than a read: those
    /// one step apart, in runs without a gap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<Vec<u32>>,
    /// How far it moved while the thread did this or that.
    pub advances: Vec<Moved>,
    /// Readings between two of the same clock in another way.
    #[serde(default, rename = "beside", skip_serializing_if = "Vec::is_empty")]
    pub other_paths: Vec<OtherPath>,
    /// Why a question was not answered, by question.
    pub refusals: BTreeMap<String, String>,
}

/// What a timer claims about itself.
#[apply(recorded)]
#[derive(Copy, Default)]
pub struct Claims {
    /// What it counts.
    pub counts: Option<Counted>,
    /// The resolution that its platform declares, in nanoseconds.
    pub resolution_ns: Option<f64>,
}

/// Successive readings of one thread.
#[apply(recorded)]
#[derive(Copy, Default)]
pub struct Order {
    /// How many.
    #[serde(deserialize_with = "super::plausible")]
    pub readings: u64,
    /// Steps backwards.
    #[serde(deserialize_with = "super::plausible")]
    pub backward: u64,
    /// The largest of them, in ticks.
    pub largest: u64,
    /// How often the thread was moved to another CPU meanwhile.
    pub moves: u32,
    /// Among how many CPUs.
    pub cpus: u32,
}

/// Readings handed from thread to thread.
#[apply(recorded)]
#[derive(Default)]
pub struct Threads {
    /// Rounds of pairs that met at the same time.
    pub rounds: u32,
    /// All pairs of CPUs there are.
    pub possible: u32,
    /// Those that met.
    pub pairs: Vec<Pair>,
}

/// Two threads that took turns.
#[apply(recorded)]
#[derive(Default)]
pub struct Pair {
    /// Their CPUs, where they were chosen.
    pub cpus: Option<[u32; 2]>,
    /// Handoffs, in both directions together.
    pub handoffs: u32,
    /// Those in which the later reading was the smaller one.
    pub backward: u32,
    /// By how much at most, in ticks.
    pub largest: u64,
    /// The least that the second reading was ahead of the first, in ticks: from the first CPU to
    /// the second, and back.
    pub least: [Option<i64>; 2],
}

impl Pair {
    /// Reduces handoffs; the first one goes from the first CPU to the second, the next one back.
    pub fn from_handoffs(cpus: Option<[u32; 2]>, handoffs: &[[i64; 2]]) -> Self {
        let mut pair = Self {
            cpus,
            handoffs: handoffs.len() as u32,
            ..Self::default()
        };
        for (number, [first, second]) in handoffs.iter().enumerate() {
            let ahead = second.wrapping_sub(*first);
            if ahead < 0 {
                pair.backward += 1;
                pair.largest = pair.largest.max(ahead.unsigned_abs());
            }
            let least = &mut pair.least[number % 2];
            *least = Some(least.map_or(ahead, |least| least.min(ahead)));
        }
        pair
    }
}

/// Readings between two of the same clock in another way.
#[apply(recorded)]
#[derive(Default)]
pub struct OtherPath {
    /// The id of the other way.
    pub within: String,
    /// Nanoseconds in a unit of the reading: what it is cut off by at most.
    pub unit_ns: i64,
    /// By how much the clock may lag besides, by what it declares.
    pub lag_ns: i64,
    /// Whether another CPU was busy meanwhile.
    pub busy: bool,
    /// How many readings.
    pub readings: u32,
    /// The most that one was ahead of the one after it, in nanoseconds; negative where none was.
    pub ahead_ns: i64,
    /// The most that one was behind the one before it.
    pub behind_ns: i64,
    /// What lay between the one before and the one after it at least.
    pub narrowest_ns: i64,
}

impl OtherPath {
    /// Reduces readings of the other way, this one, and the other way again, in nanoseconds.
    pub fn from_readings(
        within: &str,
        [unit_ns, lag_ns]: [i64; 2],
        busy: bool,
        readings: &[[i64; 3]],
    ) -> Self {
        let most = |of: fn(&[i64; 3]) -> i64| readings.iter().map(of).max().unwrap_or(0);
        Self {
            within: within.to_owned(),
            unit_ns,
            lag_ns,
            busy,
            readings: readings.len() as u32,
            ahead_ns: most(|[_, own, after]| own.saturating_sub(*after)),
            behind_ns: most(|[before, own, _]| before.saturating_sub(*own)),
            narrowest_ns: -most(|[before, _, after]| before.saturating_sub(*after)),
        }
    }
}

/// What the calling thread did while a timer was watched.
#[apply(recorded)]
#[derive(Copy, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Meanwhile {
    /// It computed.
    Spin,
    /// It slept.
    Sleep,
    /// It slept while another thread of the process computed.
    OtherSpin,
}

/// How far a timer and its reference moved together.
#[apply(recorded)]
#[derive(Copy)]
pub struct Moved {
    /// What the thread did.
    pub meanwhile: Meanwhile,
    /// Ticks of the timer.
    pub timer: i64,
    /// Ticks of the reference.
    pub reference: i64,
}

impl Moved {
    /// Ticks of the timer, a tick of the reference.
    pub fn rate(&self) -> f64 {
        self.timer as f64 / (self.reference as f64).max(1.0)
    }
}

/// Everything of that kind.
#[apply(recorded)]
#[derive(Default)]
pub struct CounterEvidence {
    /// Successive readings of one thread, that was moved from CPU to CPU.
    pub order: Order,
    /// Readings handed from CPU to CPU.
    pub handed: Vec<Handed>,
    /// The same without fences, of the first round of pairs.
    pub unfenced: Vec<Handed>,
    /// Looks at the counter and a clock of the kernel, in the order in which they were made.
    pub looks: Vec<CounterLook>,
    /// Ticks a second as they are declared.
    pub declared_hz: Option<f64>,
    /// What a number of reads in a row took, and as many of the kernel's clock, in nanoseconds: the
    /// least that was seen of each.
    pub reads: Option<Reads>,
    /// Why a question was not answered.
    pub refusals: Vec<String>,
}

/// Two CPUs that took turns.
#[apply(recorded)]
#[derive(Default)]
pub struct Handed {
    /// Counts and extremes.
    pub pair: Pair,
    /// By how much the second reading is usually ahead of the first, in ticks: from the first CPU
    /// to the second, and back.
    pub usual: [Option<i64>; 2],
}

impl Handed {
    /// Reduces handoffs; the first one goes from the first CPU to the second, the next one back.
    pub fn from_handoffs(cpus: [u32; 2], handoffs: &[[i64; 2]]) -> Self {
        let usual = [0, 1].map(|way| {
            let ahead = handoffs
                .iter()
                .skip(way)
                .step_by(2)
                .map(|[first, second]| second.wrapping_sub(*first));
            let mut ahead: Vec<i64> = ahead.collect();
            ahead.sort_unstable();
            ahead.get(ahead.len() / 2).copied()
        });
        Self {
            pair: Pair::from_handoffs(Some(cpus), handoffs),
            usual,
        }
    }
}

/// A look from one CPU.
#[apply(recorded)]
#[derive(Copy)]
pub struct CounterLook {
    /// The CPU.
    pub cpu: u32,
    /// Whether the thread slept before it, rather than computed.
    pub slept: bool,
    /// Counter, clock, counter.
    pub values: [i64; 3],
}

/// What reads in a row took.
#[apply(recorded)]
#[derive(Copy)]
pub struct Reads {
    /// How many.
    pub count: u32,
    /// Of the counter.
    pub counter_ns: u64,
    /// Of the kernel's clock.
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
        let handed = Handed::from_handoffs(
            [0, 3],
            &[[10, 15], [20, 28], [30, 33], [40, 49], [50, 57], [60, 66]],
        );
        assert_eq!(handed.usual, [Some(5), Some(8)]);
        assert_eq!(handed.pair.least, [Some(3), Some(6)]);
        assert_eq!(Handed::from_handoffs([0, 1], &[]).usual, [None, None]);
    }
}
