//! What is known of a clock without measuring: what it counts, and what may happen to it.
//!
//! Sources: `clock_gettime(2)`, `adjtimex(2)`, `getrusage(2)`, `times(2)`, `perf_event_open(2)`, and the first lines of
//! each file of `timers/`. Of the clocks of other runtimes only those are known whose documentation says what lies
//! beneath. What a report found by experiment comes before all that.

use super::hosted::hosted;
use super::properties::{Counts, Facts};
use crate::model::{Counted, Outcome, Path, Platform, TimerRow, Verdicts};

impl Facts {
    /// What is known of the timer of this id, `NAME:ID` for one of another runtime.
    #[must_use]
    pub fn of(id: &str) -> Self {
        match id.split_once(':') {
            Some((_, timer)) => hosted(timer).unwrap_or(Self::HOSTED),
            None => match id.strip_suffix("-syscall") {
                Some(clock) => Self { through_kernel: true, ..native(clock) },
                None => native(id),
            },
        }
    }

    /// What is known of the timer of this row of a report of this machine: what was found by experiment, else what it claims,
    /// else what its name says.
    #[must_use]
    pub fn of_row(row: &TimerRow, platform: &Platform) -> Self {
        if row.runtime == "native" {
            let facts = Self::of(&row.id).found(row.verdicts.as_ref());
            return if is_tsc(&row.id) { facts.of_tsc(platform) } else { facts };
        }
        let timer = row.id.split_once(':').map_or(row.id.as_str(), |(_, timer)| timer);
        let named = hosted(timer).or_else(|| hosted(&row.label)).unwrap_or(Self::HOSTED);
        // What lies beneath is known of Linux.
        let elsewhere = !matches!(platform.os.family.as_str(), "" | "linux");
        let unsure = elsewhere && named.counts == Some(Counts::Wall) && named.monotonic == Some(true);
        let named = if unsure { Self { no_slew: None, suspend: None, ..named } } else { named };
        named.found(row.verdicts.as_ref())
    }

    /// A call of a runtime of which nothing is known. Its callers have no fence to put before it.
    const HOSTED: Self = Self { ordered: true, ..Self::UNKNOWN };

    /// The same with what was found.
    fn found(self, verdicts: Option<&Verdicts>) -> Self {
        let Some(verdicts) = verdicts else { return self };
        let counted = verdicts.counts.found.or(verdicts.counts.claimed);
        let facts = counted.map_or(self, |counted| self.counting(counted));
        let facts = match verdicts.read_path.path {
            Some(Path::UserMode) => Self { through_kernel: false, ..facts },
            // The hypervisor does to the core what the kernel does.
            Some(Path::SystemCall | Path::Trapped) => Self { through_kernel: true, ..facts },
            None => facts,
        };
        match verdicts.thread_safe.outcome {
            Outcome::Fail => Self { threads: Some(false), ..facts },
            Outcome::Pass => Self { threads: facts.threads.or(Some(true)), ..facts },
            Outcome::NotApplicable | Outcome::NotTested => facts,
        }
    }

    /// The same of a clock that counts this. What was known of one that counts something else is of no use.
    fn counting(self, counted: Counted) -> Self {
        let counts = match counted {
            Counted::Wall => Some(Counts::Wall),
            Counted::ProcessCpu => Some(Counts::Process),
            Counted::ThreadCpu => Some(Counts::Thread),
            Counted::ThreadCycles | Counted::SomethingElse => None,
        };
        match counts {
            _ if counts == self.counts => self,
            Some(Counts::Wall) => Self { counts, ordered: self.ordered, ..Self::UNKNOWN },
            Some(cpu) => Self { ordered: self.ordered, ..Self::cpu(cpu) },
            None => Self { counts, ..self },
        }
    }

    /// The same of a time stamp counter: only an invariant one keeps its rate, and agrees between CPUs.
    fn of_tsc(self, platform: &Platform) -> Self {
        match invariant_tsc(platform) {
            Some(true) => self,
            Some(false) => Self { threads: Some(false), no_slew: Some(false), ..self },
            None => Self { threads: self.threads.filter(|safe| !safe), no_slew: None, ..self },
        }
    }
}

/// Whether the native timer of this id reads the time stamp counter of x86 where there is one.
pub(super) fn is_tsc(id: &str) -> bool {
    matches!(id, "rdtsc" | "rdtsc-lfence" | "rdtscp" | "quanta" | "quanta-raw")
}

/// Whether the counter has one rate in all states of the machine. Those of other architectures do.
fn invariant_tsc(platform: &Platform) -> Option<bool> {
    let both = || Some(platform.tsc.constant? && platform.tsc.nonstop?);
    match platform.cpu.architecture.as_str() {
        "x86_64" | "x86" | "" => platform.cpu.invariant_tsc.or_else(both),
        _ => Some(true),
    }
}

/// Of native timers.
fn native(id: &str) -> Facts {
    match id {
        // Whether a counter survives a sleep depends on the CPU and the firmware.
        "rdtsc" | "quanta" | "quanta-raw" => Facts::wall(true, true, None, false),
        "rdtsc-lfence" | "rdtscp" => Facts::wall(true, true, None, true),
        "monotonic" | "instant" => Facts::wall(true, false, Some(false), true),
        "monotonic-raw" => Facts::wall(true, true, Some(false), true),
        // Plain loads of what the tick left behind.
        "monotonic-coarse" => Facts::wall(true, false, Some(false), false),
        "realtime-coarse" | "time" => Facts::wall(false, false, Some(true), false),
        "boottime" => Facts::wall(true, false, Some(true), true),
        "realtime" | "tai" | "gettimeofday" | "system-time" => Facts::wall(false, false, Some(true), true),
        // Elapsed time in the return value; Linux counts it from boot without the sleep.
        "times" => Facts { through_kernel: true, ..Facts::wall(true, false, Some(false), true) },
        "process-cputime" | "clock" | "getrusage-self" => Facts::cpu(Counts::Process),
        "thread-cputime" | "getrusage-thread" | "perf-task-clock" => Facts::cpu(Counts::Thread),
        // Cycles of the thread, not time: their length changes with the frequency of the core.
        "perf-cycles" | "rdpmc-cycles" => Facts { counts: None, ..Facts::cpu(Counts::Thread) },
        _ => Facts::UNKNOWN,
    }
}

#[cfg(test)]
mod tests;
