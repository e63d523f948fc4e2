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
pub enum PlannedEvent {
    /// The host stops the machine; its clocks continue.
    MachineStopped(f64),
    /// A signal stops the process.
    ProcessStopped(f64),
    /// The control group of the process is frozen; no signal is sent.
    ProcessFrozen(f64),
    /// The control group of the process has used up its CPU quota; nothing else runs on the machine.
    Throttled(f64),
    /// As `Throttled`, but by a group outside the container, so the process cannot see it.
    ThrottledOutside(f64),
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
    /// The machine is restored from a snapshot, and its clocks follow those of the host.
    Leapt(f64),
    /// The counter jumps by this time.
    CounterJump(f64),
    /// The machine is moved: it stands still for this time, and the counter jumps.
    Moved(f64),
    /// The rate of the counter changes by this many ppm.
    CounterRate(f64),
}

/// The simulated machine.
///
/// Clocks and times are in nanoseconds unless their name says otherwise.
pub struct Simulated {
    random: StdRng,
    samples_taken: u64,
    /// Time since the start in nanoseconds, without suspends and halts.
    now: f64,
    raw: f64,
    monotonic: f64,
    slept: f64,
    realtime_offset: f64,
    halted: f64,
    /// The share by which the RTC is faster than all other clocks.
    pub rtc_excess: f64,
    counter: f64,
    interrupts: f64,
    /// Whether a time service reports that it synchronises the time of day.
    pub is_synchronised: bool,
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
    was_woken_early: bool,
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
            realtime_offset: 1.79e18,
            halted: 0.0,
            rtc_excess: 0.0,
            counter: 1e13,
            interrupts: 1e6,
            is_synchronised: false,
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
            was_woken_early: false,
            trim_wander_ppm,
        }
    }

    /// Time since the start in nanoseconds, without suspends and halts.
    pub fn now(&self) -> f64 {
        self.now
    }

    /// Lets time pass on all clocks. If `runs`, the machine has interrupts meanwhile.
    fn pass(&mut self, ns: f64, runs: bool) {
        self.now += ns;
        let slewing = (self.slewing_s * 1e9).min(ns);
        self.slewing_s -= slewing / 1e9;
        self.raw += ns;
        self.halted += ns * self.rtc_excess;
        self.monotonic += ns * (1.0 + self.trim / 1e6) + slewing * self.slew_ppm / 1e6;
        self.counter += ns * self.hertz / 1e9;
        if runs {
            let mean = ns / 1e9 * INTERRUPTS_PER_SECOND;
            self.interrupts += mean * self.random.random_range(0.7..1.3);
        }
    }

    /// Makes an event happen now.
    pub fn apply(&mut self, event: PlannedEvent) {
        match event {
            PlannedEvent::MachineStopped(s) => self.pass(s * 1e9, false),
            PlannedEvent::ProcessStopped(s) => {
                self.pass(s * 1e9, true);
                (self.continued, self.was_woken_early) = (true, true);
            }
            PlannedEvent::ProcessFrozen(s) => {
                self.pass(s * 1e9, true);
                self.was_woken_early = true;
            }
            PlannedEvent::Throttled(s) => {
                self.pass(s * 1e9, false);
                self.throttled_ns += s * 1e9;
            }
            PlannedEvent::ThrottledOutside(s) => {
                self.pass(s * 1e9, false);
                self.is_contained = true;
            }
            PlannedEvent::Preempted(s) => {
                self.pass(s * 1e9, true);
                self.run_queue_ns += s * 1e9;
            }
            PlannedEvent::Stolen(s) => {
                self.pass(s * 1e9, false);
                self.stolen += s * 1e9;
            }
            PlannedEvent::Step(s) => self.realtime_offset += s * 1e9,
            PlannedEvent::Leap => {
                self.realtime_offset -= 1e9;
                self.tai += 1;
            }
            PlannedEvent::Slew(ppm) => self.trim += ppm,
            PlannedEvent::Adjtime(s, ppm) => (self.slewing_s, self.slew_ppm) = (s, ppm),
            PlannedEvent::Source(is_former_source_available) => {
                self.sources.swap(0, 1);
                self.is_former_source_available = is_former_source_available;
                // The kernel calibrates each clock source separately.
                self.hertz *= 1.0 - 30e-6;
            }
            PlannedEvent::Suspend(s) => {
                self.slept += s * 1e9;
                self.counter = 0.0;
            }
            PlannedEvent::Halted(s) => self.halted += s * 1e9,
            PlannedEvent::Leapt(s) => {
                self.pass(s * 1e9, false);
                self.counter -= s * self.hertz;
            }
            PlannedEvent::CounterJump(s) => self.counter += s * self.hertz,
            PlannedEvent::Moved(s) => {
                self.pass(s * 1e9, false);
                self.counter += 123.0 * self.hertz;
            }
            PlannedEvent::CounterRate(ppm) => self.hertz *= 1.0 + ppm / 1e6,
        }
    }

    /// Takes the next sample.
    pub fn sample(&mut self) -> ClockSample {
        if self.planned == 0 {
            self.planned = self.monotonic as i64;
        }
        let remaining_ns = (self.planned as f64 - self.monotonic).max(0.0);
        // A waiting thread wakes late, sometimes by milliseconds.
        let delay_ns = if self.random.random_bool(0.02) {
            self.random.random_range(0.0..6e6)
        } else {
            self.random.random_range(5e4..2e5)
        };
        self.pass(remaining_ns + delay_ns, true);
        self.trim += self.trim_wander_ppm * self.random.random_range(-1.0..1.0);
        let duration_ns: f64 = match self.random.random_range(0..100) {
            0..5 if self.is_busy => self.random.random_range(5e3..3e6),
            5..30 if self.is_busy => self.random.random_range(8e2..5e3),
            _ => 800.0,
        };
        let mut read = |clock: f64| clock + self.random.random_range(0.0..duration_ns);
        let [monotonic, real, boot, raw] =
            [self.monotonic, self.monotonic, self.monotonic, self.raw]
                .map(|clock| read(clock) as i64);
        let counter = self.counter + read(0.0) * self.hertz / 1e9;
        let sample = ClockSample {
            planned: self.planned,
            monotonic,
            boottime: Some(boot + self.slept as i64),
            raw: Some(raw),
            realtime: Some(real + self.slept as i64 + self.realtime_offset as i64),
            counter: Some(counter as u64),
            duration_ns: duration_ns as i64,
            continued: std::mem::take(&mut self.continued),
            slept_through: Some(!std::mem::take(&mut self.was_woken_early))
                .filter(|_| !self.is_contained),
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
            synchronised: Some(self.is_synchronised),
            vmclock: self.vmclock,
        });
        ClockSample { machine, ..sample }
    }
}
