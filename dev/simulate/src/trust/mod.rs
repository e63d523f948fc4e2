//! Judges verdicts on simulated clocks of known faults: clocks that differ between CPUs, and a
//! counter and a kernel's clock of which one is slewed during the run.

mod cpus;
mod slews;

use estimators::model::{Counted, Verdicts};
use estimators::trace::{Claims, Evidence, Reference, Trace};
use simulated::{Model, Surroundings};
use timermeter::plan::Plan;
use timers::{Answer, Fault};

use crate::figure::Unit;
use crate::tally::{Among, Bound, Judged, Question, Requirement, judge_all};
use crate::verdict::row_of;
use crate::{Case, FoundFigure};
use cpus::{ClockOnCpus, clocks_on_cpus};
use slews::{SlewedClock, slewed_clocks};

/// What is required of the verdicts and of the figures that they rest on.
pub const REQUIRED: [Requirement; 3] = [
    Requirement(
        Question::Answer(RIGHT),
        Among::EachKind,
        Bound::AtLeast(0.98),
    ),
    Requirement(Question::Answer(RIGHT), Among::All, Bound::AtLeast(0.99)),
    Requirement(Question::Covered(""), Among::EachKind, Bound::AtLeast(0.93)),
];
const RIGHT: &str = "verdict right";

/// Judges `count` clocks of each kind.
///
/// # Errors
/// If a simulated clock cannot be probed.
pub fn judge(count: usize, seed: u64) -> Answer<Vec<Judged>> {
    let on_cpus = judge_all(&clocks_on_cpus(count, seed), ClockOnCpus::judge)?;
    let slewed = judge_all(&slewed_clocks(count, seed), SlewedClock::judge)?;
    Ok([on_cpus, slewed].concat())
}

/// Counts a verdict and the figures that it rests on, with their evidence.
fn judged(kind: &str, right: bool, figures: Vec<FoundFigure>, evidence: String) -> Judged {
    let figures = figures.into_iter();
    Judged {
        kinds: vec![kind.into()],
        answers: vec![(RIGHT, right)],
        figures: figures
            .map(|it| ("offset or tick, ns", it, Unit::Of(1.0)))
            .collect(),
        wrong: (!right).then_some(evidence),
    }
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
    let plan = Plan {
        processes: 1,
        brief: 0,
        searching: 0,
        max_processes: 1,
        ..Plan::QUICK
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
