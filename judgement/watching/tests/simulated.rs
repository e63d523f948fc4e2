//! A simulated machine with clocks to sample and events at known times, to test the judge.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::model::VmClock;
use crate::watching::{ClockSample, MachineState};

const PERIOD_NS: i64 = 100_000_000;
/// Number of samples from one reading of the machine state to the next.
const SAMPLES_PER_MACHINE_STATE: u64 = 20;
const INTERRUPTS_PER_SECOND: f64 = 150.0;

/// An event of the simulated machine. Numbers are seconds unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Plan {
    /// The host stops the machine; its clocks continue.
    MachineStopped(f64),
    /// A signal stops the process.
    ProcessStopped(f64),
    /// The control group of the process is frozen; no signal is sent.
    ProcessFrozen(f64),
    /// The control group of the process and all work of the machine has used up its CPU quota.
    Throttled(f64),
    /// As `Throttled`, where nothing shows it, because the group is outside the container.
    ThrottledUnseen(f64),
    /// Other threads use the CPU.
    Preempted(f64),
    /// The host uses the CPU and reports it.
    Stolen(f64),
    /// The time of day is set.
    Step(f64),
    /// A leap second is inserted.
    Leap,
    /// adjtimex changes the rate by this many ppm.
    Slew(f64),
    /// adjtime slews for this time, by this many ppm.
    Adjtime(f64, f64),
    /// The clock source changes; the value says whether the former one is still available.
    Source(bool),
    /// The machine is suspended.
    Suspend(f64),
    /// The host halts the machine with its clocks.
    Halted(f64),
    /// The counter jumps by this time.
    CounterJump(f64),
    /// The machine is moved: it stands still for this time, and the counter jumps.
    Moved(f64),
    /// The rate of the counter changes by this many ppm.
    CounterRate(f64),
}

/// The simulated machine.
pub struct Simulated {
    random: StdRng,
    samples_taken: u64,
    /// True time since the machine was started, in nanoseconds.
    now: f64,
    raw: f64,
    monotonic: f64,
    slept: f64,
    set: f64,
    halted: f64,
    counter: f64,
    interrupts: f64,
    /// The page of the VMClock device, if there is one.
    pub vmclock: Option<VmClock>,
    stolen: f64,
    run_queue_ns: f64,
    throttled_ns: f64,
    is_contained: bool,
    trim: f64,
    slewing_s: f64,
    slew_ppm: f64,
    /// Whether other programs often interrupt the thread between the reads of a sample.
    pub is_busy: bool,
    hertz: f64,
    tai: i64,
    sources: [&'static str; 2],
    is_former_source_available: bool,
    planned: i64,
    continued: bool,
    /// Whether the thread was stopped or waited for something since the last sample.
    woke: bool,
    /// Change of the trim from sample to sample by a time service, in ppm.
    trim_wander_ppm: f64,
}

impl Simulated {
    pub fn new(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let hertz = random.random_range(1e9..4e9);
        let trim_wander_ppm = if random.random_bool(0.5) { 0.01 } else { 0.0 };
        Self {
            random,
            samples_taken: 0,
            now: 0.0,
            raw: 7e12,
            monotonic: 7e12,
            slept: 3e12,
            set: 1.79e18,
            halted: 0.0,
            counter: 1e13,
            interrupts: 1e6,
            vmclock: None,
            stolen: 0.0,
            run_queue_ns: 0.0,
            throttled_ns: 0.0,
            is_contained: false,
            trim: 3.0,
            slewing_s: 0.0,
            slew_ppm: 0.0,
            is_busy: false,
            hertz,
            tai: 37,
            sources: ["tsc", "hpet"],
            is_former_source_available: true,
            planned: 0,
            continued: false,
            woke: false,
            trim_wander_ppm,
        }
    }

    /// True time since the machine was started, in nanoseconds.
    pub fn now(&self) -> f64 {
        self.now
    }

    /// Lets time pass on all clocks. If `runs`, the machine has interrupts meanwhile.
    fn pass(&mut self, ns: f64, runs: bool) {
        self.now += ns;
        let slewing = (self.slewing_s * 1e9).min(ns);
        self.slewing_s -= slewing / 1e9;
        self.raw += ns;
        self.monotonic += ns * (1.0 + self.trim / 1e6) + slewing * self.slew_ppm / 1e6;
        self.counter += ns * self.hertz / 1e9;
        if runs {
            let mean = ns / 1e9 * INTERRUPTS_PER_SECOND;
            self.interrupts += mean * self.random.random_range(0.7..1.3);
        }
    }

    /// Makes the event of a plan happen now.
    pub fn apply(&mut self, plan: Plan) {
        match plan {
            Plan::MachineStopped(s) => self.pass(s * 1e9, false),
            Plan::ProcessStopped(s) => {
                self.pass(s * 1e9, true);
                (self.continued, self.woke) = (true, true);
            }
            Plan::ProcessFrozen(s) => {
                self.pass(s * 1e9, true);
                self.woke = true;
            }
            Plan::Throttled(s) => {
                self.pass(s * 1e9, false);
                self.throttled_ns += s * 1e9;
            }
            Plan::ThrottledUnseen(s) => {
                self.pass(s * 1e9, false);
                self.is_contained = true;
            }
            Plan::Preempted(s) => {
                self.pass(s * 1e9, true);
                self.run_queue_ns += s * 1e9;
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
            Plan::Adjtime(s, ppm) => (self.slewing_s, self.slew_ppm) = (s, ppm),
            Plan::Source(is_former_source_available) => {
                self.sources.swap(0, 1);
                self.is_former_source_available = is_former_source_available;
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
    pub fn sample(&mut self) -> ClockSample {
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
        self.trim += self.trim_wander_ppm * self.random.random_range(-1.0..1.0);
        let duration_ns: f64 = match self.random.random_range(0..100) {
            0..5 if self.is_busy => self.random.random_range(5e3..3e6),
            5..30 if self.is_busy => self.random.random_range(8e2..5e3),
            _ => 800.0,
        };
        let mut read = |duration_ns: f64| {
            let at = self.random.random_range(0.0..duration_ns);
            [self.monotonic, self.raw].map(|clock| (clock + at) as i64)
        };
        let ([monotonic, _], [real, _], [boot, _], [_, raw], [_, counted]) = (
            read(duration_ns),
            read(duration_ns),
            read(duration_ns),
            read(duration_ns),
            read(duration_ns),
        );
        let counter = self.counter + (counted as f64 - self.raw) * self.hertz / 1e9;
        let sample = ClockSample {
            planned: self.planned,
            monotonic,
            boottime: Some(boot + self.slept as i64),
            raw: Some(raw),
            realtime: Some(real + self.slept as i64 + self.set as i64),
            counter: Some(counter as u64),
            duration_ns: duration_ns as i64,
            continued: std::mem::take(&mut self.continued),
            slept_through: Some(!std::mem::take(&mut self.woke)).filter(|_| !self.is_contained),
            run_queue_ns: Some(self.run_queue_ns as u64),
            throttled_ns: Some(self.throttled_ns as u64),
            trim_ppm: Some(self.trim),
            tai_offset_s: Some(self.tai),
            machine: None,
        };
        let reads_machine = self.samples_taken.is_multiple_of(SAMPLES_PER_MACHINE_STATE)
            || monotonic - self.planned > 10_000_000;
        self.samples_taken += 1;
        self.planned = monotonic + PERIOD_NS;
        let machine = reads_machine.then(|| MachineState {
            source: Some(self.sources[0].to_owned()),
            sources: self
                .sources
                .iter()
                .take(if self.is_former_source_available {
                    2
                } else {
                    1
                })
                .map(|&name| name.to_owned())
                .collect(),
            interrupts: Some(self.interrupts as u64),
            stolen_ns: Some((self.stolen / 1e7) as u64 * 10_000_000),
            rtc_s: Some(((self.monotonic + self.slept + self.halted) / 1e9) as i64),
            vmclock: self.vmclock,
        });
        ClockSample { machine, ..sample }
    }
}
