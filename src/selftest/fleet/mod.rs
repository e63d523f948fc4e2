//! Fleets of known truth: reports of nodes that never were. What is wrong with which node is drawn from the seed, and with it what a
//! kernel does to the costs of its calls; all else is scatter between nodes, between runs and of the measurement.

pub mod harder;
mod machine;
mod node;
pub mod outliers;
mod platform;
mod report;
mod row;
mod runs;
pub mod share;
mod timers;

pub use node::{Lack, Node, Since};
pub use runs::{Planted, Scatter};
pub use timers::{Simulated, simulated};

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

/// When nodes are probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before the kernel was upgraded.
    Before,
    /// After it was upgraded on all nodes.
    After,
}

/// What calls that the kernel answers cost with the newer kernel, over what they cost with the older one.
pub const REGRESSION: f64 = 1.08;
/// Standard deviation of the logarithm of a cost between two runs of a node, a timer.
pub const BETWEEN_RUNS: f64 = 0.01;
/// The share of nodes whose clock source fell, half of them before the upgrade.
pub const FELL: f64 = 0.01;
/// The share of nodes whose TSC drifts.
pub const DRIFTS: f64 = 0.005;
/// The share of nodes that were never quiet.
pub const RESTLESS: f64 = 0.03;
/// The share of nodes that lack a timer, half of them from the upgrade on.
pub const LACKS: f64 = 0.02;

/// Nodes, and the timers that they have.
#[derive(Clone, Debug)]
pub struct Fleet {
    seed: u64,
    /// A place in the order of faults for each node: so many have each, whatever the seed.
    ranks: Vec<u32>,
    timers: Vec<Simulated>,
    /// Quantile of Student's t that makes the intervals.
    quantile: f64,
}

impl Fleet {
    /// A fleet of so many nodes.
    #[must_use]
    pub fn new(nodes: u32, seed: u64) -> Self {
        let mut ranks: Vec<u32> = (0..nodes).collect();
        ranks.shuffle(&mut StdRng::seed_from_u64(seed));
        Self { seed, ranks, timers: simulated(), quantile: row::quantile() }
    }

    /// How many nodes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ranks.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    /// What it was drawn from.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Its timers.
    #[must_use]
    pub fn timers(&self) -> &[Simulated] {
        &self.timers
    }

    /// What is true of a node, which is one of [`len`](Self::len).
    #[must_use]
    pub fn node(&self, index: usize) -> Node {
        let rank = self.ranks.get(index).copied().unwrap_or(u32::MAX) as usize;
        Node::drawn(index, rank, self.len(), &mut self.random(index, 0))
    }

    /// When a node is probed in a fleet in the midst of the upgrade: about half of them have the newer kernel.
    #[must_use]
    pub fn midway(&self, node: &Node) -> Moment {
        if self.random(node.index, 1).random() { Moment::After } else { Moment::Before }
    }

    /// Numbers of a node for one purpose, which others do not change.
    fn random(&self, index: usize, purpose: u64) -> StdRng {
        /// Odd, so that no two nodes share a seed (the golden ratio, as in Steele et al., OOPSLA 2014).
        const APART: u64 = 0x9e37_79b9_7f4a_7c15;
        StdRng::seed_from_u64(self.seed ^ APART.wrapping_mul(8 * index as u64 + purpose + 1))
    }
}
