//! What is true of a node.

use rand::RngExt;
use rand::rngs::StdRng;
use rand_distr::{Distribution, StandardNormal};
use serde::Serialize;

use super::machine::Instance;
use super::{DRIFTS, FELL, LACKS, Moment, RESTLESS};

/// Standard deviation of the logarithm of what a node costs beside others of its kind.
const BETWEEN_NODES: f64 = 0.03;

/// Since when something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Since {
    /// All the time.
    Before,
    /// Since the upgrade.
    After,
}

impl Since {
    /// Whether it is so at that moment.
    #[must_use]
    pub fn holds(self, moment: Moment) -> bool {
        self == Self::Before || moment == Moment::After
    }

    /// One node since the upgrade, the next all the time.
    fn of(rank: usize) -> Self {
        if rank.is_multiple_of(2) { Self::After } else { Self::Before }
    }
}

/// A timer that a node lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Lack {
    /// The timer.
    pub timer: &'static str,
    /// Since when.
    pub since: Since,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// Its place in the fleet.
    pub(super) index: usize,
    /// Its name, which no other has.
    pub name: String,
    /// What kind of machine it is.
    pub instance: &'static str,
    /// Since when its clock source is `hpet`.
    pub fell: Option<Since>,
    /// Since when its TSC drifts.
    pub drifts: Option<Since>,
    /// By how many ppm it does.
    pub drift_ppm: Option<f64>,
    /// How far the TSC of its last CPU is ahead, in nanoseconds, where that is more than a microsecond.
    pub offset_ns: Option<f64>,
    /// Whether it was never quiet.
    pub restless: bool,
    /// What it lacks.
    pub lacks: Option<Lack>,
    /// What it costs beside others of its kind.
    pub(super) factor: f64,
    #[serde(skip)]
    pub(super) machine: &'static Instance,
}

/// What nodes may lack: neither the reference nor what much hangs on.
const LACKED: [&str; 4] = ["tai", "rdtscp", "perf-task-clock", "boottime-syscall"];

impl Node {
    /// Faults go by rank, so that so many nodes have each; all else is drawn.
    pub(super) fn drawn(index: usize, rank: usize, nodes: usize, random: &mut StdRng) -> Self {
        let machine = Instance::drawn(random);
        let count = |share: f64| (share * nodes as f64).ceil() as usize;
        let bounds = [FELL, DRIFTS, RESTLESS, LACKS].map(count);
        // The place among those that have the fault of that number; no node has two.
        let place = |fault: usize| {
            let first: usize = bounds[..fault].iter().sum();
            (first..first + bounds[fault]).contains(&rank).then(|| rank - first)
        };
        let drifts = place(1).map(Since::of);
        let apart = random.random_range(1_500.0..20_000.0) * if random.random() { 1.0 } else { -1.0 };
        let ppm = random.random_range(20.0..400.0) * if random.random() { 1.0 } else { -1.0 };
        let scatter: f64 = StandardNormal.sample(random);
        Self {
            index,
            name: format!("{}-{index:05}", machine.name),
            instance: machine.name,
            fell: place(0).map(Since::of),
            drifts,
            drift_ppm: drifts.map(|_| ppm),
            offset_ns: place(1).filter(|place| place % 4 < 2).map(|_| apart),
            restless: place(2).is_some(),
            lacks: place(3)
                .map(|place| Lack { timer: LACKED[place / 2 % LACKED.len()], since: Since::of(place) }),
            factor: (BETWEEN_NODES * scatter).exp(),
            machine,
        }
    }

    /// Whether its clock source is `hpet`.
    #[must_use]
    pub fn has_fallen(&self, moment: Moment) -> bool {
        self.fell.is_some_and(|since| since.holds(moment))
    }

    /// Whether its TSC drifts.
    #[must_use]
    pub fn is_drifting(&self, moment: Moment) -> bool {
        self.drifts.is_some_and(|since| since.holds(moment))
    }

    /// Whether nothing is wrong with it that changes a clock.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.fell.is_none() && self.drifts.is_none()
    }
}
