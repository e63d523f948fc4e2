//! Simulated timers that wait: virtual time with declared truth.
//!
//! What ticks: a number that only waits, pauses and stalls move forward. Who may read it: the
//! prober. How it lies: as its model says.

use std::f64::consts::TAU;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{exponential, known, normal};
use timers::Answer;
use timers::waits::{Expiration, Means, Wait, WaitRequest, WaitSubject};

/// By how much something is late beyond what it always is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delays {
    /// Median of a log-normal law, in nanoseconds.
    pub median: f64,
    /// Deviation of its logarithm.
    pub deviation: f64,
    /// How often it is longer, and how many times so at most: factors are log-uniform from 2.
    pub tail: Option<(f64, f64)>,
}

impl Delays {
    /// One of them, in nanoseconds.
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

/// Everything a simulated countdown timer is.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitModel {
    /// What kind of timer this is, for people.
    pub name: String,
    /// Requests are rounded up to multiples of this many nanoseconds.
    pub rounding: Option<f64>,
    /// Wake-ups lie on a grid of absolute time, of a width in nanoseconds, whose phase is random in
    /// each process.
    pub grid: Option<f64>,
    /// Requests above a length in nanoseconds have steps that are longer by a factor.
    pub grows: Option<(f64, f64)>,
    /// How late it always is, in nanoseconds.
    pub base: f64,
    /// Deviation of the logarithm of that between processes.
    pub processes: f64,
    /// How much later single waits are.
    pub delays: Delays,
    /// How much longer than asked for it waits, in parts per million.
    pub ppm: f64,
    /// How often it returns early, and by how many nanoseconds at most.
    pub early: Option<(f64, f64)>,
    /// How often the thread has to wait for a CPU, and for how many nanoseconds on average.
    pub run_delay: Option<(f64, f64)>,
    /// What the thread does meanwhile.
    pub means: Means,
    /// CPU time of a wait that blocks, in nanoseconds; a tenth more or less from wait to wait.
    pub cpu: f64,
    /// How long a hybrid one computes at the end, in nanoseconds.
    pub spins: f64,
}

/// What reading the reference takes, in nanoseconds.
const READ: f64 = 20.0;
/// CPU time of the loop that waits for nothing, in nanoseconds.
const EMPTY_CPU: f64 = 700.0;

impl WaitModel {
    /// One that is late by `base` nanoseconds, and takes as much CPU time.
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
            means: Means::Blocks,
            cpu: base,
            spins: 0.0,
        }
    }

    /// When a wait of this length is over that begins at `now`, but for what delays it.
    #[must_use]
    pub fn due(&self, now: f64, request_ns: f64, phase: f64) -> f64 {
        let growth = self
            .grows
            .filter(|(from, _)| request_ns > *from)
            .map_or(1.0, |(_, factor)| factor);
        let up = |value: f64, step: Option<f64>| {
            step.map_or(value, |step| {
                (value / (step * growth)).ceil() * step * growth
            })
        };
        let due = now + up(request_ns, self.rounding) * (1.0 + self.ppm * 1e-6);
        up(due - phase, self.grid) + phase
    }

    /// What comes on top in one wait: lateness beyond the base, negative where it returns early,
    /// and run delay, part of it where it blocks.
    pub fn late(&self, random: &mut StdRng) -> (f64, f64) {
        if let Some((share, by)) = self.early
            && random.random_bool(share)
        {
            return (-self.base - by * random.random_range(0.5..1.0), 0.0);
        }
        let waited = match self.run_delay {
            Some((share, mean)) if random.random_bool(share) => exponential(mean, random),
            _ => 0.0,
        };
        let part = if self.means == Means::Spins {
            0.0
        } else {
            waited
        };
        (self.delays.draw(random) + part, waited)
    }

    /// CPU time of a wait that took so long, `waited` of it for a CPU, in nanoseconds.
    pub fn cpu_time(&self, passed: f64, waited: f64, random: &mut StdRng) -> f64 {
        let varies = 1.0 + 0.1 * (TAU * random.random_range(0.0..1.0)).sin();
        match self.means {
            Means::Blocks => self.cpu * varies,
            Means::Spins => (passed - waited).max(0.0),
            Means::Hybrid => self.cpu * varies + passed.min(self.spins),
        }
    }
}

/// A process on a simulated machine in which a countdown timer waits.
pub struct VirtualWaits {
    model: WaitModel,
    random: StdRng,
    now: f64,
    base: f64,
    phase: f64,
}

impl VirtualWaits {
    /// A world of its own for each seed.
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
        }
    }

    /// The loop that waits for nothing.
    #[must_use]
    pub fn nothing(seed: u64) -> Self {
        let mut nothing = Self::new(&WaitModel::blocking("nothing", 0.0), seed);
        nothing.model.cpu = 0.0;
        nothing
    }

    fn wait(&mut self, request_ns: u64) -> Wait {
        let before = self.now;
        let (late, waited) = self.model.late(&mut self.random);
        let due = self.model.due(before, request_ns as f64, self.phase);
        let after = (due + self.base + late).max(before) + READ;
        let cpu = self
            .model
            .cpu_time(after - before - READ, waited, &mut self.random);
        self.now = after;
        Wait {
            before: before as i64,
            after: after as i64,
            cpu_ns: Some((cpu + EMPTY_CPU) as i64),
            run_delay_ns: Some(waited as i64),
        }
    }
}

impl WaitSubject for VirtualWaits {
    fn waits(&mut self, reference: &str, request: WaitRequest) -> Answer<Vec<Vec<Wait>>> {
        known(reference)?;
        let mut rows = vec![Vec::with_capacity(request.repeat as usize); request.lengths_ns.len()];
        for _ in 0..request.repeat {
            for (row, &length) in rows.iter_mut().zip(request.lengths_ns) {
                self.now += self.random.random_range(0.0..=request.pause_ns as f64);
                row.push(self.wait(length));
            }
        }
        Ok(rows)
    }

    fn arms(&mut self, reference: &str, repeat: u32) -> Answer<Vec<i64>> {
        known(reference)?;
        Ok((0..repeat)
            .map(|_| (self.base * self.random.random_range(0.09..0.11) + READ) as i64)
            .collect())
    }
}

/// What a periodic timer does after its thread was too busy for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missed {
    /// It makes up for all of them.
    Burst,
    /// It wakes up once for all of them, at once or at the next point of its grid, and counts them
    /// or not.
    Skip {
        /// Whether at once.
        at_once: bool,
        /// Whether it counts them.
        counted: bool,
    },
    /// It wakes up at once, and goes on a period after that.
    Delay,
    /// Each wake-up is a period and what it is late after the one before, stalled or not.
    Relative,
}

impl Missed {
    /// Whether its wake-ups lie on one grid, whatever it misses.
    #[must_use]
    pub fn keeps_its_grid(self) -> bool {
        matches!(self, Self::Burst | Self::Skip { .. })
    }
}

/// Everything a simulated periodic timer is.
#[derive(Clone, Debug, PartialEq)]
pub struct TickModel {
    /// What kind of timer this is, for people.
    pub name: String,
    /// What it does with what it misses.
    pub missed: Missed,
    /// How much longer than asked for its period is, in parts per million.
    pub ppm: f64,
    /// How late it is.
    pub delays: Delays,
    /// How often a point of its grid passes without a wake-up; it counts those as it does others.
    pub lost: f64,
}

/// A process on a simulated machine in which a periodic timer ticks.
pub struct VirtualTicks {
    model: TickModel,
    random: StdRng,
    now: f64,
    missed: Vec<[u64; 2]>,
    late: Vec<f64>,
}

impl VirtualTicks {
    /// A world of its own for each seed.
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

    /// Points of the grid at which nothing woke up, between each wake-up of the last answer and the
    /// one before: those that were counted, and all.
    #[must_use]
    pub fn missed(&self) -> &[[u64; 2]] {
        &self.missed
    }

    /// How late each wake-up of the last answer was for its point of the grid, the last of those
    /// that it stands for, in nanoseconds.
    #[must_use]
    pub fn late(&self) -> &[f64] {
        &self.late
    }
}

impl WaitSubject for VirtualTicks {
    fn periods(
        &mut self,
        reference: &str,
        period_ns: u64,
        count: u32,
        stalls: &[u32],
    ) -> Answer<Vec<Expiration>> {
        known(reference)?;
        let period = period_ns as f64 * (1.0 + self.model.ppm * 1e-6);
        let counts = !matches!(self.model.missed, Missed::Skip { counted: false, .. });
        // The point of the grid that comes next.
        let mut next = self.now + period;
        self.missed.clear();
        self.late.clear();
        let mut answer = Vec::with_capacity(count as usize);
        for number in 0..count {
            let mut missed = 0;
            while self.model.lost > 0.0 && self.random.random_bool(self.model.lost) {
                (next, missed) = (next + period, missed + 1);
            }
            if next <= self.now {
                match self.model.missed {
                    Missed::Burst | Missed::Delay | Missed::Relative => {}
                    Missed::Skip { at_once, .. } => {
                        let passed = ((self.now - next) / period).floor();
                        let passed = if at_once { passed } else { passed + 1.0 };
                        (next, missed) = (next + passed * period, missed + passed as u64);
                    }
                }
            }
            self.now = next.max(self.now) + self.model.delays.draw(&mut self.random);
            // Nothing is before the first.
            let missed = if number > 0 { missed } else { 0 };
            let counted = if counts { missed } else { 0 };
            self.missed.push([counted, missed]);
            answer.push(Expiration {
                at: self.now as i64,
                expirations: counted + 1,
            });
            let late = self.now - next;
            self.late.push(late);
            next = match self.model.missed {
                Missed::Relative => self.now + period,
                Missed::Delay if late > period => self.now + period,
                _ => next + period,
            };
            if stalls.contains(&number) {
                self.now += 3.5 * period_ns as f64;
                if self.model.missed == Missed::Relative {
                    next = self.now + period;
                }
            }
        }
        Ok(answer)
    }
}
