//! Judges whether a timer can be trusted: verdicts from evidence, one question per file. All
//! functions are pure; the evidence is passed as arguments.

mod correction;
mod nature;
mod path;
mod reference;
mod stability;
mod threads;

pub use path::{ReadPathBaselines, SyscallVariant};

use crate::model::{Counted, Device, Properties, Verdicts};
use crate::numbers::{significant, time};
use crate::profile::Profile;
use crate::rate::correction::LargeCorrection;
use crate::trace::{Evidence, Trace};

/// The input of the verdicts on one timer.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The declared properties of the timer.
    pub properties: &'a Properties,
    /// The device that reads the timer; `None` if a CPU does.
    pub device: Option<&'a Device>,
    /// The observations.
    pub trace: &'a Trace,
    /// The results computed from the observations.
    pub profile: &'a Profile,
    /// What is known about the machine.
    pub machine: MachineCase<'a>,
    /// The variant of the timer that is read through the system call, if it was measured.
    pub syscall_variant: Option<SyscallVariant<'a>>,
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

/// Returns all verdicts.
pub fn judge(case: &Case) -> Verdicts {
    let stable = correction::apply(case, stability::judge(case));
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

    /// The word for where a thread can read the timer: a CPU, or a place of its device.
    fn place(&self) -> &'static str {
        if self.device.is_some() {
            "place"
        } else {
            "CPU"
        }
    }

    /// Returns the step, or its upper bound, in nanoseconds.
    fn step_ns(&self) -> Option<f64> {
        self.profile.step_at_most_ns()
    }

    /// Returns the quantity that the timer claims to count.
    fn claimed(&self) -> Option<Counted> {
        self.evidence().claims.counts
    }

    /// Converts ticks of the timer to nanoseconds; `None` if its tick is unknown.
    fn ticks_to_ns(&self, ticks: f64) -> Option<f64> {
        Some(ticks * self.profile.ns_per_tick?)
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
    if count == 1 {
        "once".into()
    } else {
        format!("{count} times")
    }
}

/// Formats a rate with its uncertainty, in ppm.
fn ppm(offset: f64, uncertainty: f64) -> String {
    let (offset, uncertainty) = (significant(offset, 3), significant(uncertainty, 2));
    format!("{offset} ± {uncertainty} ppm")
}

/// Returns whether a clock is `faster` or `slower` than its reference.
fn direction(offset: f64) -> &'static str {
    if offset < 0.0 { "slower" } else { "faster" }
}

/// Says by how much a clock is faster or slower than its reference, with the uncertainty, in ppm.
fn faster_by(offset: f64, uncertainty: f64) -> String {
    format!("{} {}", ppm(offset.abs(), uncertainty), direction(offset))
}

/// Formats the size of a step backwards: as a time if it is known in nanoseconds, otherwise in
/// ticks.
fn step_size(ns: Option<f64>, ticks: u64) -> String {
    ns.map_or_else(|| format!("{ticks} ticks"), time)
}

#[cfg(test)]
mod tests;
