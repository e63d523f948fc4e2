//! Sampling that goes where the doubt is: after the rounds, further processes are started for those timers whose Quality the
//! processes agree on least, until each is known well enough or the time is used.

use timers::{Deadline, Fault};

use super::Subject;
use crate::analysis::profile::profile;
use crate::analysis::rate;
use crate::prober::plan::Plan;
use crate::scoring;

/// By how much the processes of a timer leave its Quality in doubt, where more of them may help: half the width of the interval
/// that they make.
#[must_use]
pub fn doubt(subject: &Subject, plan: &Plan, hertz: f64) -> Option<f64> {
    let stored = subject.outcome.as_ref().ok()?;
    if stored.runs() as u32 + stored.trace.spoilt >= plan.most_processes {
        return None;
    }
    let mut trace = stored.open();
    trace.core_hz = Some(hertz);
    trace.ns_per_tick = rate::agreed(&subject.rates).map(|(ns, _)| ns);
    wide(scoring::scatter(&profile(&trace), hertz), plan)
}

/// What is more than the plan asks for.
#[must_use]
pub fn wide(scatter: Option<f64>, plan: &Plan) -> Option<f64> {
    scatter.filter(|half| *half > plan.precision)
}

/// Asks the timers of the widest intervals again and again. `look` is called now and then.
///
/// # Errors
/// As `ask`.
pub(super) fn narrow(
    subjects: &mut [Subject],
    plan: &Plan,
    over: &Deadline,
    hertz: impl Fn() -> Option<f64>,
    mut ask: impl FnMut(&mut [Subject], usize) -> Result<(), Fault>,
    mut look: impl FnMut() -> Result<(), Fault>,
) -> Result<(), Fault> {
    if plan.most_processes <= plan.processes {
        return Ok(());
    }
    let of = |subject: &Subject| hertz().and_then(|hertz| doubt(subject, plan, hertz));
    let mut doubts: Vec<Option<f64>> = subjects.iter().map(of).collect();
    let mut asked = 0;
    while over.remaining().is_some() {
        let widest = doubts.iter().enumerate().filter_map(|(index, half)| Some((index, (*half)?)));
        let Some((index, _)) = widest.max_by(|a, b| a.1.total_cmp(&b.1)) else { break };
        ask(subjects, index)?;
        doubts[index] = of(&subjects[index]);
        asked += 1;
        if asked % subjects.len() == 0 {
            look()?;
        }
    }
    Ok(())
}
