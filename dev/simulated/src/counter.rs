//! Simulates a machine of several CPUs whose counter has declared faults.
//!
//! Each CPU has a counter, computed from one true time and the declared [faults](CounterFault). The
//! clocks of the kernel are correct.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::draw::exponential;
use timers::raw::Machine;
use timers::{Activity, Answer, BackwardSteps};

/// A fault of the counter. Times are true times in nanoseconds; moments count from the start of the
/// simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CounterFault {
    /// The counter of one CPU is ahead of the others, or behind if negative.
    Offset {
        /// The CPU.
        cpu: u32,
        /// The offset.
        ns: f64,
    },
    /// The counter of one CPU runs faster than the others, since one second before the start.
    Rate {
        /// The CPU.
        cpu: u32,
        /// The relative difference in rate.
        ppm: f64,
    },
    /// A share of all readings is too low.
    Backward {
        /// The share of readings.
        share: f64,
        /// The difference.
        ns: f64,
    },
    /// A share of the readings that follow a reading on another CPU is too low.
    Between {
        /// The share of readings.
        share: f64,
        /// The difference.
        ns: f64,
    },
    /// The counters of all CPUs jump forward.
    Leap {
        /// The moment.
        at_ns: f64,
        /// The difference.
        ns: f64,
    },
    /// The counters of all CPUs stop for a time and continue from the same value.
    Freeze {
        /// The moment.
        at_ns: f64,
        /// The duration.
        ns: f64,
    },
    /// The counters of all CPUs run slower while the thread sleeps.
    Asleep {
        /// The relative difference in rate.
        ppm: f64,
    },
    /// The counters of all CPUs run faster from a moment on.
    Change {
        /// The moment.
        at_ns: f64,
        /// The relative difference in rate.
        ppm: f64,
    },
    /// No counter moves.
    Stuck,
}

/// The declared properties of a simulated machine.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterModel {
    /// The true rate of the counter in hertz.
    pub hz: f64,
    /// The number of CPUs.
    pub cpus: u32,
    /// The cost of a read of the counter in nanoseconds.
    pub read_ns: f64,
    /// The cost of a read of a clock in nanoseconds.
    pub clock_ns: f64,
    /// The shortest time of a handoff to another CPU in nanoseconds.
    pub handoff_ns: f64,
    /// The declared rate of the counter in hertz.
    pub declared_hz: Option<f64>,
    /// The nanoseconds per tick with which the kernel converts the counter.
    pub kernel_ns_per_tick: Option<f64>,
    /// The clock source of the kernel. Its clocks are correct, whatever the counter does.
    pub clock_source: &'static str,
    /// The rate of the counter in the name of the processor in megahertz.
    pub named_mhz: Option<u64>,
    /// The mean time in nanoseconds after which an unpinned thread moves to another CPU.
    pub moved_every_ns: f64,
    /// The faults of the counter.
    pub faults: Vec<CounterFault>,
}

impl CounterModel {
    /// Returns a machine without faults, whose rate is declared correctly.
    #[must_use]
    pub fn sound(hz: f64, cpus: u32) -> Self {
        Self {
            hz,
            cpus,
            read_ns: 9.0,
            clock_ns: 21.0,
            handoff_ns: 60.0,
            declared_hz: Some(hz),
            kernel_ns_per_tick: Some(1e9 / hz),
            clock_source: "tsc",
            named_mhz: None,
            moved_every_ns: f64::INFINITY,
            faults: Vec::new(),
        }
    }
}

/// A running simulated machine.
pub struct CounterMachine {
    model: CounterModel,
    random: StdRng,
    /// True time since the start of the simulation, in nanoseconds.
    now: f64,
    /// The part of it that the thread slept, in nanoseconds.
    asleep: f64,
    cpu: u32,
    pinned: bool,
    next_move: f64,
}

/// The uptime of the machine at the start of the simulation, in nanoseconds.
const INITIAL_UPTIME_NS: f64 = 1e9;
/// The share of reads that are interrupted.
const INTERRUPTED_SHARE: f64 = 1e-5;

impl CounterMachine {
    /// Starts a machine; the seed determines all random values.
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
        if self.random.random_bool(INTERRUPTED_SHARE) {
            self.now += exponential(3e3, &mut self.random);
        }
        if !self.pinned && self.now >= self.next_move {
            self.cpu = self.random.random_range(0..self.model.cpus.max(1));
            self.next_move = self.now + exponential(self.model.moved_every_ns, &mut self.random);
        }
    }

    /// Returns the counter of a CPU in nanoseconds, without the faults of single readings.
    fn counter_ns(&self, cpu: u32) -> f64 {
        if self.model.faults.contains(&CounterFault::Stuck) {
            return INITIAL_UPTIME_NS;
        }
        let now = self.now;
        let passed = |at_ns: f64| (now - at_ns).max(0.0);
        let error_ns = |fault: &CounterFault| match *fault {
            CounterFault::Offset { cpu: faulty, ns } if faulty == cpu => ns,
            CounterFault::Rate { cpu: faulty, ppm } if faulty == cpu => {
                (INITIAL_UPTIME_NS + now) * ppm * 1e-6
            }
            CounterFault::Leap { at_ns, ns } if now >= at_ns => ns,
            CounterFault::Freeze { at_ns, ns } => -passed(at_ns).min(ns),
            CounterFault::Asleep { ppm } => -self.asleep * ppm * 1e-6,
            CounterFault::Change { at_ns, ppm } => passed(at_ns) * ppm * 1e-6,
            _ => 0.0,
        };
        INITIAL_UPTIME_NS + now + self.model.faults.iter().map(error_ns).sum::<f64>()
    }

    fn ticks(&self, ns: f64) -> u64 {
        (ns * 1e-9 * self.model.hz) as u64
    }

    /// Reads the counter of a CPU; `follows` says whether the previous reading was on another CPU.
    fn read(&mut self, cpu: u32, follows: bool) -> u64 {
        let mut ns = self.counter_ns(cpu);
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
        let value = (INITIAL_UPTIME_NS + self.now) as u64;
        self.spend(self.model.clock_ns / 2.0);
        value
    }

    fn untrimmed_clock(&mut self) -> u64 {
        self.clock()
    }

    fn pass(&mut self, span: Duration, during: Activity) {
        let ns = span.as_nanos() as f64;
        let ns = if during == Activity::Spin {
            ns
        } else {
            ns + exponential(5e4, &mut self.random)
        };
        self.asleep += if during == Activity::Spin { 0.0 } else { ns };
        self.now += ns;
        self.spend(0.0);
    }

    fn declared_hz(&mut self) -> Option<f64> {
        self.model.declared_hz
    }

    fn kernel_ns_per_tick(&mut self) -> Option<f64> {
        self.model.kernel_ns_per_tick
    }

    fn clock_source(&mut self) -> Option<String> {
        Some(self.model.clock_source.to_owned())
    }

    fn named_mhz(&mut self) -> Option<u64> {
        self.model.named_mhz
    }

    fn cpus(&mut self) -> Vec<u32> {
        (0..self.model.cpus).collect()
    }

    fn move_to(&mut self, cpu: u32) -> bool {
        (self.cpu, self.pinned) = (cpu, true);
        self.now += 2e4;
        cpu < self.model.cpus
    }

    fn count_backward_steps(&mut self, count: u32) -> Answer<BackwardSteps> {
        let readings: Vec<i64> = (0..count).map(|_| self.counter() as i64).collect();
        Ok(BackwardSteps::from_readings(&readings))
    }

    fn handoffs_fenced(&mut self, cpus: &[[u32; 2]], count: u32) -> Answer<Vec<Vec<[i64; 2]>>> {
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
        self.handoffs_fenced(cpus, count)
    }
}
