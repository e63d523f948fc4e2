//! What machines like a node have: the clock source of most of them, and how many keep the trust of a timer.

use std::collections::HashMap;

use crate::fleet::node::{Machine, Node, TimerName, Trust};

/// Machines that say what their like has; of fewer, most is chance.
/// *Judgement*.
pub(super) const FEWEST_LIKE: usize = 10;

/// The fleet as a whole.
pub(super) struct Likeness<'a> {
    /// How often each clock source occurs among machines of a CPU and hypervisor, and among those of an architecture.
    sources: HashMap<Like<'a>, HashMap<&'a str, usize>>,
    /// How many nodes keep the trust of a timer, and how many lose it.
    trust: HashMap<TimerName, [usize; 2]>,
    /// How many nodes can read a timer.
    read: HashMap<TimerName, usize>,
}

/// Machines that should have the same clock source.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Like<'a> {
    Cpu(&'a str, &'a str),
    Architecture(&'a str),
}

/// What most machines like one have.
pub(super) struct Common<'a> {
    pub clocksource: &'a str,
    /// How many have it, and of how many.
    pub nodes: usize,
    pub of: usize,
    /// What they have in common, in words.
    pub like: String,
}

impl<'a> Likeness<'a> {
    pub fn of(nodes: &'a [Node]) -> Self {
        let mut all = Self { sources: HashMap::new(), trust: HashMap::new(), read: HashMap::new() };
        for node in nodes {
            let source = node.machine.clocksource.as_str();
            if !source.is_empty() {
                for like in Like::of(&node.machine) {
                    *all.sources.entry(like).or_default().entry(source).or_default() += 1;
                }
            }
            for reading in &node.readings {
                match reading.trust {
                    Trust::Unknown => {}
                    Trust::Kept => all.trust.entry(reading.timer).or_default()[0] += 1,
                    Trust::Lost(_) => all.trust.entry(reading.timer).or_default()[1] += 1,
                }
                if reading.is_read() {
                    *all.read.entry(reading.timer).or_default() += 1;
                }
            }
        }
        all
    }

    /// What more than half of the machines like this one have; `None` where they are too few or divided.
    pub fn common(&self, machine: &Machine) -> Option<Common<'_>> {
        let count = |like: &Like| self.sources.get(like).map_or(0, |sources| sources.values().sum());
        let like = Like::of(machine).into_iter().find(|like| count(like) >= FEWEST_LIKE)?;
        let (clocksource, nodes) = self.sources.get(&like)?.iter().max_by_key(|(_, nodes)| **nodes)?;
        let of = count(&like);
        (2 * nodes > of).then(|| Common { clocksource, nodes: *nodes, of, like: like.in_words() })
    }

    /// How many nodes can read this timer.
    pub fn read(&self, timer: TimerName) -> usize {
        self.read.get(&timer).copied().unwrap_or(0)
    }

    /// How many nodes keep the trust of this timer, where they are more than those that lose it.
    pub fn keep(&self, timer: TimerName) -> Option<usize> {
        self.trust.get(&timer).filter(|[kept, lost]| kept > lost).map(|[kept, _]| *kept)
    }
}

impl<'a> Like<'a> {
    /// The closest first.
    fn of(machine: &'a Machine) -> [Self; 2] {
        [Self::Cpu(&machine.cpu, &machine.hypervisor), Self::Architecture(&machine.architecture)]
    }

    fn in_words(self) -> String {
        match self {
            Self::Cpu(cpu, "") => format!("machines with {cpu}"),
            Self::Cpu(cpu, hypervisor) => format!("machines with {cpu} and {hypervisor}"),
            Self::Architecture(architecture) => format!("machines of {architecture}"),
        }
    }
}
