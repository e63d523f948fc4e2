//! Judges whether a timer can be trusted: verdicts from evidence, one question per file. All
//! functions are pure; the evidence is passed as arguments.

mod correction;
mod nature;
mod path;
mod reference;
mod stability;
mod threads;

pub use path::ReadPathBaselines;

use estimators::figures::Figures;
use estimators::model::{Counted, Device, Outcome, Properties, Verdicts};
use estimators::numbers::time;
use estimators::rate::correction::LargeCorrection;
use estimators::rate::order::Backward;
use estimators::trace::{Evidence, Trace};

/// The input of the verdicts on one timer.
#[derive(Debug)]
pub struct Case<'a> {
    /// The declared properties of the timer. What it counts is judged by the claims in the observations, which
    /// a stored trace also has.
    pub properties: &'a Properties,
    /// The device that reads the timer; `None` if a CPU does.
    pub device: Option<&'a Device>,
    /// The observations.
    pub trace: &'a Trace,
    /// The results computed from the observations.
    pub figures: &'a Figures,
    /// What is known about the machine.
    pub machine: MachineCase<'a>,
    /// The cost in nanoseconds of reading the timer through the system call, if it was measured.
    pub syscall_ns: Option<f64>,
}

/// What is known about a machine, for the verdicts on all its timers.
#[derive(Clone, Copy, Debug)]
pub struct MachineCase<'a> {
    /// The cost of leaving user mode on this machine, and the clock source in use.
    pub baselines: &'a ReadPathBaselines,
    /// The correction of the rate of the kernel's clocks, if it is large.
    pub correction: Option<LargeCorrection>,
}

impl<'a> MachineCase<'a> {
    /// The case of a machine without a large correction.
    pub fn of_baselines(baselines: &'a ReadPathBaselines) -> Self {
        Self {
            baselines,
            correction: None,
        }
    }
}

/// The outcome of a verdict, with the evidence in a sentence.
type Judged = (Outcome, String);

/// Returns all verdicts.
pub fn judge(case: &Case) -> Verdicts {
    let stable = stability::judge(case);
    Verdicts {
        monotonic: threads::judge_one_thread(case),
        thread_safe: threads::judge_between_threads(case),
        counts: nature::judge_counted(case),
        declared: nature::compare_with_declared(case, &stable),
        read_path: path::judge(case),
        stable,
    }
}

impl Case<'_> {
    fn evidence(&self) -> &Evidence {
        &self.trace.evidence
    }

    /// Returns the step, or its upper bound, in nanoseconds.
    fn step_ns(&self) -> Option<f64> {
        self.figures.step_at_most_ns()
    }

    /// Returns whether the step of the timer is known, and not only an upper bound of it. Steps of
    /// unknown length look like jumps and freezes.
    fn knows_step(&self) -> bool {
        self.figures.resolution.known().is_some()
    }

    /// Returns all comparisons: those about a millisecond apart, those after each process of a round, and those
    /// over the whole campaign.
    fn comparisons(&self) -> [&[[i64; 3]]; 3] {
        let evidence = self.evidence();
        [
            &evidence.series,
            &evidence.close_comparisons,
            &evidence.sparse_comparisons,
        ]
    }

    /// Returns the quantity that the timer claims to count.
    fn claimed(&self) -> Option<Counted> {
        self.evidence().claims.counts
    }

    /// Returns whether the timer is to count wall time, which is expected of a clock that declares nothing.
    fn is_wall(&self) -> bool {
        self.claimed().is_none_or(|counts| counts == Counted::Wall)
    }

    /// Converts ticks of the timer to nanoseconds; `None` if its tick is unknown.
    fn ticks_to_ns(&self, ticks: f64) -> Option<f64> {
        Some(ticks * self.figures.ns_per_tick?)
    }

    /// Returns the reason why the host did not answer a question: it refused the question, or the
    /// process that should have answered ended. `None` if the question was answered or not asked.
    fn refusal(&self, question: &str) -> Option<&str> {
        let refusals = &self.evidence().refusals;
        refusals
            .get(question)
            .or_else(|| refusals.get("process"))
            .map(String::as_str)
    }
}

/// Returns `once` or, for example, `3 times`.
fn times(count: u64) -> String {
    match count {
        1 => "once".into(),
        _ => format!("{count} times"),
    }
}

/// Says how often a clock stepped backwards, and by how much: as a time if the length of a tick in
/// nanoseconds is known.
fn how_often(back: Backward, ns_per_tick: Option<f64>) -> String {
    let ticks = || format!("{} ticks", back.largest);
    let by = ns_per_tick.map_or_else(ticks, |ns| time(back.largest as f64 * ns));
    format!("{}, by up to {by}", times(back.steps))
}

#[cfg(test)]
mod tests;
