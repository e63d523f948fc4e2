//! Simulates the handoffs between the CPUs of a machine whose counters differ.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::draw::exponential;

/// How the counter of one CPU differs from that of the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CounterFault {
    /// It is ahead, or behind if negative.
    Offset {
        /// The CPU.
        cpu: u32,
        /// The offset in nanoseconds.
        ns: f64,
    },
    /// It runs faster, since one second before the start.
    Rate {
        /// The CPU.
        cpu: u32,
        /// The relative difference in rate.
        ppm: f64,
    },
}

/// A simulated machine.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterModel {
    /// The rate of the counter in hertz.
    pub hz: f64,
    /// The number of CPUs.
    pub cpus: u32,
    /// The shortest time of a handoff to another CPU in nanoseconds.
    pub handoff_ns: f64,
    /// The fault, if there is one.
    pub fault: Option<CounterFault>,
}

/// The uptime of the machine at the start of the simulation, in nanoseconds.
const INITIAL_UPTIME_NS: f64 = 1e9;
/// The share of handoffs that are interrupted.
const INTERRUPTED_SHARE: f64 = 1e-5;

impl CounterModel {
    /// Returns the counter of a CPU, in ticks, at a time in nanoseconds since the start.
    fn read(&self, cpu: u32, now: f64) -> i64 {
        let uptime = INITIAL_UPTIME_NS + now;
        let error_ns = match self.fault {
            Some(CounterFault::Offset { cpu: faulty, ns }) if faulty == cpu => ns,
            Some(CounterFault::Rate { cpu: faulty, ppm }) if faulty == cpu => uptime * ppm * 1e-6,
            _ => 0.0,
        };
        ((uptime + error_ns) * 1e-9 * self.hz) as i64
    }

    /// Hands the counter from CPU to CPU, `count` times for each pair; the seed determines all random
    /// values.
    #[must_use]
    pub fn handoffs(&self, pairs: &[[u32; 2]], count: u32, seed: u64) -> Vec<Vec<[i64; 2]>> {
        let mut random = StdRng::seed_from_u64(seed);
        let mut now = 0.0;
        let mut handoff = |&[one, other]: &[u32; 2], number: u32| {
            let (from, to) = match number % 2 {
                0 => (one, other),
                _ => (other, one),
            };
            let first = self.read(from, now);
            let took = self.handoff_ns + exponential(0.3 * self.handoff_ns, &mut random);
            now += took * random.random_range(0.95..1.05);
            if random.random_bool(INTERRUPTED_SHARE) {
                now += exponential(3e3, &mut random);
            }
            [first, self.read(to, now)]
        };
        let list = |pair| (0..count).map(|number| handoff(pair, number)).collect();
        pairs.iter().map(list).collect()
    }
}
