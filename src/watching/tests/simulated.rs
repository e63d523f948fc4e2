//! A simulated machine with clocks to sample and events at known times, to test the judge.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::watching::{Look, Machine};

const PERIOD: i64 = 100_000_000;
/// Samples between two readings of the machine state.
const MACHINE_EVERY: u64 = 20;
const INTERRUPTS_A_SECOND: f64 = 150.0;

/// An event of the simulated machine; durations are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Plan {
    /// The host stops the machine; its clocks continue.
    MachineStopped(f64),
    /// A signal stops the process.
    ProcessStopped(f64),
    /// The control group of the process is frozen; no signal is sent.
    ProcessFrozen(f64),
    /// Other threads use the CPU.
    Preempted(f64),
    /// The host uses the CPU and reports it.
    Stolen(f64),
    /// The time of day is set.
    Step(f64),
    /// A leap second is inserted.
    Leap,
    /// adjtimex trims the rate, in ppm.
    Slew(f64),
    /// adjtime slews for a number of seconds at 500 ppm.
    Adjtime(f64),
    /// The clock source changes; the value says whether the former one is still available.
    Source(bool),
    /// The machine sleeps.
    Suspend(f64),
    /// The host halts the machine with its clocks.
    Halted(f64),
    /// The counter jumps, in seconds.
    CounterJump(f64),
    /// The machine is moved: it stands still for this time, and the counter jumps.
    Moved(f64),
    /// The counter runs at another rate, in ppm.
    CounterRate(f64),
}

/// The simulated machine.
pub struct Simulated {
    random: StdRng,
    looks: u64,
    /// True time since the machine was started, in nanoseconds.
    now: f64,
    raw: f64,
    monotonic: f64,
    slept: f64,
    set: f64,
    halted: f64,
    counter: f64,
    interrupts: f64,
    stolen: f64,
    waited: f64,
    trim: f64,
    slewing_s: f64,
    hertz: f64,
    tai: i64,
    sources: [&'static str; 2],
    offered: bool,
    planned: i64,
    continued: bool,
    /// Change of the trim from sample to sample by a time service, in ppm.
    restless: f64,
}

impl Simulated {
    pub fn new(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let hertz = random.random_range(1e9..4e9);
        let restless = if random.random_bool(0.5) { 0.01 } else { 0.0 };
        Self {
            random,
            looks: 0,
            now: 0.0,
            raw: 7e12,
            monotonic: 7e12,
            slept: 3e12,
            set: 1.79e18,
            halted: 0.0,
            counter: 1e13,
            interrupts: 1e6,
            stolen: 0.0,
            waited: 0.0,
            trim: 3.0,
            slewing_s: 0.0,
            hertz,
            tai: 37,
            sources: ["tsc", "hpet"],
            offered: true,
            planned: 0,
            continued: false,
            restless,
        }
    }

    /// Lets time pass. If the machine runs, interrupts occur.
    fn pass(&mut self, ns: f64, runs: bool) {
        self.now += ns;
        let slewing = (self.slewing_s * 1e9).min(ns);
        self.slewing_s -= slewing / 1e9;
        self.raw += ns;
        self.monotonic += ns * (1.0 + self.trim / 1e6) + slewing * 500e-6;
        self.counter += ns * self.hertz / 1e9;
        if runs {
            let mean = ns / 1e9 * INTERRUPTS_A_SECOND;
            self.interrupts += mean * self.random.random_range(0.7..1.3);
        }
    }

    /// Makes an event happen now.
    pub fn happens(&mut self, what: Plan) {
        match what {
            Plan::MachineStopped(s) => self.pass(s * 1e9, false),
            Plan::ProcessStopped(s) => {
                self.pass(s * 1e9, true);
                self.continued = true;
            }
            Plan::ProcessFrozen(s) => self.pass(s * 1e9, true),
            Plan::Preempted(s) => {
                self.pass(s * 1e9, true);
                self.waited += s * 1e9;
            }
            Plan::Stolen(s) => {
                self.pass(s * 1e9, false);
                self.stolen += s * 1e9;
            }
            Plan::Step(s) => self.set += s * 1e9,
            Plan::Leap => {
                self.set -= 1e9;
                self.tai += 1;
            }
            Plan::Slew(ppm) => self.trim += ppm,
            Plan::Adjtime(s) => self.slewing_s += s,
            Plan::Source(offered) => {
                self.sources.swap(0, 1);
                self.offered = offered;
                // The kernel calibrates each clock source separately.
                self.hertz *= 1.0 - 30e-6;
            }
            Plan::Suspend(s) => {
                self.slept += s * 1e9;
                self.counter = 0.0;
            }
            Plan::Halted(s) => self.halted += s * 1e9,
            Plan::CounterJump(s) => self.counter += s * self.hertz,
            Plan::Moved(s) => {
                self.pass(s * 1e9, false);
                self.counter += 123.0 * self.hertz;
            }
            Plan::CounterRate(ppm) => self.hertz *= 1.0 + ppm / 1e6,
        }
    }

    /// Takes the next sample.
    pub fn look(&mut self) -> Look {
        let was = self.planned;
        self.planned = if was == 0 { self.monotonic as i64 } else { was };
        let left = (self.planned as f64 - self.monotonic).max(0.0);
        // A waiting thread wakes late, sometimes by milliseconds.
        let late = if self.random.random_bool(0.02) {
            self.random.random_range(0.0..6e6)
        } else {
            self.random.random_range(5e4..2e5)
        };
        self.pass(left + late, true);
        self.trim += self.restless * self.random.random_range(-1.0..1.0);
        let mut read = |took: f64| {
            let at = self.random.random_range(0.0..took);
            [self.monotonic, self.raw].map(|clock| (clock + at) as i64)
        };
        let took: f64 = 800.0;
        let ([monotonic, _], [real, _], [boot, _], [_, raw], [_, counted]) =
            (read(took), read(took), read(took), read(took), read(took));
        let counter = self.counter + (counted as f64 - self.raw) * self.hertz / 1e9;
        let look = Look {
            planned: self.planned,
            monotonic,
            boottime: Some(boot + self.slept as i64),
            raw: Some(raw),
            realtime: Some(real + self.slept as i64 + self.set as i64),
            counter: Some(counter as u64),
            took: took as i64,
            continued: std::mem::take(&mut self.continued),
            waited: Some(self.waited as u64),
            trim_ppm: Some(self.trim),
            tai_offset_s: Some(self.tai),
            machine: None,
        };
        let asked =
            self.looks.is_multiple_of(MACHINE_EVERY) || monotonic - self.planned > 10_000_000;
        self.looks += 1;
        self.planned = monotonic + PERIOD;
        let machine = asked.then(|| Machine {
            source: Some(self.sources[0].to_owned()),
            sources: self
                .sources
                .iter()
                .take(if self.offered { 2 } else { 1 })
                .map(|&name| name.to_owned())
                .collect(),
            interrupts: Some(self.interrupts as u64),
            stolen_ns: Some((self.stolen / 1e7) as u64 * 10_000_000),
            rtc_s: Some(((self.monotonic + self.slept + self.halted) / 1e9) as i64),
        });
        Look { machine, ..look }
    }
}
