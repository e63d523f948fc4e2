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
use crate::text::numbers::{significant, time};
use crate::trace::{Evidence, Trace};

/// What the verdicts on one timer rest on.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
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
        paths: path::compare_paths(case),
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

/// `once`, `3 times`.
fn times(count: u64) -> String {
    if count == 1 {
        "once".into()
    } else {
        format!("{count} times")
    }
}

/// A time in nanoseconds, in words.
fn ns(ns: f64) -> String {
    time(Some(ns))
}

/// A rate with its uncertainty, in ppm.
fn ppm(offset: f64, uncertainty: f64) -> String {
    let (offset, uncertainty) = (significant(offset, 3), significant(uncertainty, 2));
    format!("{offset} ± {uncertainty} ppm")
}

/// How far a clock stepped back at most: in nanoseconds, where its tick is known.
fn nanoseconds(ns: Option<f64>, ticks: u64) -> String {
    ns.map_or_else(|| format!("{ticks} ticks"), self::ns)
}

#[cfg(test)]
mod tests;
