//! Simulated timers: virtual time with declared truth.
//!
//! What ticks: a number that only reads and work move forward. Who may read it: the prober, which
//! cannot tell it from a real timer other than by its numbers. How it lies: as its [`Model`] says,
//! and in no other way.
//!
//! A [`World`] is one process on a simulated machine: one timer under examination, one reference,
//! the cost of the loops, a core that may change its frequency, and what interrupts them all.
//! [`World::share`] gives the subjects that live in it.

mod counter;
mod model;
mod waits;

use std::cell::RefCell;
use std::rc::Rc;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use timers::{Advance, Answer, Context, During, Fault, Subject};

pub use counter::{CounterFault, CounterMachine, CounterModel};
pub use model::{
    Interruptions, Jitter, Model, Outliers, Processes, Surroundings, Updates, paired_reads, piece,
};
pub use waits::{Delays, Missed, TickModel, VirtualTicks, VirtualWaits, WaitModel};

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
    timer: VirtualClock,
    reference: VirtualClock,
    /// Nanoseconds in a unit of work.
    unit_of_work: f64,
    /// Nanoseconds of one turn of a loop without its call.
    turn: f64,
    /// The same of an empty loop.
    empty_turn: f64,
    /// What a call of the timer costs in this process, relative to its model.
    factor: f64,
    core: Core,
    interruptions: Option<Interruptions>,
    next_interruption: f64,
}

/// A core whose frequency changes every few milliseconds.
struct Core {
    wander: f64,
    /// Logarithm of the frequency around which it wanders over the nominal one, and of its
    /// frequency over that.
    level: f64,
    speed: f64,
    /// How far the two levels that it steps between lie from the middle, and whether it is at the
    /// upper one.
    step: f64,
    upper: bool,
    next_change: f64,
}

impl Core {
    /// Mean time at one frequency, in nanoseconds.
    const DWELL: f64 = 8e6;
    /// How much of a frequency is left in the next one.
    const MEMORY: f64 = 0.8;

    fn new(surroundings: &Surroundings, now: f64, random: &mut StdRng) -> Self {
        let Surroundings {
            wander,
            level,
            apart,
            ..
        } = *surroundings;
        let speed = wander * normal(random);
        let (step, upper) = (apart / 2.0, apart > 0.0 && random.random());
        Self {
            wander,
            level,
            speed,
            step,
            upper,
            next_change: now + exponential(Self::DWELL, random),
        }
    }

    fn at(&mut self, now: f64, random: &mut StdRng) -> f64 {
        while (self.wander > 0.0 || self.step > 0.0) && now >= self.next_change {
            let news = (1.0 - Self::MEMORY * Self::MEMORY).sqrt() * self.wander * normal(random);
            self.speed = Self::MEMORY * self.speed + news;
            self.upper = self.step > 0.0 && random.random();
            self.next_change += exponential(Self::DWELL, random);
        }
        (self.level + self.speed + if self.upper { self.step } else { -self.step }).exp()
    }
}

/// The subjects of one world, and a look at its core.
pub struct Shared(Rc<RefCell<World>>);

impl Shared {
    /// One of the subjects.
    #[must_use]
    pub fn subject(&self, role: Role) -> Box<dyn Subject> {
        Box::new(Simulated {
            world: Rc::clone(&self.0),
            role,
        })
    }

    /// The frequency of the core at this moment, relative to the nominal one.
    #[must_use]
    pub fn speed(&self) -> f64 {
        let world = &mut *self.0.borrow_mut();
        world.core.at(world.now, &mut world.random)
    }
}

impl World {
    /// A world of its own for each seed: phases, start and costs all come from it.
    #[must_use]
    pub fn new(timer: &Model, reference: &Model, surroundings: &Surroundings, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let now = random.random_range(1e9..2e9);
        let (timer, reference) = (
            VirtualClock::new(timer, &mut random),
            VirtualClock::new(reference, &mut random),
        );
        let unit_of_work = random.random_range(0.7..2.9);
        let turn = surroundings.turn;
        let slow = if random.random() {
            random.random_range(0.0..0.3)
        } else {
            0.0
        };
        let factor = match surroundings.processes {
            Processes::Identical => 1.0,
            Processes::Factor(deviation) => (deviation * normal(&mut random)).exp(),
            Processes::Regimes { factor, share } => {
                if random.random_bool(share) {
                    factor
                } else {
                    1.0
                }
            }
        };
        let core = Core::new(surroundings, now, &mut random);
        let interruptions = surroundings.interruptions;
        let next_interruption = interruptions.map_or(f64::INFINITY, |which| {
            now + exponential(which.every, &mut random)
        });
        Self {
            now,
            timer,
            reference,
            unit_of_work,
            turn,
            empty_turn: turn + slow,
            factor,
            core,
            interruptions,
            next_interruption,
            random,
        }
    }

    /// The subjects of this world.
    #[must_use]
    pub fn share(self) -> Shared {
        Shared(Rc::new(RefCell::new(self)))
    }

    /// Lets time pass that the core is busy for, and whatever interrupts it.
    fn compute(&mut self, nominal_ns: f64) {
        let speed = self.core.at(self.now, &mut self.random);
        self.pass(nominal_ns / speed);
    }

    fn pass(&mut self, ns: f64) {
        self.now += ns;
        while self.now >= self.next_interruption {
            let Some(Interruptions { every, longest }) = self.interruptions else {
                return;
            };
            self.now += 500.0 * (longest / 500.0).powf(self.random.random_range(0.0..1.0));
            self.next_interruption = self.now + exponential(every, &mut self.random);
        }
    }

    fn call(&mut self, role: Role) -> i64 {
        let (clock, factor) = match role {
            Role::Timer => (&self.timer, self.factor),
            Role::Reference => (&self.reference, 1.0),
            Role::Floor => return 0,
        };
        let (extra, interruption) = clock.extra(&mut self.random);
        let (base, varies_before, follows_core) = (
            clock.model.base,
            clock.varies_before,
            clock.model.follows_core,
        );
        let before = (base * clock.latch + if varies_before { extra } else { 0.0 }).max(0.0);
        let after = (base + extra - before).max(0.0);
        self.spend(factor * before, follows_core);
        if varies_before {
            self.pass(interruption);
        }
        let clock = if role == Role::Timer {
            &mut self.timer
        } else {
            &mut self.reference
        };
        let value = clock.value(self.now, &mut self.random);
        self.spend(factor * after, follows_core);
        if !varies_before {
            self.pass(interruption);
        }
        value
    }

    fn spend(&mut self, ns: f64, follows_core: bool) {
        if follows_core {
            self.compute(ns)
        } else {
            self.pass(ns)
        }
    }

    fn work(&mut self, amount: u64) {
        // Leaving the loop is mispredicted now and then.
        let leave = if self.random.random_bool(0.3) {
            4.5
        } else {
            0.0
        };
        self.compute(amount as f64 * self.unit_of_work + leave);
    }

    fn store(&mut self) {
        let ns = self.random.random_range(0.5..2.5);
        self.compute(ns);
    }
}

/// The state of one clock.
struct VirtualClock {
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

impl VirtualClock {
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

    /// What this invocation costs beyond the base, and how long it is interrupted.
    fn extra(&self, random: &mut StdRng) -> (f64, f64) {
        let base = self.model.base;
        let extra = match self.model.jitter {
            Jitter::None => 0.0,
            Jitter::Exponential(mean) => exponential(mean, random),
            Jitter::Bimodal { extra, share } => {
                if random.random_bool(share) {
                    extra
                } else {
                    0.0
                }
            }
            Jitter::Normal(deviation) => (deviation * normal(random)).max(-base * 0.9),
            Jitter::Gamma { shape, scale } => scale * gamma(shape, random),
            Jitter::Trimodal { extra, share } => {
                let path: f64 = random.random_range(0.0..1.0);
                if path < share[0] {
                    extra[0]
                } else if path < share[0] + share[1] {
                    extra[1]
                } else {
                    0.0
                }
            }
            Jitter::Pareto { shape, scale } => {
                scale * ((1.0 - random.random_range(0.0..1.0_f64)).powf(-1.0 / shape) - 1.0)
            }
        };
        let interruption = match self.model.outliers {
            Some(Outliers { share, longest }) if random.random_bool(share) => {
                1e3 * (longest / 1e3).powf(random.random_range(0.0..1.0))
            }
            _ => 0.0,
        };
        (extra, interruption)
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
                Updates::Uneven(spread) => {
                    self.model.step * random.random_range(1.0 - spread..1.0 + spread)
                }
                _ => exponential(self.model.step, random),
            };
        }
        self.shown
    }
}

fn exponential(mean: f64, random: &mut StdRng) -> f64 {
    -mean * (1.0 - random.random_range(0.0..1.0_f64)).ln()
}

/// Standard normal (Box and Muller, 1958).
fn normal(random: &mut StdRng) -> f64 {
    let (radius, angle) = (
        exponential(2.0, random).sqrt(),
        random.random_range(0.0..std::f64::consts::TAU),
    );
    radius * angle.cos()
}

/// Gamma distributed with scale 1, for shapes of 1 and more (Marsaglia and Tsang, ACM TOMS 26,
/// 2000).
fn gamma(shape: f64, random: &mut StdRng) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(random);
        let v = (1.0 + c * x).powi(3);
        let u: f64 = random.random_range(0.0..1.0);
        if v > 0.0 && u.ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
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
        Ok(work
            .iter()
            .map(|&amount| (0..repeat).map(|_| once(amount)).collect())
            .collect())
    }

    fn batches(&mut self, reference: &str, calls: u64, repeat: u32) -> Answer<Vec<i64>> {
        known(reference)?;
        let world = &mut *self.world.borrow_mut();
        let mut once = || {
            let first = world.call(Role::Reference);
            for _ in 0..calls {
                world.call(self.role);
                world.compute(if self.role == Role::Floor {
                    world.empty_turn
                } else {
                    world.turn
                });
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
        world.pass(f64::from(milliseconds) * 1e6);
        Ok(Advance {
            timer: world.call(self.role) - timer,
            reference: world.call(Role::Reference) - start,
        })
    }

    fn adds(
        &mut self,
        reference: &str,
        contexts: &[Context],
        turns: u32,
        repeat: u32,
    ) -> Answer<Vec<Vec<[i64; 2]>>> {
        known(reference)?;
        let world = &mut *self.world.borrow_mut();
        let read_ns = world.factor * world.timer.model.base;
        let mut rows = Vec::new();
        for &context in contexts {
            let piece = piece(context, read_ns);
            let piece =
                piece.ok_or_else(|| Fault::Refused(format!("{context:?} is not simulated")))?;
            let mut row = |ns: f64| {
                let first = world.call(Role::Reference);
                (0..turns).for_each(|_| world.compute(ns));
                let second = world.call(Role::Reference);
                world.store();
                second - first
            };
            rows.push((0..repeat).map(|_| piece.map(&mut row)).collect());
        }
        Ok(rows)
    }
}

fn known(reference: &str) -> Answer<()> {
    if reference == REFERENCE_ID {
        return Ok(());
    }
    Err(Fault::Refused(format!(
        "`{reference}` is no reference here; there is {REFERENCE_ID}"
    )))
}
