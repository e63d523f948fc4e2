//! What is known of a clock besides its figures, and which requirements it does not meet.
//!
//! What a report found by experiment comes before what is declared of the clock.

use serde::{Deserialize, Serialize};

use super::requirement::{Need, Requirement};
use crate::model::{
    Counted, Family, Outcome, Path, Platform, Properties, ReadsBy, TimerRow, Verdicts,
};

/// What is known of a clock; `None` where it is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// What it counts.
    pub counts: Option<Counted>,
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
    /// Whether the clock has what is needed; `None` when that is unknown.
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
        Self {
            counts: declared.counts,
            threads: declared.counts.map(|counted| !counted.one_thread()),
            monotonic: declared.settable.map(|settable| !settable),
            no_slew: declared.slewed.map(|slewed| !slewed),
            suspend: declared.runs_in_suspend,
            ordered: declared.needs_fence == Some(false),
            through_kernel: declared.reads_by == Some(ReadsBy::SystemCall),
        }
    }

    /// What is known of the timer of this row of a report of this machine.
    #[must_use]
    pub fn from_row(row: &TimerRow, platform: &Platform) -> Self {
        let declared = declared(row);
        let mut facts = Self::from_declared(&declared);
        // Who calls an unknown timer of a runtime has no fence to put before it.
        facts.ordered |= declared.needs_fence.is_none() && row.runtime != "native";
        if let Some(verdicts) = &row.verdicts {
            facts.correct(verdicts);
        }
        // Only an invariant counter keeps its rate, and agrees between CPUs.
        let invariant = platform.invariant_counter().value;
        if declared.family == Some(Family::CpuCounter) && invariant != Some(true) {
            facts.threads = invariant.or(facts.threads.filter(|safe| !safe));
            facts.no_slew = invariant;
        }
        facts
    }

    /// Replaces what was declared by what was found.
    fn correct(&mut self, verdicts: &Verdicts) {
        if let Some(counted) = verdicts.counts.found.or(verdicts.counts.claimed) {
            *self = self.counting(counted);
        }
        if let Some(path) = verdicts.read_path.path {
            // The hypervisor does to the core what the kernel does.
            self.through_kernel = path != Path::UserMode;
        }
        match verdicts.thread_safe.outcome {
            Outcome::Fail => self.threads = Some(false),
            Outcome::Pass => self.threads = self.threads.or(Some(true)),
            Outcome::NotApplicable | Outcome::NotTested => {}
        }
    }

    /// The same of a clock that counts this. What was known of one that counts something else is of
    /// no use.
    fn counting(self, counted: Counted) -> Self {
        let counts = Some(counted);
        match counted {
            _ if counts == self.counts => self,
            Counted::Wall => Self {
                counts,
                ordered: self.ordered,
                ..Self::default()
            },
            Counted::ProcessCpu | Counted::ThreadCpu => Self {
                counts,
                threads: Some(!counted.one_thread()),
                monotonic: Some(true),
                no_slew: Some(true),
                suspend: Some(false),
                ordered: self.ordered,
                through_kernel: true,
            },
            Counted::ThreadCycles | Counted::SomethingElse => Self { counts, ..self },
        }
    }
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
    let mut unmet = Vec::new();
    if facts.counts != Some(requirement.counts) {
        unmet.push(format!(
            "it counts {}, not {}",
            facts.counts.map_or("what is unknown", Counted::in_words),
            requirement.counts.in_words()
        ));
    }
    let counter = declared(row).family == Some(Family::CpuCounter);
    for &need in &requirement.needs {
        let lack = match facts.meets(need) {
            Some(true) => continue,
            Some(false) => need.lack().to_owned(),
            None => format!("whether it meets `{}` is not known", need.word()),
        };
        unmet.push(match thread_fault(row) {
            Some(found) if need == Need::Threads => found.to_owned(),
            _ if counter && matches!(need, Need::Threads | Need::NoSlew) => {
                format!("{lack}: the counter is not invariant")
            }
            _ => lack,
        });
    }
    let asked = requirement.settable || requirement.needs.contains(&Need::Monotonic);
    if facts.monotonic == Some(false) && !asked {
        unmet.push(format!(
            "{} (--settable takes it anyway)",
            Need::Monotonic.lack()
        ));
    }
    unmet
}

/// What was found against comparing its readings between threads.
pub(super) fn thread_fault(row: &TimerRow) -> Option<&str> {
    let verdict = &row.verdicts.as_ref()?.thread_safe;
    (verdict.outcome == Outcome::Fail).then_some(verdict.finding.as_str())
}

#[cfg(test)]
mod tests;
