//! What was observed of a counter that programs may read past the kernel: integers as they were read.

use serde::{Deserialize, Serialize};

use super::{Order, Pair};

/// Everything of that kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// What so many reads in a row took, and as many of the kernel's clock, in nanoseconds: the least that was seen of each.
    pub reads: Option<Reads>,
    /// Why a question was not answered.
    pub refusals: Vec<String>,
}

/// Two CPUs that took turns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handed {
    /// Counts and extremes.
    pub pair: Pair,
    /// By how much the second reading is usually ahead of the first, in ticks: from the first CPU to the second, and back.
    pub usual: [Option<i64>; 2],
}

impl Handed {
    /// Reduces handoffs; the first one goes from the first CPU to the second, the next one back.
    #[must_use]
    pub fn of(cpus: [u32; 2], handoffs: &[[i64; 2]]) -> Self {
        let usual = [0, 1].map(|way| {
            let ahead =
                handoffs.iter().skip(way).step_by(2).map(|[first, second]| second.wrapping_sub(*first));
            let mut ahead: Vec<i64> = ahead.collect();
            ahead.sort_unstable();
            ahead.get(ahead.len() / 2).copied()
        });
        Self { pair: Pair::of(Some(cpus), handoffs), usual }
    }
}

/// A look from one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterLook {
    /// The CPU.
    pub cpu: u32,
    /// Whether the thread slept before it, rather than computed.
    pub slept: bool,
    /// Counter, clock, counter.
    pub values: [i64; 3],
}

/// What reads in a row took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
        let handed = Handed::of([0, 3], &[[10, 15], [20, 28], [30, 33], [40, 49], [50, 57], [60, 66]]);
        assert_eq!(handed.usual, [Some(5), Some(8)]);
        assert_eq!(handed.pair.least, [Some(3), Some(6)]);
        assert_eq!(Handed::of([0, 1], &[]).usual, [None, None]);
    }
}
