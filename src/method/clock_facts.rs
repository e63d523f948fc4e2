//! What is known of a clock without measuring: what is declared of it, on this machine. What a
//! report found by experiment comes before that.
//!
//! Which requirements a clock does not meet, apart from precision.

use serde::{Deserialize, Serialize};

use super::requirement::{Counts, Need, Requirement};
use crate::model::{
    Counted, Family, Outcome, Path, Platform, Properties, ReadsBy, TimerRow, Verdicts,
};

/// What is known of a clock; `None` where nothing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// What it counts.
    pub counts: Option<Counts>,
    /// Whether readings of two threads can be compared.
    pub threads: Option<bool>,
    /// Whether it cannot be set back.
    pub monotonic: Option<bool>,
    /// Whether it is not slewed.
    pub no_slew: Option<bool>,
    /// Whether it goes on while the machine sleeps.
    pub suspend: Option<bool>,
    /// Whether a read waits for the work that stands before it. Where it does not, a fence has to.
    pub ordered: bool,
    /// Whether a read enters the kernel.
    pub through_kernel: bool,
}

impl Facts {
    /// Nothing known.
    pub(super) const UNKNOWN: Self = Self {
        counts: None,
        threads: None,
        monotonic: None,
        no_slew: None,
        suspend: None,
        ordered: false,
        through_kernel: false,
    };

    /// Whether the clock has what is needed; `None` when that is not known.
    #[must_use]
    pub fn meets(&self, need: Need) -> Option<bool> {
        match need {
            Need::Threads => self.threads,
            Need::Monotonic => self.monotonic,
            Need::NoSlew => self.no_slew,
            Need::Suspend => self.suspend,
        }
    }

    /// What follows from what is declared.
    #[must_use]
    pub fn from_declared<Id>(declared: &timers::Properties<Id>) -> Self {
        let counts = declared.counts.and_then(time);
        Self {
            counts,
            threads: declared.counts.and_then(across_threads),
            monotonic: declared.settable.map(|settable| !settable),
            no_slew: declared.slewed.map(|slewed| !slewed),
            suspend: declared.runs_in_suspend,
            ordered: declared.needs_fence == Some(false),
            through_kernel: declared.reads_by == Some(ReadsBy::SystemCall),
        }
    }

    /// What is known of the timer of this row of a report of this machine: what was found by
    /// experiment, else what is declared.
    #[must_use]
    pub fn of_row(row: &TimerRow, platform: &Platform) -> Self {
        let declared = declared(row);
        let facts = Self::from_declared(&declared);
        // Who calls an unknown timer of a runtime has no fence to put before it.
        let ordered = facts.ordered || (declared.needs_fence.is_none() && row.runtime != "native");
        let facts = Self { ordered, ..facts }.found(row.verdicts.as_ref());
        if declared.family == Some(Family::CpuCounter) {
            facts.of_counter(platform)
        } else {
            facts
        }
    }

    /// The same with what was found.
    fn found(self, verdicts: Option<&Verdicts>) -> Self {
        let Some(verdicts) = verdicts else {
            return self;
        };
        let counted = verdicts.counts.found.or(verdicts.counts.claimed);
        let facts = counted.map_or(self, |counted| self.counting(counted));
        let facts = match verdicts.read_path.path {
            Some(Path::UserMode) => Self {
                through_kernel: false,
                ..facts
            },
            // The hypervisor does to the core what the kernel does.
            Some(Path::SystemCall | Path::Trapped) => Self {
                through_kernel: true,
                ..facts
            },
            None => facts,
        };
        match verdicts.thread_safe.outcome {
            Outcome::Fail => Self {
                threads: Some(false),
                ..facts
            },
            Outcome::Pass => Self {
                threads: facts.threads.or(Some(true)),
                ..facts
            },
            Outcome::NotApplicable | Outcome::NotTested => facts,
        }
    }

    /// The same of a clock that counts this. What was known of one that counts something else is of
    /// no use.
    fn counting(self, counted: Counted) -> Self {
        let counts = time(counted);
        match counts {
            _ if counts == self.counts => self,
            Some(Counts::Wall) => Self {
                counts,
                ordered: self.ordered,
                ..Self::UNKNOWN
            },
            Some(_) => Self {
                counts,
                threads: across_threads(counted),
                monotonic: Some(true),
                no_slew: Some(true),
                suspend: Some(false),
                ordered: self.ordered,
                through_kernel: true,
            },
            None => Self { counts, ..self },
        }
    }

    /// The same of a counter of the CPU: only an invariant TSC keeps its rate, and agrees between
    /// CPUs.
    fn of_counter(self, platform: &Platform) -> Self {
        match platform.invariant_counter().value {
            Some(true) => self,
            Some(false) => Self {
                threads: Some(false),
                no_slew: Some(false),
                ..self
            },
            None => Self {
                threads: self.threads.filter(|safe| !safe),
                no_slew: None,
                ..self
            },
        }
    }
}

/// What it counts, if that is time.
fn time(counted: Counted) -> Option<Counts> {
    match counted {
        Counted::Wall => Some(Counts::Wall),
        Counted::ProcessCpu => Some(Counts::Process),
        Counted::ThreadCpu => Some(Counts::Thread),
        Counted::ThreadCycles | Counted::SomethingElse => None,
    }
}

/// Whether readings of two threads can be compared, as far as what it counts tells.
fn across_threads(counted: Counted) -> Option<bool> {
    match counted {
        Counted::Wall | Counted::ProcessCpu => Some(true),
        Counted::ThreadCpu | Counted::ThreadCycles => Some(false),
        Counted::SomethingElse => None,
    }
}

/// Whether the timer is declared to read the counter of the CPU.
pub(super) fn is_cpu_counter(row: &TimerRow) -> bool {
    declared(row).family == Some(Family::CpuCounter)
}

/// What is declared of the timer of this row; where the report does not say, by the timer of this
/// program that has its id. Of one that an agent hosts nothing is known then.
fn declared(row: &TimerRow) -> Properties {
    let own = || timers::find(&row.id).filter(|_| row.runtime == "native");
    row.properties
        .clone()
        .or_else(|| own().map(|entry| entry.info.properties.into_owned()))
        .unwrap_or_default()
}

/// Which requirements the clock of this row does not meet, each in one line.
pub(super) fn unmet(row: &TimerRow, facts: &Facts, requirement: &Requirement) -> Vec<String> {
    let counts = (facts.counts != Some(requirement.counts))
        .then(|| counts_otherwise(row, facts, requirement.counts));
    let needs = requirement
        .needs
        .iter()
        .filter_map(|&need| unmet_need(row, facts, need));
    let needless = requirement.settable
        || requirement.needs.contains(&Need::Monotonic)
        || facts.monotonic != Some(false);
    let steps = (!needless).then(|| {
        format!(
            "{} (--settable takes it anyway)",
            Need::Monotonic.unmet_need()
        )
    });
    counts.into_iter().chain(needs).chain(steps).collect()
}

fn counts_otherwise(row: &TimerRow, facts: &Facts, wanted: Counts) -> String {
    let wanted = wanted.in_words();
    if let Some(counts) = facts.counts {
        return format!("it counts {}, not {wanted}", counts.in_words());
    }
    let counted = row
        .verdicts
        .as_ref()
        .and_then(|verdicts| verdicts.counts.found.or(verdicts.counts.claimed));
    match counted {
        Some(counted @ (Counted::ThreadCycles | Counted::SomethingElse)) => {
            format!("it counts {}, not {wanted}", counted.in_words())
        }
        _ => "what it counts is not known, or is not time".into(),
    }
}

fn unmet_need(row: &TimerRow, facts: &Facts, need: Need) -> Option<String> {
    let counter = is_cpu_counter(row) && matches!(need, Need::Threads | Need::NoSlew);
    match (facts.meets(need), unsafe_between_threads(row)) {
        (Some(true), _) => None,
        (Some(false), Some(finding)) if need == Need::Threads => Some(finding),
        (Some(false), _) if counter => Some(
            "the TSC of this machine is not invariant: CPUs may disagree, and its rate may change"
                .into(),
        ),
        (Some(false), _) => Some(need.unmet_need().to_owned()),
        (None, _) if counter => {
            Some("whether the TSC of this machine is invariant is not known".into())
        }
        (None, _) => Some(format!("whether it meets `{}` is not known", need.word())),
    }
}

/// What was found against comparing its readings between threads.
pub(super) fn unsafe_between_threads(row: &TimerRow) -> Option<String> {
    let verdict = &row.verdicts.as_ref()?.thread_safe;
    (verdict.outcome == Outcome::Fail).then(|| crate::text::clipped(&verdict.finding, 160))
}

#[cfg(test)]
mod tests;
