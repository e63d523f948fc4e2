//! Can a timer be trusted? Verdicts from evidence, one question a file. Pure: what is known comes
//! in as arguments.

mod nature;
mod path;
mod reference;
mod stability;
mod threads;

pub use path::{SyscallVariant, Yardsticks};

use crate::model::{Counted, Properties, Verdicts};
use crate::profile::Profile;
use crate::trace::{Evidence, Trace};

/// What the verdicts on one timer rest on.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// How findings call it.
    pub id: &'a str,
    /// What is declared of the timer.
    pub properties: &'a Properties,
    /// What was observed.
    pub trace: &'a Trace,
    /// What follows from it.
    pub profile: &'a Profile,
    /// What leaving user mode costs here, and which clock source is in use.
    pub yardsticks: &'a Yardsticks,
    /// The same clock through the system call, where that was measured.
    pub syscall_variant: Option<SyscallVariant<'a>>,
}

/// The verdicts.
#[must_use]
pub fn judge(case: &Case) -> Verdicts {
    let stable = stability::judge(case);
    Verdicts {
        monotonic: threads::within_a_thread(case),
        thread_safe: threads::between_threads(case),
        counts: nature::what_it_counts(case),
        declared: nature::against_the_declared(case, &stable),
        read_path: path::judge(case),
        paths: path::beside_others(case),
        stable,
    }
}

impl Case<'_> {
    fn evidence(&self) -> &Evidence {
        &self.trace.evidence
    }

    /// The step in nanoseconds, or what it can be at most.
    fn step_ns(&self) -> Option<f64> {
        self.profile.step_at_most_ns()
    }

    /// What it claims to count.
    fn claimed(&self) -> Option<Counted> {
        self.evidence().claims.counts
    }

    fn ns(&self, ticks: f64) -> Option<f64> {
        Some(ticks * self.profile.ns_per_tick?)
    }

    /// Why a question was not answered: that it was refused, or that the process which should have
    /// answered ended.
    fn refusal(&self, question: &str) -> Option<&str> {
        let refusals = &self.evidence().refusals;
        refusals
            .get(question)
            .or_else(|| refusals.get("process"))
            .map(String::as_str)
    }
}

/// `1 time`, `3 times`.
fn times(count: u64) -> String {
    if count == 1 {
        "once".into()
    } else {
        format!("{count} times")
    }
}

fn nanoseconds(ns: Option<f64>, ticks: u64) -> String {
    match ns {
        Some(ns) => crate::text::numbers::time(Some(ns)),
        None if ticks == 1 => "1 tick".into(),
        None => format!("{ticks} ticks"),
    }
}

#[cfg(test)]
mod tests;
