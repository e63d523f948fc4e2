//! Probes simulated sleep primitives and periodic timers with the questions of a real campaign, so
//! that the estimates can be compared with the truth.

pub mod population;
mod score;
mod truth;

use rand::SeedableRng;
use rand::rngs::SmallRng;
pub use score::{judge, required};
use simulated::{REFERENCE_ID, TickModel, VirtualTicks, VirtualWaits, WaitModel};
use timers::waits::WaitList;
use timers::{Answer, Subject};

use estimators::model::{PeriodFigures, WaitFigures};
use estimators::trace::{PeriodTrace, Reference, WaitObservations, WaitTrace};
use estimators::waits::periods;
use timermeter::campaign::waits::{explore, run_periodic_timer};
use timermeter::plan::Plan;

/// The requested lengths, in nanoseconds. The long ones show the proportional error.
const LENGTHS_NS: [u64; 7] = [
    1_000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
    1_000_000_000,
];

/// A simulated sleep primitive and the seed of its simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitCase {
    /// The timer.
    pub model: WaitModel,
    /// The seed.
    pub seed: u64,
}

/// A simulated periodic timer and the seed of its simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct TickCase {
    /// The timer.
    pub model: TickModel,
    /// The requested period in nanoseconds.
    pub period_ns: u64,
    /// The seed.
    pub seed: u64,
}

/// The reference, with this step in nanoseconds.
fn reference(step: f64) -> Reference {
    Reference {
        id: REFERENCE_ID.into(),
        ns_per_tick: 1.0,
        step,
        ..Reference::default()
    }
}

impl WaitCase {
    /// Probes the timer in virtual time and returns the estimates.
    ///
    /// # Errors
    /// If [`probe`](Self::probe) fails.
    pub fn figures(&self, plan: &Plan) -> Answer<WaitFigures> {
        Ok(estimators::waits::figures(&self.probe(plan)?))
    }

    /// Probes the timer in virtual time and returns the observations.
    ///
    /// # Errors
    /// If the timer does not answer a question. Simulated timers answer all of them.
    pub fn probe(&self, plan: &Plan) -> Answer<WaitTrace> {
        let plan = &plan.waits;
        let mut random = SmallRng::seed_from_u64(self.seed);
        let mut trace = WaitTrace {
            reference: reference(self.model.clock_step),
            runs: Vec::new(),
        };
        // A campaign measures the leading timers for longer; here those with an even seed.
        let leading = self
            .seed
            .is_multiple_of(2)
            .then(|| plan.for_leading(1, 0.0))
            .flatten();
        let plans = [Some(*plan), leading].into_iter().flatten();
        for (round, plan) in plans.enumerate() {
            for process in 0..plan.processes {
                let seed = (self.seed)
                    .wrapping_add(1 + u64::from(round as u32 * plan.processes + process));
                let mut floor = VirtualWaits::empty_loop(self.model.clock_step, seed);
                let list = WaitList {
                    lengths_ns: &[0; 200],
                    pause_ns: 0,
                };
                let mut timer = VirtualWaits::new(&self.model, seed);
                let (lengths_ns, random) = (&LENGTHS_NS, &mut random);
                trace.runs.push(WaitObservations {
                    empty: floor.waits(REFERENCE_ID, list)?,
                    ..explore(&mut timer, &trace.reference, lengths_ns, &plan, random)?
                });
            }
        }
        Ok(trace)
    }
}

impl TickCase {
    /// Probes the timer in virtual time. Returns the estimates and the true numbers of missed
    /// expirations: those that the timer counts itself, and all. Misses after the last observed
    /// expirations cannot be found and are left out.
    ///
    /// # Errors
    /// If the timer does not answer a question. Simulated timers answer all of them.
    pub fn figures(&self, plan: &Plan) -> Answer<(PeriodFigures, [u64; 2])> {
        let plan = &plan.waits;
        let mut trace = PeriodTrace {
            reference: reference(1.0),
            period_ns: self.period_ns,
            runs: Vec::new(),
        };
        let mut missed = [0, 0];
        for process in 0..plan.processes {
            let mut timer =
                VirtualTicks::new(&self.model, self.seed.wrapping_add(1 + u64::from(process)));
            trace.runs.push(run_periodic_timer(
                &mut timer,
                &trace.reference,
                self.period_ns,
                plan.ticking_ns,
            )?);
            let reported = timer
                .missed()
                .len()
                .saturating_sub(periods::SETTLING_WAKEUPS);
            let missed_in_process = |which: usize| {
                timer.missed()[..reported]
                    .iter()
                    .map(|missed| missed[which])
                    .sum::<u64>()
            };
            missed = [0, 1].map(|which| missed[which] + missed_in_process(which));
        }
        Ok((periods::figures(&trace), missed))
    }
}
