//! Simulates a clock in virtual time, and campaigns that measure an operation with it.

use estimators::model::Properties;
use judgement::choice::{ClockFigures, Recipe, RecipeMethod, Requirement};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use simulated::draw::exponential;

/// Number of intervals between two edges of the clock from which on edges fall into the loop
/// independently of each other: the sum of as many random pauses, each of which has a standard
/// deviation of 0.29 intervals, varies by more than an interval.
pub const MIN_INTERVALS_BETWEEN_EDGES: f64 = 15.0;

/// The true properties of a clock.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    pub step_ns: f64,
    /// The lowest cost of a read.
    pub base_ns: f64,
    /// The mean of the additional cost of a read, which is exponentially distributed.
    pub jitter_ns: f64,
    /// Whether a read waits for the instructions before it. If not, a fence precedes each read; the
    /// prober did not measure its cost.
    pub ordered: bool,
}

impl Truth {
    /// A clock with this step, this lowest cost and this mean additional cost.
    pub const fn new(step_ns: f64, [base_ns, jitter_ns]: [f64; 2], ordered: bool) -> Self {
        Self {
            step_ns,
            base_ns,
            jitter_ns,
            ordered,
        }
    }

    fn median_cost(&self) -> f64 {
        self.base_ns + self.jitter_ns * 2.0_f64.ln()
    }

    /// Returns the figures of a prober: the cost has an error of up to 1 %, and an interval of ±2
    /// %.
    pub fn figures(&self, random: &mut SmallRng) -> ClockFigures {
        let cost = self.median_cost();
        // As a report has it: a step, or the distance of the 99th percentile from the median.
        let beyond_step = (-(self.step_ns / self.jitter_ns + 2.0_f64.ln())).exp();
        let within_step = if 2.0 * beyond_step <= 0.05 {
            self.step_ns
        } else {
            f64::INFINITY
        };
        let cost_ns = cost * random.random_range(0.99..1.01);
        let tail = self.base_ns + self.jitter_ns * 100.0_f64.ln() - cost_ns;
        ClockFigures {
            id: "simulated".into(),
            step_ns: self.step_ns,
            resolved: true,
            cost_ns,
            cost_error_ns: 0.02 * cost,
            variation_ns: within_step.min(tail.max(0.02 * cost)),
            adds_ns: None,
            properties: Properties {
                needs_fence: Some(!self.ordered),
                ..timers::Properties::MONOTONIC.into_owned()
            },
        }
    }
}

/// The state of a campaign.
pub struct World {
    clock: Truth,
    /// The point of a read at which the value is taken, from 0 (start) to 1 (end).
    latch: f64,
    /// Whether the additional cost of a read comes before that point.
    varies_before: bool,
    /// The relative error of the rate of the clock.
    drift: f64,
    /// The time of the fence before each read.
    fence_ns: f64,
    /// The additional time of a batch, and of a single call, compared with consecutive calls.
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

    /// Whether the plan can be simulated quickly: it has few calls, or many calls between two edges
    /// of the clock.
    pub fn can_simulate(clock: Truth, plan: &Recipe, requirement: &Requirement) -> bool {
        const MAX_SIMULATED_CALLS: u64 = 100_000;
        let is_quick = |ns: f64, count: u64| {
            count <= MAX_SIMULATED_CALLS
                || clock.step_ns
                    > MIN_INTERVALS_BETWEEN_EDGES * (ns + 2.0 * (clock.median_cost() + 20.0)) * 1.2
        };
        match plan.method {
            RecipeMethod::Mean { requests } if requirement.rate_hz.is_some() => {
                requests <= MAX_SIMULATED_CALLS / 10
            }
            RecipeMethod::Mean { requests } => is_quick(requirement.duration_ns, requests),
            _ => true,
        }
    }

    /// Returns the figures of a prober for this clock.
    pub fn figures(&mut self) -> ClockFigures {
        self.clock.figures(&mut self.random)
    }

    /// A reading, in steps.
    fn read(&mut self) -> f64 {
        let additional = self.clock.jitter_ns * exponential(1.0, &mut self.random);
        self.now += self.fence_ns;
        let before =
            self.clock.base_ns * self.latch + if self.varies_before { additional } else { 0.0 };
        let latched = (self.now + before) * (1.0 + self.drift);
        self.now += self.clock.base_ns + additional;
        (latched / self.clock.step_ns + self.phase).floor()
    }

    /// The difference of two readings around `ns` of work, in nanoseconds of the clock.
    fn interval(&mut self, ns: f64) -> f64 {
        let first = self.read();
        self.now += ns;
        (self.read() - first) * self.clock.step_ns
    }

    /// The mean of `count` intervals around `ns` of work, with random pauses between them as in the
    /// plans.
    fn mean_interval(&mut self, ns: f64, count: u64) -> f64 {
        let busy = ns + 2.0 * (self.clock.median_cost() + self.fence_ns);
        let wait = busy.min(self.clock.step_ns);
        if self.clock.step_ns > MIN_INTERVALS_BETWEEN_EDGES * busy && count > 2_000 {
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

    /// Like [`Self::mean_interval`], if there are many intervals between two edges of the clock.
    /// Each edge then falls on a random point of the loop, so the probability that it is inside an
    /// interval is the share of the time that the intervals take.
    fn mean_of_rare_edges(&mut self, ns: f64, count: u64, spacing: f64) -> f64 {
        let jitter = self.clock.jitter_ns - self.clock.median_cost() + self.clock.base_ns;
        let spacing = spacing + 2.0 * jitter;
        let gap = ns + self.clock.base_ns + self.clock.jitter_ns + self.fence_ns;
        let edges = count as f64 * spacing * (1.0 + self.drift) / self.clock.step_ns;
        let edges = edges.floor() + f64::from(self.random.random_bool(edges.fract()));
        let is_inside = |_: &u64| self.random.random_bool(gap / spacing);
        let inside = (0..edges as u64).filter(is_inside).count();
        inside as f64 * self.clock.step_ns / count as f64
    }

    /// Measures an operation of exactly this length according to the plan, and returns the relative
    /// error of the result. The mean of a read is that of as many intervals as calls, or, of requests,
    /// of many.
    pub fn relative_error(
        &mut self,
        figures: &ClockFigures,
        plan: &Recipe,
        requirement: &Requirement,
    ) -> f64 {
        let duration_ns = requirement.duration_ns;
        let [batch_ns, single_ns] = self.pipeline_ns;
        let isolated_ns = (duration_ns + single_ns).max(0.0);
        let found = match plan.method {
            RecipeMethod::Single => self.interval(isolated_ns) - figures.cost_ns,
            RecipeMethod::Batch { calls } => {
                (self.interval(duration_ns * calls as f64 + batch_ns) - figures.cost_ns)
                    / calls as f64
            }
            RecipeMethod::Mean { requests } => {
                let empty = requirement.rate_hz.map_or(requests, |_| 10_000);
                let read_ns = self.mean_interval(0.0, empty);
                self.mean_interval(isolated_ns, requests) - read_ns
            }
        };
        found / duration_ns - 1.0
    }

    pub fn random(&mut self) -> &mut SmallRng {
        &mut self.random
    }
}
