//! Sampling that goes where the uncertainty is: after the rounds, further processes are started for those timers whose Quality the
//! processes agree on least, until each is known well enough or the time is used.

use timers::{Deadline, Fault};

use super::Subject;
use crate::analysis::rate;
use crate::prober::sampling::Plan;
use crate::scoring::Sketch;
use crate::trace::Trace;

/// Of the frequency of the core nothing but Quality in cycles depends; where it is not seen, that of a usual core does.
const USUAL_HERTZ: f64 = 3e9;

/// What is known of a timer that may be asked again.
struct Known {
    sketch: Sketch,
    runs: usize,
}

impl Known {
    fn of(subject: &Subject, hertz: f64) -> Option<Self> {
        let stored = subject.outcome.as_ref().ok()?;
        let trace = told(stored.open(), subject, hertz);
        Some(Self { sketch: Sketch::of(&trace, hertz)?, runs: stored.runs() })
    }

    /// Looks at the process that came last, if there is a new one.
    fn update(&mut self, subject: &Subject, hertz: f64) {
        let Ok(stored) = &subject.outcome else { return };
        if stored.runs() > self.runs {
            self.runs = stored.runs();
            self.sketch.add(&told(stored.open_last(), subject, hertz));
        }
    }
}

fn told(trace: Trace, subject: &Subject, hertz: f64) -> Trace {
    let ns_per_tick = rate::agreed(&subject.rates).map(|(ns, _)| ns);
    Trace { ns_per_tick, core_hz: Some(hertz), ..trace }
}

/// Whether processes leave more uncertainty than the plan asks for.
#[must_use]
pub fn is_wide(sketch: &Sketch, plan: &Plan) -> bool {
    sketch.scatter() > plan.precision
}

/// Asks the timers whose processes agree least again and again. `look` is called now and then.
///
/// # Errors
/// As `ask`.
pub(super) fn narrow(
    subjects: &mut [Subject],
    plan: &Plan,
    over: &Deadline,
    hertz: Option<f64>,
    mut ask: impl FnMut(&mut [Subject], usize) -> Result<(), Fault>,
    mut look: impl FnMut() -> Result<(), Fault>,
) -> Result<(), Fault> {
    if plan.most_processes <= plan.processes {
        return Ok(());
    }
    let hertz = hertz.unwrap_or(USUAL_HERTZ);
    let mut known: Vec<Option<Known>> = subjects.iter().map(|subject| Known::of(subject, hertz)).collect();
    let mut asked = 0;
    while over.remaining().is_some() {
        let may = |index: usize| {
            let stored = subjects[index].outcome.as_ref().ok();
            stored.is_some_and(|stored| (stored.runs() as u32 + stored.trace.discarded) < plan.most_processes)
        };
        let wide =
            known.iter().enumerate().filter_map(|(index, known)| Some((index, &known.as_ref()?.sketch)));
        let wide = wide.filter(|(index, sketch)| may(*index) && is_wide(sketch, plan));
        let widest = wide.max_by(|a, b| a.1.scatter().total_cmp(&b.1.scatter()));
        let Some(index) = widest.map(|(index, _)| index) else { break };
        ask(subjects, index)?;
        if let Some(known) = &mut known[index] {
            known.update(&subjects[index], hertz);
        }
        asked += 1;
        if asked % subjects.len() == 0 {
            look()?;
        }
    }
    Ok(())
}
