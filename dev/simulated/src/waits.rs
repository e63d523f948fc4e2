//! Simulates sleep primitives and periodic timers in virtual time. Only waits and pauses
//! advance the virtual time, and each timer behaves exactly as its model declares.

use std::f64::consts::TAU;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{check_reference, exponential, normal};
use timers::waits::{Start, Wait, WaitActivity, WaitList, Wakeups};
use timers::{Answer, Subject};

/// The distribution of the variable part of lateness.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delays {
    /// Median of the log-normal distribution in nanoseconds.
    pub median: f64,
    /// Standard deviation of its logarithm.
    pub deviation: f64,
    /// The share of longer delays and their largest factor; factors are log-uniform from 2.
    pub tail: Option<(f64, f64)>,
}

impl Delays {
    /// Draws a delay in nanoseconds.
    pub fn draw(&self, random: &mut StdRng) -> f64 {
        let body = self.median * (self.deviation * normal(random)).exp();
        match self.tail {
            Some((share, longest)) if random.random_bool(share) => {
                body * 2.0 * (longest / 2.0).powf(random.random_range(0.0..1.0))
            }
            _ => body,
        }
    }
}

/// The declared properties of a simulated sleep primitive.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitModel {
    /// The kind of timer, for output.
    pub name: String,
    /// Requests are rounded up to multiples of this many nanoseconds.
    pub rounding: Option<f64>,
    /// Wake-ups occur at multiples of this many nanoseconds of absolute time, plus a phase that is
    /// random in each process.
    pub grid: Option<f64>,
    /// The length in nanoseconds above which the granularity is coarser, and the factor.
    pub grows: Option<(f64, f64)>,
    /// The constant part of the lateness in nanoseconds.
    pub base: f64,
    /// The standard deviation of the logarithm of `base` between processes.
    pub processes: f64,
    /// The variable part of the lateness.
    pub delays: Delays,
    /// The excess of a wait in parts per million of the requested length.
    pub ppm: f64,
    /// The share of waits that return early, and the largest earliness in nanoseconds.
    pub early: Option<(f64, f64)>,
    /// The share of waits after which the thread waits for a CPU, and the mean of that time in
    /// nanoseconds.
    pub run_delay: Option<(f64, f64)>,
    /// The activity of the thread during a wait.
    pub activity: WaitActivity,
    /// CPU time of a blocking wait in nanoseconds; it varies by ±10 %.
    pub cpu: f64,
    /// The time in nanoseconds that a hybrid timer spins at the end.
    pub spins: f64,
    /// The step of the reference that times the waits, in nanoseconds: it shows the time of its
    /// last step.
    pub clock_step: f64,
    /// How far the reference of one CPU is ahead of that of the other, in nanoseconds, and the share
    /// of waits after which the thread runs on the other.
    pub clock_jumps: Option<(f64, f64)>,
}

/// The cost of a read of the reference in nanoseconds.
const READ_NS: f64 = 20.0;
/// CPU time of a wake-up of a periodic timer in nanoseconds.
const TICK_CPU_NS: i64 = 8_000;
/// CPU time of the loop around a wait in nanoseconds.
const LOOP_CPU_NS: f64 = 700.0;

impl WaitModel {
    /// Returns a blocking primitive that is late by `base` nanoseconds and uses `base` nanoseconds
    /// of CPU time.
    #[must_use]
    pub fn blocking(name: &str, base: f64) -> Self {
        Self {
            name: name.into(),
            rounding: None,
            grid: None,
            grows: None,
            base,
            processes: 0.0,
            delays: Delays::default(),
            ppm: 0.0,
            early: None,
            run_delay: None,
            activity: WaitActivity::Blocks,
            cpu: base,
            spins: 0.0,
            clock_step: 1.0,
            clock_jumps: None,
        }
    }

    /// Returns the time at which a wait that begins at `now` ends, without delays.
    #[must_use]
    pub fn due(&self, now: f64, request_ns: f64, phase: f64) -> f64 {
        let growth = self
            .grows
            .filter(|(from, _)| request_ns > *from)
            .map_or(1.0, |(_, factor)| factor);
        let round_up = |value: f64, step: Option<f64>| {
            step.map_or(value, |step| {
                (value / (step * growth)).ceil() * step * growth
            })
        };
        let due = now + round_up(request_ns, self.rounding) * (1.0 + self.ppm * 1e-6);
        round_up(due - phase, self.grid) + phase
    }

    /// Draws the variable part of the lateness, negative for an early return, and the run delay,
    /// both in nanoseconds. For a blocking wait the lateness contains the run delay.
    pub fn draw_lateness(&self, random: &mut StdRng) -> (f64, f64) {
        if let Some((share, by)) = self.early
            && random.random_bool(share)
        {
            return (-self.base - by * random.random_range(0.5..1.0), 0.0);
        }
        let waited = match self.run_delay {
            Some((share, mean)) if random.random_bool(share) => exponential(mean, random),
            _ => 0.0,
        };
        let part = if self.activity == WaitActivity::Spins {
            0.0
        } else {
            waited
        };
        (self.delays.draw(random) + part, waited)
    }

    /// Returns the CPU time of a wait in nanoseconds. `passed` is its duration, `waited` the part
    /// of it spent waiting for a CPU.
    pub fn cpu_time(&self, passed: f64, waited: f64, random: &mut StdRng) -> f64 {
        let varies = 1.0 + 0.1 * (TAU * random.random_range(0.0..1.0)).sin();
        match self.activity {
            WaitActivity::Blocks => self.cpu * varies,
            WaitActivity::Spins => (passed - waited).max(0.0),
            WaitActivity::Hybrid => self.cpu * varies + passed.min(self.spins),
        }
    }
}

/// A simulated process that uses a sleep primitive.
pub struct VirtualWaits {
    model: WaitModel,
    random: StdRng,
    now: f64,
    base: f64,
    phase: f64,
    /// How far the reference of the current CPU is ahead, in nanoseconds.
    ahead: f64,
}

impl VirtualWaits {
    /// Starts a process; the seed determines all random values.
    #[must_use]
    pub fn new(model: &WaitModel, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let base = model.base * (model.processes * normal(&mut random)).exp();
        let phase = random.random_range(0.0..1.0) * model.grid.unwrap_or(0.0);
        let now = random.random_range(1e9..2e9);
        Self {
            model: model.clone(),
            random,
            now,
            base,
            phase,
            ahead: 0.0,
        }
    }

    /// Returns the loop without a wait, which measures the overhead, timed by a reference with
    /// this step in nanoseconds.
    #[must_use]
    pub fn empty_loop(clock_step: f64, seed: u64) -> Self {
        let nothing = WaitModel {
            cpu: 0.0,
            clock_step,
            ..WaitModel::blocking("nothing", 0.0)
        };
        Self::new(&nothing, seed)
    }

    /// Returns the reading of the reference at this time.
    fn reading(&self, now: f64) -> i64 {
        let step = self.model.clock_step;
        (((now + self.ahead) / step).floor() * step) as i64
    }

    fn wait(&mut self, request_ns: u64) -> Wait {
        let before = self.now;
        let (late, waited) = self.model.draw_lateness(&mut self.random);
        let due = self.model.due(before, request_ns as f64, self.phase);
        let after = (due + self.base + late).max(before) + READ_NS;
        let cpu = self
            .model
            .cpu_time(after - before - READ_NS, waited, &mut self.random);
        self.now = after;
        let before = self.reading(before);
        if let Some((ahead, share)) = self.model.clock_jumps
            && self.random.random_bool(share)
        {
            self.ahead = ahead - self.ahead;
        }
        Wait {
            request_ns,
            before,
            after: self.reading(after),
            cpu_ns: Some((cpu + LOOP_CPU_NS) as i64),
            signals: 0,
        }
    }
}

impl Subject for VirtualWaits {
    fn waits(&mut self, reference: &str, list: WaitList) -> Answer<Vec<Wait>> {
        check_reference(reference)?;
        let mut wait = |&length: &u64| {
            self.now += self.random.random_range(0.0..=list.pause_ns as f64);
            self.wait(length)
        };
        Ok(list.lengths_ns.iter().map(&mut wait).collect())
    }
}

/// The reaction of a periodic timer to expirations at which its thread was busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missed {
    /// It delivers all of them immediately.
    Burst,
    /// It wakes up once for all of them.
    Skip {
        /// Whether it reports their number.
        counted: bool,
    },
    /// Each period begins at the previous wake-up, so that lateness accumulates.
    Relative,
}

impl Missed {
    /// Whether wake-ups stay at multiples of the period.
    #[must_use]
    pub fn keeps_its_grid(self) -> bool {
        self != Self::Relative
    }
}

/// The declared properties of a simulated periodic timer.
#[derive(Clone, Debug, PartialEq)]
pub struct TickModel {
    /// The kind of timer, for output.
    pub name: String,
    /// The reaction to missed expirations.
    pub missed: Missed,
    /// The relative excess of the true period over the requested one, in parts per million.
    pub ppm: f64,
    /// The lateness of wake-ups.
    pub delays: Delays,
    /// The share of expirations without a wake-up; they are counted like other missed expirations.
    pub lost: f64,
}

/// A simulated process that uses a periodic timer.
pub struct VirtualTicks {
    model: TickModel,
    random: StdRng,
    now: f64,
    missed: Vec<[u64; 2]>,
    late: Vec<f64>,
}

impl VirtualTicks {
    /// Starts a process; the seed determines all random values.
    #[must_use]
    pub fn new(model: &TickModel, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let now = random.random_range(1e9..2e9);
        Self {
            model: model.clone(),
            random,
            now,
            missed: Vec::new(),
            late: Vec::new(),
        }
    }

    /// Returns the missed expirations between consecutive wake-ups of the last answer: those that
    /// the timer reported, and all.
    #[must_use]
    pub fn missed(&self) -> &[[u64; 2]] {
        &self.missed
    }

    /// Returns the lateness of each wake-up of the last answer in nanoseconds, relative to the last
    /// expiration that it reports.
    #[must_use]
    pub fn late(&self) -> &[f64] {
        &self.late
    }
}

impl Subject for VirtualTicks {
    fn periods(&mut self, reference: &str, period_ns: u64, count: u32) -> Answer<Wakeups> {
        check_reference(reference)?;
        let period = period_ns as f64 * (1.0 + self.model.ppm * 1e-6);
        let counts = !matches!(self.model.missed, Missed::Skip { counted: false });
        let start = match self.model.missed {
            Missed::Relative => Start::Relative,
            _ => Start::Between([self.now as i64; 2]),
        };
        // The time of the next expiration.
        let mut next = self.now + period;
        self.missed.clear();
        self.late.clear();
        let mut list = Vec::with_capacity(count as usize);
        for number in 0..count {
            let mut missed = 0;
            while self.model.lost > 0.0 && self.random.random_bool(self.model.lost) {
                (next, missed) = (next + period, missed + 1);
            }
            if next <= self.now && matches!(self.model.missed, Missed::Skip { .. }) {
                let passed = ((self.now - next) / period).floor();
                (next, missed) = (next + passed * period, missed + passed as u64);
            }
            self.now = next.max(self.now) + self.model.delays.draw(&mut self.random);
            // No expiration is missed before the first wake-up.
            let missed = if number > 0 { missed } else { 0 };
            let counted = if counts { missed } else { 0 };
            self.missed.push([counted, missed]);
            list.push((self.now as i64, counted + 1));
            let late = self.now - next;
            self.late.push(late);
            next = match self.model.missed {
                Missed::Relative => self.now + period,
                _ => next + period,
            };
        }
        Ok(Wakeups {
            start,
            list,
            cpu_ns: Some(i64::from(count) * TICK_CPU_NS),
            signals: 0,
        })
    }
}
