//! A simulated machine of several CPUs whose counter has known faults.
//!
//! What ticks: a counter a CPU, all made of one true time. How it lies: as its
//! [faults](CounterFault) say, and in no other way. Its kernel's clocks are right.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::exponential;
use timers::raw::Machine;
use timers::{Answer, During, Ordered};

/// What is wrong with a counter. Times are true ones, in nanoseconds; moments are counted from the
/// start of the simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CounterFault {
    /// That of one CPU is ahead of the others, or behind.
    Offset {
        /// The CPU.
        cpu: u32,
        /// By how much.
        ns: f64,
    },
    /// That of one CPU runs faster than the others, and has done so for a second.
    Rate {
        /// The CPU.
        cpu: u32,
        /// By how much.
        ppm: f64,
    },
    /// A share of all readings lies back.
    Backward {
        /// How often.
        share: f64,
        /// By how much.
        ns: f64,
    },
    /// A share of the readings that follow one on another CPU lies back.
    Between {
        /// How often.
        share: f64,
        /// By how much.
        ns: f64,
    },
    /// All leap forward at once.
    Leap {
        /// When.
        at_ns: f64,
        /// By how much.
        ns: f64,
    },
    /// All stand still, and go on where they were.
    Freeze {
        /// When.
        at_ns: f64,
        /// For how long.
        ns: f64,
    },
    /// All are slower while the thread sleeps.
    Asleep {
        /// By how much.
        ppm: f64,
    },
    /// All run faster from some moment on.
    Change {
        /// When.
        at_ns: f64,
        /// By how much.
        ppm: f64,
    },
    /// It does not move at all.
    Stuck,
}

/// A machine with a counter.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterModel {
    /// True ticks a second.
    pub hz: f64,
    /// CPUs.
    pub cpus: u32,
    /// What a read of the counter takes, in nanoseconds.
    pub read_ns: f64,
    /// What a read of a clock takes.
    pub clock_ns: f64,
    /// What handing over to another CPU takes at least.
    pub handoff_ns: f64,
    /// Ticks a second as they are declared.
    pub declared_hz: Option<f64>,
    /// Nanoseconds a tick by which the kernel converts it.
    pub kernel_ns: Option<f64>,
    /// Mean time after which a thread that may run anywhere is carried on by another CPU.
    pub moved_every_ns: f64,
    /// What is wrong.
    pub faults: Vec<CounterFault>,
}

impl CounterModel {
    /// A sound one, declared as it is.
    #[must_use]
    pub fn sound(hz: f64, cpus: u32) -> Self {
        Self {
            hz,
            cpus,
            read_ns: 9.0,
            clock_ns: 21.0,
            handoff_ns: 60.0,
            declared_hz: Some(hz),
            kernel_ns: Some(1e9 / hz),
            moved_every_ns: f64::INFINITY,
            faults: Vec::new(),
        }
    }
}

/// One that runs.
pub struct CounterMachine {
    model: CounterModel,
    random: StdRng,
    /// True time since the start of the simulation, and how much of it the thread slept.
    now: f64,
    asleep: f64,
    cpu: u32,
    pinned: bool,
    next_move: f64,
}

/// For how long the machine has run before.
const BEFORE_NS: f64 = 1e9;
/// One read in this many is interrupted.
const INTERRUPTED: f64 = 1e-5;

impl CounterMachine {
    /// A machine of its own for each seed.
    #[must_use]
    pub fn new(model: CounterModel, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let next_move = exponential(model.moved_every_ns, &mut random);
        Self {
            model,
            random,
            now: 0.0,
            asleep: 0.0,
            cpu: 0,
            pinned: false,
            next_move,
        }
    }

    fn spend(&mut self, ns: f64) {
        self.now += ns * self.random.random_range(0.95..1.05);
        if self.random.random_bool(INTERRUPTED) {
            self.now += exponential(3e3, &mut self.random);
        }
        if !self.pinned && self.now >= self.next_move {
            self.cpu = self.random.random_range(0..self.model.cpus.max(1));
            self.next_move = self.now + exponential(self.model.moved_every_ns, &mut self.random);
        }
    }

    /// Where the counter of a CPU stands, but for what befalls single readings.
    fn stands(&self, cpu: u32) -> f64 {
        if self.model.faults.contains(&CounterFault::Stuck) {
            return BEFORE_NS;
        }
        let now = self.now;
        let passed = |at_ns: f64| (now - at_ns).max(0.0);
        let lost_or_won = |fault: &CounterFault| match *fault {
            CounterFault::Offset { cpu: of, ns } if of == cpu => ns,
            CounterFault::Rate { cpu: of, ppm } if of == cpu => (BEFORE_NS + now) * ppm * 1e-6,
            CounterFault::Leap { at_ns, ns } if now >= at_ns => ns,
            CounterFault::Freeze { at_ns, ns } => -passed(at_ns).min(ns),
            CounterFault::Asleep { ppm } => -self.asleep * ppm * 1e-6,
            CounterFault::Change { at_ns, ppm } => passed(at_ns) * ppm * 1e-6,
            _ => 0.0,
        };
        BEFORE_NS + now + self.model.faults.iter().map(lost_or_won).sum::<f64>()
    }

    fn ticks(&self, ns: f64) -> u64 {
        (ns * 1e-9 * self.model.hz) as u64
    }

    /// A reading there, of one that follows a reading elsewhere or does not.
    fn read(&mut self, cpu: u32, follows: bool) -> u64 {
        let mut ns = self.stands(cpu);
        for fault in &self.model.faults {
            match *fault {
                CounterFault::Backward { share, ns: by } if self.random.random_bool(share) => {
                    ns -= by
                }
                CounterFault::Between { share, ns: by }
                    if follows && self.random.random_bool(share) =>
                {
                    ns -= by
                }
                _ => {}
            }
        }
        self.ticks(ns)
    }
}

impl Machine for CounterMachine {
    fn counter(&mut self) -> u64 {
        self.spend(self.model.read_ns / 2.0);
        let value = self.read(self.cpu, false);
        self.spend(self.model.read_ns / 2.0);
        value
    }

    fn clock(&mut self) -> u64 {
        self.spend(self.model.clock_ns / 2.0);
        let value = (BEFORE_NS + self.now) as u64;
        self.spend(self.model.clock_ns / 2.0);
        value
    }

    fn untrimmed(&mut self) -> u64 {
        self.clock()
    }

    fn pass(&mut self, span: Duration, during: During) {
        let ns = span.as_nanos() as f64;
        let ns = if during == During::Spin {
            ns
        } else {
            ns + exponential(5e4, &mut self.random)
        };
        self.asleep += if during == During::Spin { 0.0 } else { ns };
        self.now += ns;
        self.spend(0.0);
    }

    fn declared_hz(&mut self) -> Option<f64> {
        self.model.declared_hz
    }

    fn kernel_ns(&mut self) -> Option<f64> {
        self.model.kernel_ns
    }

    fn cpus(&mut self) -> Vec<u32> {
        (0..self.model.cpus).collect()
    }

    fn move_to(&mut self, cpu: u32) -> bool {
        (self.cpu, self.pinned) = (cpu, true);
        self.now += 2e4;
        cpu < self.model.cpus
    }

    fn order(&mut self, count: u32) -> Answer<Ordered> {
        let readings: Vec<i64> = (0..count).map(|_| self.counter() as i64).collect();
        Ok(Ordered::from_readings(&readings))
    }

    fn handoffs_between(&mut self, cpus: &[[u32; 2]], count: u32) -> Answer<Vec<Vec<[i64; 2]>>> {
        let mut one = |pair: &[u32; 2], number: u32| {
            let [from, to] = if number.is_multiple_of(2) {
                *pair
            } else {
                [pair[1], pair[0]]
            };
            let first = self.read(from, false);
            let beyond = exponential(0.3 * self.model.handoff_ns, &mut self.random);
            self.spend(self.model.handoff_ns + beyond);
            [first as i64, self.read(to, true) as i64]
        };
        Ok(cpus
            .iter()
            .map(|pair| (0..count).map(|number| one(pair, number)).collect())
            .collect())
    }

    fn handoffs_unfenced(&mut self, cpus: &[[u32; 2]], count: u32) -> Answer<Vec<Vec<[i64; 2]>>> {
        self.handoffs_between(cpus, count)
    }
}
