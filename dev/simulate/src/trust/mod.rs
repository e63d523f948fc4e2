//! Judges verdicts on simulated clocks of known faults: clocks that differ between CPUs, and a
//! counter and a kernel's clock of which one is slewed during the run.

mod cpus;
mod slews;

use estimators::model::{Counted, Verdicts};
use estimators::trace::{Claims, Evidence, Reference, Trace};
use simulated::{Model, Surroundings};
use timermeter::campaign::sampling::CampaignPlan;
use timers::{Answer, Fault};

use crate::verdict::row_of;
use crate::{Case, FoundFigure};

pub use cpus::{ClockOnCpus, clocks_on_cpus};
pub use slews::{SlewedClock, slewed_clocks};

/// What was found about one simulated clock, compared with the truth.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The kind of clock.
    pub kind: &'static str,
    /// Whether the verdict is the right one.
    pub right: bool,
    /// The figures that the verdict rests on.
    pub figures: Vec<FoundFigure>,
    /// The evidence, for a clock that was judged wrongly.
    pub evidence: String,
}

/// Probes a timer by a reference, and returns the verdicts from this evidence.
fn verdicts(
    timer: &Model,
    reference: &Model,
    evidence: Evidence,
    settle: impl FnOnce(&mut Reference),
    seed: u64,
) -> Answer<Verdicts> {
    let case = Case {
        timer: timer.clone(),
        reference: reference.clone(),
        surroundings: Surroundings::default(),
        cut: None,
        seed,
    };
    // The verdicts need the step and the tick only, which one process finds.
    let plan = CampaignPlan {
        processes: 1,
        brief: 0,
        searching: 0,
        max_processes: 1,
        ..CampaignPlan::QUICK
    };
    let (mut trace, hertz): (Trace, _) = case.probe(&plan)?;
    trace.evidence = Evidence {
        claims: Claims {
            counts: Some(Counted::Wall),
            resolution_ns: None,
        },
        ..evidence
    };
    settle(&mut trace.reference);
    let verdicts = row_of(timer, trace, hertz).verdicts;
    verdicts.ok_or_else(|| Fault::Refused(format!("{} has no verdicts", timer.name)))
}
