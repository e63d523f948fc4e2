//! Derives the properties of a clock, such as whether it can be set, and lists what forbids to pick
//! it. Properties found by experiment take precedence over declared ones.

use serde::{Deserialize, Serialize};

use crate::model::{Counted, Family, Path, Platform, Properties, ReadsBy, TimerRow, Verdicts};

/// Properties of a clock; `None` means unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The quantity that the clock counts.
    pub counts: Option<Counted>,
    /// Whether readings of two threads can be compared.
    pub threads: Option<bool>,
    /// Whether the clock cannot be set back.
    pub monotonic: Option<bool>,
    /// Whether the rate of the clock is not slewed.
    pub no_slew: Option<bool>,
    /// Whether a read waits for all earlier instructions. If not, it needs a fence.
    pub ordered: bool,
    /// Whether a read enters the kernel or the hypervisor.
    pub through_kernel: bool,
}

impl Facts {
    /// Derives the facts from the declared properties of a timer.
    pub fn from_declared<Id>(declared: &timers::Properties<Id>) -> Self {
        Self {
            counts: declared.counts,
            threads: declared.counts.map(|counted| !counted.is_per_thread()),
            monotonic: declared.settable.map(|settable| !settable),
            no_slew: declared.slewed.map(|slewed| !slewed),
            ordered: declared.needs_fence == Some(false),
            through_kernel: declared.reads_by == Some(ReadsBy::SystemCall),
        }
    }

    /// Derives the facts from the row of a clock in a report of this machine.
    pub fn from_row(row: &TimerRow, platform: &Platform) -> Self {
        let declared = declared_properties(row);
        let mut facts = Self::from_declared(&declared);
        // Users of a runtime cannot put a fence before a read, so none is required of its timers.
        facts.ordered |= declared.needs_fence.is_none() && row.runtime != "native";
        if let Some(verdicts) = &row.verdicts {
            facts.apply_verdicts(verdicts);
        }
        // Only invariant counters have a constant rate and agree between CPUs.
        let invariant = platform.invariant_counter().value;
        if is_cpu_counter(row) && invariant != Some(true) {
            facts.threads = invariant.or(facts.threads.filter(|safe| !safe));
            facts.no_slew = invariant;
        }
        facts
    }

    /// Replaces declared properties by those found by experiment.
    fn apply_verdicts(&mut self, verdicts: &Verdicts) {
        if let Some(counted) = verdicts.counts.found.or(verdicts.counts.claimed) {
            *self = self.with_counted(counted);
        }
        if let Some(path) = verdicts.read_path.path {
            // A trap to the hypervisor affects the core like a system call.
            self.through_kernel = path != Path::UserMode;
        }
        match verdicts.thread_safe.same_on_all_cpus() {
            Some(true) => self.threads = self.threads.or(Some(true)),
            Some(false) => self.threads = Some(false),
            None => {}
        }
    }

    /// These facts for a clock that counts `counted`. If that differs from the declared quantity,
    /// the declared properties that depend on it are replaced.
    fn with_counted(self, counted: Counted) -> Self {
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
                threads: Some(!counted.is_per_thread()),
                monotonic: Some(true),
                no_slew: Some(true),
                ordered: self.ordered,
                through_kernel: true,
            },
            Counted::ThreadCycles | Counted::SomethingElse => Self { counts, ..self },
        }
    }
}

/// The declared properties of the timer of this row. If the report lacks them, those of the native
/// timer with the same id are used; for timers of agents they are then unknown.
fn declared_properties(row: &TimerRow) -> Properties {
    let own = || timers::find(&row.id).filter(|_| row.runtime == "native");
    row.properties
        .clone()
        .or_else(|| own().map(|entry| entry.info.properties.into_owned()))
        .unwrap_or_default()
}

/// Whether it is the counter of a CPU, which the facts about the platform describe.
pub fn is_cpu_counter(row: &TimerRow) -> bool {
    let family = declared_properties(row).family;
    family == Some(Family::CpuCounter) && row.device.is_none()
}

/// What forbids to pick the clock of this row, each as one line of text.
pub(super) fn list_unmet(facts: &Facts) -> Vec<String> {
    let mut unmet = Vec::new();
    if facts.counts != Some(Counted::Wall) {
        unmet.push(format!(
            "it counts {}, not {}",
            facts.counts.map_or("what is unknown", Counted::in_words),
            Counted::Wall.in_words()
        ));
    }
    if facts.monotonic == Some(false) {
        unmet.push("wall-clock time can jump, which would corrupt a duration".to_owned());
    }
    unmet
}

#[cfg(test)]
mod tests;
