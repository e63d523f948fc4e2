//! A clock and an operation in virtual time, and campaigns with them.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Binomial, Distribution, Exp1};
use timermeter::method::Facts;
use timermeter::method::{ClockFigures, Method, Plan};

/// With this many intervals between two edges these fall into the loop independently of each other:
/// the random waits, which vary by 0.29 of an interval, have added up to a whole one.
pub const MANY: f64 = 15.0;

/// What a clock really is.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    pub step_ns: f64,
    /// What a read costs at least.
    pub base_ns: f64,
    /// Mean of what it costs more, exponentially distributed.
    pub jitter_ns: f64,
    /// Whether a read waits by itself. Where it does not, a fence stands before it, whose cost the
    /// prober did not see.
    pub ordered: bool,
}

impl Truth {
    fn median_cost(&self) -> f64 {
        self.base_ns + self.jitter_ns * 2.0_f64.ln()
    }

    /// What a prober would have found: the cost is off by up to 1 %, and said to be by up to 2 %.
    pub fn figures(&self, random: &mut SmallRng) -> ClockFigures {
        let cost = self.median_cost();
        let within_a_step = 1.0 - (-(self.step_ns / self.jitter_ns + 2.0_f64.ln())).exp();
        ClockFigures {
            id: "simulated".into(),
            runtime: "simulated".into(),
            step_ns: self.step_ns,
            resolved: true,
            cost_ns: cost * random.random_range(0.99..1.01),
            cost_error_ns: 0.02 * cost,
            adds_ns: None,
            cost_p99_ns: Some(self.base_ns + self.jitter_ns * 100.0_f64.ln()),
            spread: Some(within_a_step),
            facts: Facts {
                ordered: self.ordered,
                ..Facts::from_declared(&timers::Properties::MONOTONIC)
            },
        }
    }
}

/// The state of a campaign.
pub struct World {
    clock: Truth,
    /// Where in the read the counter is looked at.
    latch: f64,
    varies_before: bool,
    /// How much faster than real time the clock runs.
    drift: f64,
    /// What a fence before each read takes.
    fence_ns: f64,
    /// What a batch, and a single call, take longer than calls that follow each other.
    pipeline_ns: [f64; 2],
    phase: f64,
    now: f64,
    random: SmallRng,
}

impl World {
    pub fn new(clock: Truth, seed: u64) -> Self {
        let mut random = SmallRng::seed_from_u64(seed);
        Self {
            clock,
            latch: random.random_range(0.1..0.9),
            varies_before: random.random(),
            drift: random.random_range(-500e-6..500e-6),
            fence_ns: if clock.ordered {
                0.0
            } else {
                random.random_range(0.0..20.0)
            },
            pipeline_ns: [
                random.random_range(0.0..50.0),
                random.random_range(-10.0..10.0),
            ],
            phase: random.random_range(0.0..1.0),
            now: random.random_range(0.0..1e9),
            random,
        }
    }

    /// Whether the plan can be played in a moment: call by call, or by the edges.
    pub fn can_play(clock: Truth, plan: &Plan, duration_ns: f64) -> bool {
        const MOST: u64 = 100_000;
        let playable = |ns: f64, count: u64| {
            count <= MOST || clock.step_ns > MANY * (ns + 2.0 * (clock.median_cost() + 20.0)) * 1.2
        };
        match plan.method {
            Method::EdgeCrossing {
                samples,
                floor_samples,
                ..
            } => playable(duration_ns, samples) && playable(0.0, floor_samples),
            _ => true,
        }
    }

    /// What the prober found of this clock.
    pub fn figures(&mut self) -> ClockFigures {
        self.clock.figures(&mut self.random)
    }

    /// A reading, in steps.
    fn read(&mut self) -> f64 {
        let extra = self.clock.jitter_ns * exponential(&mut self.random);
        self.now += self.fence_ns;
        let before = self.clock.base_ns * self.latch + if self.varies_before { extra } else { 0.0 };
        let latched = (self.now + before) * (1.0 + self.drift);
        self.now += self.clock.base_ns + extra;
        (latched / self.clock.step_ns + self.phase).floor()
    }

    /// The difference of two readings around `ns` of work, in nanoseconds of the clock.
    fn interval(&mut self, ns: f64) -> f64 {
        let first = self.read();
        self.now += ns;
        (self.read() - first) * self.clock.step_ns
    }

    /// The mean of many intervals, apart by random times as the plans want it.
    fn mean_interval(&mut self, ns: f64, count: u64) -> f64 {
        let busy = ns + 2.0 * (self.clock.median_cost() + self.fence_ns);
        let wait = busy.min(self.clock.step_ns);
        if self.clock.step_ns > MANY * busy && count > 2_000 {
            return self.mean_of_rare_edges(ns, count, busy + wait / 2.0);
        }
        let total: f64 = (0..count)
            .map(|_| {
                self.now += wait * self.random.random_range(0.0..1.0);
                self.interval(ns)
            })
            .sum();
        total / count as f64
    }

    /// The same where many intervals lie between two edges: each edge then falls into a random
    /// place of the loop, so it is inside an interval with the share of the time that the intervals
    /// take.
    fn mean_of_rare_edges(&mut self, ns: f64, count: u64, spacing: f64) -> f64 {
        let jitter = self.clock.jitter_ns - self.clock.median_cost() + self.clock.base_ns;
        let spacing = spacing + 2.0 * jitter;
        let gap = ns + self.clock.base_ns + self.clock.jitter_ns + self.fence_ns;
        let edges = count as f64 * spacing * (1.0 + self.drift) / self.clock.step_ns;
        let edges = edges.floor() + f64::from(self.random.random_bool(edges.fract()));
        let inside = Binomial::new(edges as u64, gap / spacing).expect("a probability");
        inside.sample(&mut self.random) as f64 * self.clock.step_ns / count as f64
    }

    /// Runs the plan on an operation of that length: the relative error of the result.
    pub fn run(&mut self, figures: &ClockFigures, plan: &Plan, duration_ns: f64) -> f64 {
        let [batch_ns, single_ns] = self.pipeline_ns;
        let apart_ns = (duration_ns + single_ns).max(0.0);
        let found = match plan.method {
            Method::Single => self.interval(apart_ns) - figures.cost_ns,
            Method::Batch { calls } => {
                (self.interval(duration_ns * calls as f64 + batch_ns) - figures.cost_ns)
                    / calls as f64
            }
            Method::EdgeCrossing {
                samples,
                floor_samples,
                ..
            } => self.mean_interval(apart_ns, samples) - self.mean_interval(0.0, floor_samples),
        };
        found / duration_ns - 1.0
    }

    pub fn random(&mut self) -> &mut SmallRng {
        &mut self.random
    }

    /// The shortcut and the long way, for the test that they agree.
    pub fn both_ways(&mut self, ns: f64, count: u64) -> [f64; 2] {
        let busy = ns + 2.0 * self.clock.median_cost();
        let short = self.mean_of_rare_edges(ns, count, busy * 1.5);
        let total: f64 = (0..count)
            .map(|_| {
                self.now += busy * self.random.random_range(0.0..1.0);
                self.interval(ns)
            })
            .sum();
        [short, total / count as f64]
    }
}

fn exponential(random: &mut SmallRng) -> f64 {
    Exp1.sample(random)
}
