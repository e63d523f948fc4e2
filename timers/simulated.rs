//! Simulated timers: virtual time with declared truth.
//!
//! What ticks: a number that only reads and work move forward. Who may read it: the prober, which cannot tell it
//! from a real timer other than by its numbers. How it lies: as its [`Model`] says, and nobody else's way.
//!
//! A [`World`] holds one timer under examination, one reference and the cost of the loops; [`World::subject`] gives
//! the three subjects that share it.

use std::cell::RefCell;
use std::rc::Rc;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::subject::{Advance, Answer, During, Fault, Subject};

/// How the cost of single invocations varies around its base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Jitter {
    /// Always the same.
    None,
    /// An exponentially distributed extra of this mean, in nanoseconds.
    Exponential(f64),
    /// A slow path: `extra` nanoseconds more, in a `share` of the invocations.
    Bimodal {
        /// What the slow path costs more, in nanoseconds.
        extra: f64,
        /// How often it is taken, in (0, 1).
        share: f64,
    },
}

/// Rare long interruptions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outliers {
    /// How often, as a share of the invocations.
    pub share: f64,
    /// The longest, in nanoseconds; lengths are log-uniform from 1 µs.
    pub longest: f64,
}

/// How the counter moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Updates {
    /// Once in `step`.
    Regular,
    /// After gaps that are uniform between (1 − spread) and (1 + spread) steps.
    Uneven(f64),
    /// After exponentially distributed gaps of one step on average.
    Random,
    /// Never.
    Stuck,
}

/// Everything a simulated timer is.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// What kind of timer this is, for people.
    pub name: String,
    /// Time between two updates of the counter, in nanoseconds of its own time.
    pub step: f64,
    /// Nanoseconds in one tick of the values it returns; what does not fit is truncated.
    pub unit: f64,
    /// Whether the unit is declared to the prober.
    pub declared: bool,
    /// What an invocation costs without jitter, in nanoseconds.
    pub base: f64,
    /// How that varies.
    pub jitter: Jitter,
    /// Rare interruptions.
    pub outliers: Option<Outliers>,
    /// Whether a second reading within one update is made unique by adding one tick to the last.
    pub unique: bool,
    /// How the counter moves.
    pub updates: Updates,
    /// How much faster than real time it runs, in parts per million.
    pub drift: f64,
    /// How often a reading lies this many ticks back: (share, ticks).
    pub backward: Option<(f64, i64)>,
}

impl Model {
    /// A regular clock in whole units, of constant cost.
    #[must_use]
    pub fn regular(name: &str, step: f64, unit: f64, base: f64) -> Self {
        Self {
            name: name.into(),
            step,
            unit,
            declared: true,
            base,
            jitter: Jitter::None,
            outliers: None,
            unique: false,
            updates: Updates::Regular,
            drift: 0.0,
            backward: None,
        }
    }

    /// What a prober has to find, computed from the model alone.
    #[must_use]
    pub fn truth(&self) -> Truth {
        let accuracy = (self.updates == Updates::Regular).then_some(self.step.max(self.unit));
        let cost = self.cost_quantile(0.5);
        let spread = accuracy.map(|reach| self.cost_cdf(cost + reach) - self.cost_cdf_below(cost - reach));
        Truth { accuracy, cost, spread, monotonic: self.backward.is_none() }
    }

    fn cost_cdf(&self, cost: f64) -> f64 {
        let core = |above: f64| match self.jitter {
            _ if above < 0.0 => 0.0,
            Jitter::None => 1.0,
            Jitter::Exponential(mean) => 1.0 - (-above / mean).exp(),
            Jitter::Bimodal { extra, share } => {
                if above < extra {
                    1.0 - share
                } else {
                    1.0
                }
            }
        };
        let above = cost - self.base;
        match self.outliers {
            None => core(above),
            Some(Outliers { share, longest }) => {
                // The length of an interruption dwarfs the jitter, which is left out of the sum.
                let interrupted = (above.max(1.0) / 1e3).ln() / (longest / 1e3).ln();
                (1.0 - share) * core(above) + share * interrupted.clamp(0.0, 1.0)
            }
        }
    }

    /// The share of costs strictly below, which differs from the cumulative share at the atoms only.
    fn cost_cdf_below(&self, cost: f64) -> f64 {
        self.cost_cdf(cost - 1e-9 * self.base.max(1.0))
    }

    fn cost_quantile(&self, probability: f64) -> f64 {
        let (mut low, mut high) = (self.base - 1.0, self.base + 1e7);
        for _ in 0..80 {
            let middle = f64::midpoint(low, high);
            if self.cost_cdf(middle) < probability { low = middle } else { high = middle }
        }
        high
    }
}

/// What is true of a simulated timer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// Resolution in nanoseconds; `None` when there is none and no number may be given.
    pub accuracy: Option<f64>,
    /// Median cost of a single invocation, in nanoseconds.
    pub cost: f64,
    /// Share of invocations within ±1 accuracy of the median.
    pub spread: Option<f64>,
    /// Whether it never steps backwards.
    pub monotonic: bool,
}

/// Which of the subjects of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The timer under examination.
    Timer,
    /// The reference that times it.
    Reference,
    /// The empty loop.
    Floor,
}

/// The id by which the subjects of a world know their reference.
pub const REFERENCE_ID: &str = "reference";

/// One timer, one reference, one virtual time.
pub struct World {
    now: f64,
    random: StdRng,
    timer: Clock,
    reference: Clock,
    /// Nanoseconds in a unit of work.
    unit_of_work: f64,
    /// Nanoseconds of one turn of a loop without its call.
    turn: f64,
}

impl World {
    /// A world of its own for each seed: phases, start and costs all come from it.
    #[must_use]
    pub fn new(timer: &Model, reference: &Model, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        Self {
            now: random.random_range(1e9..2e9),
            timer: Clock::new(timer, &mut random),
            reference: Clock::new(reference, &mut random),
            unit_of_work: random.random_range(0.7..2.9),
            turn: random.random_range(0.2..0.6),
            random,
        }
    }

    /// The three subjects of this world, by role.
    pub fn share(self) -> impl Fn(Role) -> Box<dyn Subject> {
        let world = Rc::new(RefCell::new(self));
        move |role| Box::new(Simulated { world: Rc::clone(&world), role })
    }

    fn call(&mut self, role: Role) -> i64 {
        let clock = match role {
            Role::Timer => &mut self.timer,
            Role::Reference => &mut self.reference,
            Role::Floor => return 0,
        };
        let extra = clock.extra(&mut self.random);
        let before = clock.model.base * clock.latch + if clock.varies_before { extra } else { 0.0 };
        let latched = self.now + before;
        self.now += clock.model.base + extra;
        clock.value(latched, &mut self.random)
    }

    fn work(&mut self, amount: u64) {
        // Leaving the loop is mispredicted now and then.
        let leave = if self.random.random_bool(0.3) { 4.5 } else { 0.0 };
        self.now += amount as f64 * self.unit_of_work + leave;
    }

    fn store(&mut self) {
        self.now += self.random.random_range(0.5..2.5);
    }
}

/// The state of one clock.
struct Clock {
    model: Model,
    /// Where in the invocation the counter is looked at, from 0 (at once) to 1 (at the end).
    latch: f64,
    /// Whether what varies in its cost comes before that or after.
    varies_before: bool,
    phase: f64,
    last: i64,
    /// Of an irregular clock: what it shows, and when it moves next.
    shown: f64,
    next_update: f64,
}

impl Clock {
    fn new(model: &Model, random: &mut StdRng) -> Self {
        Self {
            model: model.clone(),
            latch: random.random_range(0.1..0.9),
            varies_before: random.random(),
            phase: random.random_range(0.0..1.0),
            last: i64::MIN,
            shown: 0.0,
            next_update: 0.0,
        }
    }

    /// What this invocation costs beyond the base.
    fn extra(&self, random: &mut StdRng) -> f64 {
        let jitter = match self.model.jitter {
            Jitter::None => 0.0,
            Jitter::Exponential(mean) => exponential(mean, random),
            Jitter::Bimodal { extra, share } => {
                if random.random_bool(share) {
                    extra
                } else {
                    0.0
                }
            }
        };
        let interruption = match self.model.outliers {
            Some(Outliers { share, longest }) if random.random_bool(share) => {
                1e3 * (longest / 1e3).powf(random.random_range(0.0..1.0))
            }
            _ => 0.0,
        };
        jitter + interruption
    }

    fn value(&mut self, now: f64, random: &mut StdRng) -> i64 {
        let own = now * (1.0 + self.model.drift * 1e-6);
        let shown = match self.model.updates {
            Updates::Regular => (own / self.model.step + self.phase).floor() * self.model.step,
            Updates::Stuck => 1e9,
            Updates::Uneven(_) | Updates::Random => self.irregular(own, random),
        };
        // A hair is added so that whole multiples survive the division.
        let mut ticks = (shown / self.model.unit + 1e-6).floor() as i64;
        if self.model.unique && ticks <= self.last {
            ticks = self.last + 1;
        }
        self.last = ticks;
        match self.model.backward {
            Some((share, by)) if random.random_bool(share) => ticks - by,
            _ => ticks,
        }
    }

    fn irregular(&mut self, own: f64, random: &mut StdRng) -> f64 {
        // After a long wait the updates in between are not played one by one.
        if own - self.next_update > 64.0 * self.model.step {
            self.next_update = own - 8.0 * self.model.step;
        }
        while self.next_update <= own {
            self.shown = self.next_update;
            self.next_update += match self.model.updates {
                Updates::Uneven(spread) => self.model.step * random.random_range(1.0 - spread..1.0 + spread),
                _ => exponential(self.model.step, random),
            };
        }
        self.shown
    }
}

fn exponential(mean: f64, random: &mut StdRng) -> f64 {
    -mean * (1.0 - random.random_range(0.0..1.0_f64)).ln()
}

/// One of the subjects of a [`World`].
struct Simulated {
    world: Rc<RefCell<World>>,
    role: Role,
}

impl Subject for Simulated {
    fn intervals(&mut self, work: &[u64], repeat: u32) -> Answer<Vec<Vec<i64>>> {
        let world = &mut *self.world.borrow_mut();
        let mut once = |amount| {
            let first = world.call(self.role);
            world.work(amount);
            let second = world.call(self.role);
            world.store();
            second - first
        };
        Ok(work.iter().map(|&amount| (0..repeat).map(|_| once(amount)).collect()).collect())
    }

    fn batches(&mut self, reference: &str, calls: u64, repeat: u32) -> Answer<Vec<i64>> {
        known(reference)?;
        let world = &mut *self.world.borrow_mut();
        let mut once = || {
            let first = world.call(Role::Reference);
            for _ in 0..calls {
                world.call(self.role);
                world.now += world.turn;
            }
            let second = world.call(Role::Reference);
            world.store();
            second - first
        };
        Ok((0..repeat).map(|_| once()).collect())
    }

    fn readings(&mut self, count: u32) -> Answer<Vec<i64>> {
        let world = &mut *self.world.borrow_mut();
        Ok((0..count).map(|_| world.call(self.role)).collect())
    }

    fn advance(&mut self, reference: &str, _: During, milliseconds: u32) -> Answer<Advance> {
        known(reference)?;
        let world = &mut *self.world.borrow_mut();
        let (timer, start) = (world.call(self.role), world.call(Role::Reference));
        world.now += f64::from(milliseconds) * 1e6;
        Ok(Advance { timer: world.call(self.role) - timer, reference: world.call(Role::Reference) - start })
    }
}

fn known(reference: &str) -> Answer<()> {
    if reference == REFERENCE_ID {
        return Ok(());
    }
    Err(Fault::Refused(format!("`{reference}` is no reference here; there is {REFERENCE_ID}")))
}
