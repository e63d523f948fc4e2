//! Simulated timers that wait, and periodic ones: asked the same questions as real ones are, and
//! held against what is true.

pub mod population;
pub mod score;
mod truth;

use rand::SeedableRng;
use rand::rngs::StdRng;
use simulated::{REFERENCE_ID, TickModel, VirtualTicks, VirtualWaits, WaitModel};
use timers::Answer;
use timers::waits::Means;

use timermeter::campaign::waits::explore::{WaitBench, explore, explore_long};
use timermeter::campaign::waits::plan::WaitPlan;
use timermeter::campaign::waits::ticking::tick;
use timermeter::model::{PeriodFigures, WaitFigures};
use timermeter::trace::{PeriodTrace, Reference, WaitTrace};
use timermeter::{periods, waits};

/// A simulated countdown timer, and the seed of its virtual worlds.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitCase {
    /// The timer.
    pub model: WaitModel,
    /// The seed.
    pub seed: u64,
}

/// A simulated periodic timer, and the seed of its virtual worlds.
#[derive(Clone, Debug, PartialEq)]
pub struct TickCase {
    /// The timer.
    pub model: TickModel,
    /// The period it is asked for, in nanoseconds.
    pub period_ns: u64,
    /// The seed.
    pub seed: u64,
}

fn reference() -> Reference {
    Reference {
        id: REFERENCE_ID.into(),
        ns_per_tick: 1.0,
        step: 1.0,
        ..Reference::default()
    }
}

impl WaitCase {
    /// What is found of it in virtual time.
    ///
    /// # Errors
    /// As its questions, which are all answered.
    pub fn figures(&self, plan: &WaitPlan) -> Answer<WaitFigures> {
        let mut random = StdRng::seed_from_u64(self.seed);
        let blocks = self.model.means == Means::Blocks;
        let mut trace = WaitTrace {
            reference: reference(),
            blocks,
            runs: Vec::new(),
        };
        let first = plan.first();
        for process in 0..plan.processes {
            trace.runs.push(explore(
                &mut self.bench(process),
                &trace.runs,
                plan.lengths_ns,
                &first,
                &mut random,
            )?);
        }
        // Who spins does not wait next to others.
        let rounds = if blocks { plan.long_rounds } else { 0 };
        for (round, run) in (0..rounds).zip(&mut trace.runs) {
            let (long, scans) =
                explore_long(&mut self.bench(plan.processes + round), plan, &mut random)?;
            run.long = long;
            run.scans.extend(scans);
        }
        // Every other one is among those that more waits are worth.
        let further = if self.seed.is_multiple_of(2) {
            plan.further
        } else {
            0
        };
        for process in 0..further {
            let mut bench = self.bench(plan.processes + rounds + process);
            trace.runs.push(explore(
                &mut bench,
                &trace.runs,
                plan.lengths_ns,
                plan,
                &mut random,
            )?);
        }
        Ok(waits::figures(&trace, None))
    }

    /// A process of its own.
    fn bench(&self, process: u32) -> WaitBench {
        let seed = self.seed.wrapping_add(1 + u64::from(process));
        WaitBench {
            timer: Box::new(VirtualWaits::new(&self.model, seed)),
            floor: Some(Box::new(VirtualWaits::nothing(seed))),
            reference: reference(),
            arms: true,
            break_ns: None,
        }
    }
}

impl TickCase {
    /// What is found of it in virtual time, and the points of its grid that it missed as far as
    /// they can be told: counted ones and all.
    ///
    /// # Errors
    /// As its questions, which are all answered.
    pub fn figures(&self, plan: &WaitPlan) -> Answer<(PeriodFigures, [u64; 2])> {
        let mut trace = PeriodTrace {
            reference: reference(),
            period_ns: self.period_ns,
            runs: Vec::new(),
        };
        let mut missed = [0, 0];
        for process in 0..plan.processes {
            let mut timer =
                VirtualTicks::new(&self.model, self.seed.wrapping_add(1 + u64::from(process)));
            trace.runs.push(tick(
                &mut timer,
                &trace.reference,
                self.period_ns,
                plan.ticking_ns,
            )?);
            let reported = timer.missed().len().saturating_sub(periods::SKIPPED_AT_END);
            let of = |which: usize| {
                timer.missed()[..reported]
                    .iter()
                    .map(|missed| missed[which])
                    .sum::<u64>()
            };
            missed = [0, 1].map(|which| missed[which] + of(which));
        }
        Ok((periods::figures(&trace), missed))
    }
}
