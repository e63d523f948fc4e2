//! Judging the estimators: simulated timers of declared truth are probed like any other, and what is found is
//! held against what is true.

pub mod population;

use rand::SeedableRng;
use rand::rngs::StdRng;
use timers::simulated::{Model, REFERENCE_ID, Role, Truth, World};
use timers::{Answer, Subject};

use crate::analysis::profile::{Profile, profile};
use crate::prober::bench::Bench;
use crate::prober::explore::explore;
use crate::prober::introduce::introduce;
use crate::prober::plan::Plan;
use crate::prober::wait::at_work;
use crate::quality::quality;
use crate::trace::Trace;
use crate::units::{Hertz, Nanos};

/// The frequency of the simulated CPU, which turns time into cycles.
pub const FREQUENCY: Hertz = Hertz(3e9);

/// A simulated timer on its bench.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The timer under examination.
    pub timer: Model,
    /// The reference that times it.
    pub reference: Model,
    /// The seed of its virtual worlds.
    pub seed: u64,
}

/// What was found of a case, beside what is true.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What is true.
    pub truth: Truth,
    /// What was found.
    pub profile: Profile,
    /// Quality as it should be.
    pub true_quality: Option<f64>,
    /// Quality as found.
    pub quality: Option<f64>,
}

impl Case {
    /// Probes the case in virtual time.
    ///
    /// # Errors
    /// When the reference is useless, which a sound one is not.
    pub fn probe(&self, plan: &Plan) -> Answer<Trace> {
        let mut random = StdRng::seed_from_u64(self.seed);
        let mut bench = self.bench(self.seed);
        let reference = introduce(REFERENCE_ID, bench.reference.as_mut(), self.reference.unit, &mut random)?;
        let mut trace =
            Trace { ns_per_tick: None, declared: self.timer.declared, reference, ..Trace::default() };
        let mut slow = 0;
        for process in 1..=u64::from(plan.processes) {
            let mut bench = self.bench(self.seed.wrapping_mul(1_000).wrapping_add(process));
            let found = explore(&mut bench, &trace.reference, plan, &mut random)?;
            trace.ns_per_tick = trace.ns_per_tick.or(found.ns_per_tick);
            slow += u32::from(found.slow);
            trace.runs.push(found.run);
        }
        if 2 * slow > plan.processes {
            trace.slow = at_work(&mut bench, &trace.reference, plan, &mut random)?;
        }
        Ok(trace)
    }

    /// Probes the case and holds the result against the truth.
    ///
    /// # Errors
    /// As [`probe`](Self::probe).
    pub fn judge(&self, plan: &Plan) -> Answer<Verdict> {
        let truth = self.timer.truth();
        let profile = profile(&self.probe(plan)?);
        let cycles = |ns: f64| Nanos(ns).cycles(FREQUENCY);
        let true_quality = match (truth.accuracy, truth.spread) {
            _ if !truth.monotonic => Some(0.0),
            (Some(accuracy), Some(spread)) => quality(cycles(accuracy), cycles(truth.cost), spread),
            _ => None,
        };
        let found = match (profile.accuracy_ns(), profile.cost, profile.spread) {
            _ if profile.backward.steps > 0 => Some(0.0),
            (Some(accuracy), Some(cost), Some(spread)) => {
                quality(cycles(accuracy.value), cycles(cost.value), spread.value)
            }
            _ => None,
        };
        Ok(Verdict { truth, profile, true_quality, quality: found })
    }

    fn bench(&self, seed: u64) -> Bench {
        let subject = World::new(&self.timer, &self.reference, seed).share();
        let floor: Box<dyn Subject> = subject(Role::Floor);
        Bench {
            timer: subject(Role::Timer),
            ns_per_tick: self.timer.declared.then_some(self.timer.unit),
            reference: subject(Role::Reference),
            reference_id: REFERENCE_ID.into(),
            floor: Some(floor),
            watch: None,
        }
    }
}

impl Verdict {
    /// Accuracy within 1 %; for timers without a step: no number given.
    #[must_use]
    pub fn accuracy_holds(&self) -> bool {
        match (self.truth.accuracy, self.profile.accuracy_ns()) {
            (Some(truth), Some(found)) => (found.value / truth - 1.0).abs() <= 0.01,
            // Backward steps may hide the step; the timer is useless anyway.
            (Some(_), None) => !self.truth.monotonic,
            (None, None) => true,
            _ => false,
        }
    }

    /// Cost within 2 % or half a nanosecond.
    #[must_use]
    pub fn cost_holds(&self) -> bool {
        let truth = self.truth.cost;
        self.profile.cost.is_some_and(|found| (found.value - truth).abs() <= (0.02 * truth).max(0.5))
    }

    /// Spread within 0.02.
    #[must_use]
    pub fn spread_holds(&self) -> bool {
        if !self.truth.monotonic && self.profile.spread.is_none() {
            return true;
        }
        match (self.truth.spread, self.profile.spread) {
            (Some(truth), Some(found)) => (found.value - truth).abs() <= 0.02,
            (None, None) => true,
            _ => false,
        }
    }

    /// Quality within half a percentage point; none where there is none.
    #[must_use]
    pub fn quality_holds(&self) -> bool {
        match (self.true_quality, self.quality) {
            (Some(truth), Some(found)) => (found - truth).abs() <= 0.005,
            (None, None) => true,
            _ => false,
        }
    }

    /// Steps backwards seen exactly where there are some.
    #[must_use]
    pub fn order_holds(&self) -> bool {
        (self.profile.backward.steps == 0) == self.truth.monotonic
    }

    /// All of these.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.accuracy_holds()
            && self.cost_holds()
            && self.spread_holds()
            && self.quality_holds()
            && self.order_holds()
    }
}
