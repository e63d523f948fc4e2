//! Simulates timers in virtual time. Only reads and work advance the virtual time, and each timer
//! behaves exactly as its [`Model`] declares, so that its true resolution, cost and spread are
//! known.
//!
//! A [`World`] is one process on a simulated machine: the timer under examination, the reference,
//! the cost of the loops, a core whose frequency may change, and interruptions. [`World::share`]
//! returns the timers of a world in the form that the prober reads.

mod counter;
pub mod draw;
mod model;
mod sharing;
mod waits;

use std::cell::RefCell;
use std::rc::Rc;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use timers::{Activity, Answer, CALLS_IN_TURN, Context, Fault, Movement, Subject};

pub use counter::{CounterFault, CounterModel};
use draw::{exponential, gamma, normal};
pub use model::{
    Interruptions, Jitter, Model, Neighbours, Outliers, Processes, Surroundings, Updates,
    code_duration_ns,
};
use sharing::Sharing;
pub use waits::{Delays, Missed, TickModel, VirtualTicks, VirtualWaits, WaitModel};

/// The role of a timer in its world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The timer under examination.
    Timer,
    /// The reference that times it.
    Reference,
    /// The empty loop.
    Floor,
}

/// The id of the reference in each world.
pub const REFERENCE_ID: &str = "reference";

/// One process on a simulated machine. Times are in nanoseconds.
pub struct World {
    now: f64,
    random: StdRng,
    timer: VirtualClock,
    reference: VirtualClock,
    /// The duration of a unit of work in nanoseconds.
    unit_of_work: f64,
    surroundings: Surroundings,
    /// The duration of one turn of an empty loop, in nanoseconds.
    empty_turn: f64,
    /// The cost of a call in this process, relative to the cost that the model declares.
    factor: f64,
    core: Core,
    sharing: Sharing,
    next_interruption: f64,
}

/// A core whose frequency changes every few milliseconds.
struct Core {
    /// The standard deviation of `speed`.
    wander: f64,
    /// The logarithm of the mean frequency of this run, relative to the nominal one.
    level: f64,
    /// The logarithm of the current frequency relative to the mean, without the steps.
    speed: f64,
    /// Half the difference between two frequencies that the core steps between, as a logarithm; 0
    /// for none.
    step: f64,
    /// Whether the core runs at the higher of the two.
    upper: bool,
    next_change: f64,
}

impl Core {
    /// The mean time at one frequency, in nanoseconds.
    const MEAN_DWELL_NS: f64 = 8e6;
    /// The correlation of consecutive frequencies.
    const CORRELATION: f64 = 0.8;

    fn new(surroundings: &Surroundings, now: f64, random: &mut StdRng) -> Self {
        let Surroundings {
            wander,
            level,
            apart,
            ..
        } = *surroundings;
        let speed = wander * normal(random);
        let own = match surroundings.between_processes {
            0.0 => 0.0,
            deviation => deviation * normal(random),
        };
        let (step, upper) = (apart / 2.0, apart > 0.0 && random.random());
        Self {
            wander,
            level: level + own,
            speed,
            step,
            upper,
            next_change: now + exponential(Self::MEAN_DWELL_NS, random),
        }
    }

    /// Returns the frequency at a time, relative to the nominal one.
    fn speed_at(&mut self, now: f64, random: &mut StdRng) -> f64 {
        while (self.wander > 0.0 || self.step > 0.0) && now >= self.next_change {
            let change =
                (1.0 - Self::CORRELATION * Self::CORRELATION).sqrt() * self.wander * normal(random);
            self.speed = Self::CORRELATION * self.speed + change;
            self.upper = self.step > 0.0 && random.random();
            self.next_change += exponential(Self::MEAN_DWELL_NS, random);
        }
        (self.level + self.speed + if self.upper { self.step } else { -self.step }).exp()
    }
}

/// A world that its timers share.
#[derive(Clone)]
pub struct Shared(Rc<RefCell<World>>);

impl Shared {
    /// Returns the timer with this role.
    #[must_use]
    pub fn subject(&self, role: Role) -> Box<dyn Subject> {
        Box::new(Simulated {
            world: Rc::clone(&self.0),
            role,
        })
    }

    /// Returns the current core frequency, relative to the nominal one.
    #[must_use]
    pub fn speed(&self) -> f64 {
        let world = &mut *self.0.borrow_mut();
        world.core.speed_at(world.now, &mut world.random)
    }

    /// Returns the current width of the core, as a share of the width that it has alone.
    #[must_use]
    pub fn width(&self) -> f64 {
        let world = &mut *self.0.borrow_mut();
        world.sharing.at(world.now).width
    }

    /// Returns how much slower the core was so far than alone, with the time for which it was.
    #[must_use]
    pub fn slowdowns(&self) -> Vec<(f64, f64)> {
        let world = self.0.borrow();
        world.sharing.slowdowns(world.now)
    }
}

impl World {
    /// Creates a world; the seed determines phases, the start and costs.
    #[must_use]
    pub fn new(timer: &Model, reference: &Model, surroundings: &Surroundings, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let now = random.random_range(1e9..2e9);
        let (timer, reference) = (
            VirtualClock::new(timer, &mut random),
            VirtualClock::new(reference, &mut random),
        );
        let unit_of_work = whole_cycles(random.random_range(0.7..2.9), surroundings.locked_cycle);
        let slow = if random.random() {
            random.random_range(0.0..0.3)
        } else {
            0.0
        };
        let [low, high] = surroundings.empty_turn;
        let other = match high - low {
            0.0 => low,
            _ => random.random_range(low..high),
        };
        let empty_turn = whole_cycles(
            (surroundings.turn + slow + other).max(0.0),
            surroundings.locked_cycle,
        );
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
        let sharing = Sharing::new(surroundings.neighbours, now, &mut random);
        let next_interruption = surroundings.interruptions.map_or(f64::INFINITY, |which| {
            now + exponential(which.every, &mut random)
        });
        Self {
            now,
            timer,
            reference,
            unit_of_work,
            surroundings: *surroundings,
            empty_turn,
            factor,
            core,
            sharing,
            next_interruption,
            random,
        }
    }

    /// Returns a handle from which the timers of the world are created.
    #[must_use]
    pub fn share(self) -> Shared {
        Shared(Rc::new(RefCell::new(self)))
    }

    /// Advances the time by a computation that takes `nominal_ns` alone at the nominal frequency, and
    /// by the interruptions during it.
    fn compute(&mut self, nominal_ns: f64) {
        let speed = self.core.speed_at(self.now, &mut self.random);
        let slowdown = self.sharing.at(self.now).slowdown;
        self.pass(nominal_ns * slowdown / speed);
    }

    fn pass(&mut self, ns: f64) {
        self.now += ns;
        while self.now >= self.next_interruption {
            let Some(Interruptions { every, longest }) = self.surroundings.interruptions else {
                return;
            };
            self.now += 500.0 * (longest / 500.0).powf(self.random.random_range(0.0..1.0));
            self.next_interruption = self.now + exponential(every, &mut self.random);
        }
    }

    fn call(&mut self, role: Role) -> i64 {
        self.call_within(role, 0.0)
    }

    /// Calls a timer, the first `hidden` nanoseconds of it while an earlier read completes.
    fn call_within(&mut self, role: Role, hidden: f64) -> i64 {
        let (clock, factor) = match role {
            Role::Timer => (&mut self.timer, self.factor),
            Role::Reference => (&mut self.reference, 1.0),
            Role::Floor => return 0,
        };
        let (extra, interruption) = clock.draw_extra(&mut self.random);
        let (base, varies_before, follows_core) = (
            clock.model.base,
            clock.varies_before,
            clock.model.follows_core,
        );
        let before = (base * clock.latch + if varies_before { extra } else { 0.0 }).max(0.0);
        let after = (base + extra - before).max(0.0);
        let (mut before, mut after) = (factor * before, factor * after);
        after = (after - (hidden - before).max(0.0)).max(0.0);
        before = (before - hidden).max(0.0);
        self.spend(before, follows_core);
        if varies_before {
            self.pass(interruption);
        }
        let clock = if role == Role::Timer {
            &mut self.timer
        } else {
            &mut self.reference
        };
        let value = clock.value(self.now, &mut self.random);
        self.spend(after, follows_core);
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
        // The branch at the end of the loop is sometimes mispredicted.
        let leave = if self.random.random_bool(0.3) {
            4.5
        } else {
            0.0
        };
        let leave = whole_cycles(leave, self.surroundings.locked_cycle);
        self.compute(amount as f64 * self.unit_of_work + leave);
    }

    fn store(&mut self) {
        // Code that takes the same number of cycles each time keeps the phases where they are.
        let ns = match self.surroundings.locked_cycle {
            0.0 => self.random.random_range(0.5..2.5),
            cycle => 5.0 * cycle,
        };
        self.compute(ns);
    }
}

/// Rounds a duration to whole cycles of this length, at least one; 0 for any duration.
#[must_use]
pub fn whole_cycles(ns: f64, cycle: f64) -> f64 {
    if cycle > 0.0 {
        (ns / cycle).round().max(1.0) * cycle
    } else {
        ns
    }
}

/// The state of one simulated clock.
struct VirtualClock {
    model: Model,
    /// The point of the call at which the counter is read, from 0 (start) to 1 (end).
    latch: f64,
    /// Whether the variable part of the cost comes before that point.
    varies_before: bool,
    phase: f64,
    last: i64,
    /// The value of an irregular clock in nanoseconds.
    shown: f64,
    /// The time of the next update of an irregular clock.
    next_update: f64,
    /// The number of calls so far.
    calls: u32,
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
            calls: random.random_range(0..1 << 16),
        }
    }

    /// Draws the jitter of a call and the length of its interruption, in nanoseconds.
    fn draw_extra(&mut self, random: &mut StdRng) -> (f64, f64) {
        self.calls = self.calls.wrapping_add(1);
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
            Jitter::InTurn { extra, every } => {
                if self.calls.is_multiple_of(every) {
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
            Updates::Moved(reach) => {
                let steps = own / self.model.step + self.phase;
                // How late an update is depends only on its number.
                let late = reach * StdRng::seed_from_u64(steps as u64).random_range(0.0..1.0);
                (steps - late).floor() * self.model.step
            }
            Updates::Stuck => 1e9,
            Updates::Uneven(_) | Updates::Random => self.irregular(own, random),
        };
        // The small addend keeps whole multiples of the unit exact.
        let mut ticks = (shown / self.model.unit + 1e-6).floor() as i64;
        ticks -= ticks.rem_euclid(self.model.multiple);
        ticks += self.model.per_call * i64::from(self.calls);
        if self.model.unique > 0 {
            ticks = ticks.max(self.last.saturating_add(self.model.unique));
        }
        self.last = ticks;
        if let Some((share, unit)) = self.model.rounded
            && random.random_bool(share)
        {
            ticks -= ticks.rem_euclid(unit);
        }
        match self.model.backward {
            Some((share, by)) if random.random_bool(share) => ticks - by,
            _ => ticks,
        }
    }

    fn irregular(&mut self, own: f64, random: &mut StdRng) -> f64 {
        // After a long wait, only the last updates are simulated.
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

/// A timer of a [`World`], as the prober reads it.
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
        check_reference(reference)?;
        let world = &mut *self.world.borrow_mut();
        let turn = match self.role {
            Role::Floor => world.empty_turn,
            _ => world.surroundings.turn,
        };
        let turns = match calls {
            _ if !world.surroundings.unrolled => calls,
            1 => 0,
            _ => calls / CALLS_IN_TURN + calls % CALLS_IN_TURN,
        };
        let mut once = || {
            let first = world.call(Role::Reference);
            for number in 0..calls {
                world.call_within(
                    self.role,
                    if number == 0 {
                        world.surroundings.overlap
                    } else {
                        0.0
                    },
                );
            }
            world.compute(turns as f64 * turn);
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

    fn advance(&mut self, reference: &str, _: Activity, milliseconds: u32) -> Answer<Movement> {
        check_reference(reference)?;
        let world = &mut *self.world.borrow_mut();
        let (timer, start) = (world.call(self.role), world.call(Role::Reference));
        world.pass(f64::from(milliseconds) * 1e6);
        Ok(Movement {
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
        check_reference(reference)?;
        let world = &mut *self.world.borrow_mut();
        let read_ns = world.factor * world.timer.model.base;
        let mut rows = Vec::new();
        for &context in contexts {
            let durations = code_duration_ns(context, read_ns);
            let durations =
                durations.ok_or_else(|| Fault::Refused(format!("{context:?} is not simulated")))?;
            let mut row = |ns: f64| {
                let first = world.call(Role::Reference);
                (0..turns).for_each(|_| world.compute(ns));
                let second = world.call(Role::Reference);
                world.store();
                second - first
            };
            rows.push((0..repeat).map(|_| durations.map(&mut row)).collect());
        }
        Ok(rows)
    }
}

fn check_reference(reference: &str) -> Answer<()> {
    if reference == REFERENCE_ID {
        return Ok(());
    }
    Err(Fault::Refused(format!(
        "`{reference}` is not the reference, which is `{REFERENCE_ID}`"
    )))
}
