//! What is known of a clock without measuring: what it counts, and what may happen to it.
//!
//! Sources: `clock_gettime(2)`, `adjtimex(2)`, `getrusage(2)`, `times(2)`, `perf_event_open(2)`, and the first lines of
//! each file of `timers/`. Of the clocks of other runtimes only those are known whose documentation says what lies
//! beneath.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// What passes while a clock moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Counts {
    /// Time on the wall, whoever computes
    #[default]
    Wall,
    /// CPU time of the process, all threads together
    Process,
    /// CPU time of the calling thread
    Thread,
}

impl Counts {
    /// In words.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Wall => "wall time",
            Self::Process => "CPU time of the process",
            Self::Thread => "CPU time of the thread",
        }
    }
}

/// What a clock may have to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// Readings of two threads can be compared
    Threads,
    /// Nobody sets it, so it never steps back
    Monotonic,
    /// Nobody slews its rate (NTP)
    NoSlew,
    /// It goes on while the machine sleeps
    Suspend,
}

impl Need {
    /// What a clock lacks that does not have this.
    #[must_use]
    pub fn lack(self) -> &'static str {
        match self {
            Self::Threads => "readings of two threads cannot be compared",
            Self::Monotonic => "it can be set, and then steps",
            Self::NoSlew => "its rate is slewed (adjtimex), so that seconds differ in length",
            Self::Suspend => "it stands still while the machine sleeps",
        }
    }

    /// The word on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Monotonic => "monotonic",
            Self::NoSlew => "no-slew",
            Self::Suspend => "suspend",
        }
    }
}

/// What is known of a clock; `None` where nothing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// What it counts.
    pub counts: Option<Counts>,
    /// Whether readings of two threads can be compared.
    pub threads: Option<bool>,
    /// Whether nobody can set it back.
    pub monotonic: Option<bool>,
    /// Whether nobody slews it.
    pub no_slew: Option<bool>,
    /// Whether it goes on while the machine sleeps.
    pub suspend: Option<bool>,
    /// Whether a read waits for the work that stands before it. Where it does not, a fence has to.
    pub ordered: bool,
}

impl Facts {
    /// Nothing known.
    const UNKNOWN: Self =
        Self { counts: None, threads: None, monotonic: None, no_slew: None, suspend: None, ordered: false };

    const fn wall(monotonic: bool, no_slew: bool, suspend: Option<bool>, ordered: bool) -> Self {
        Self {
            counts: Some(Counts::Wall),
            threads: Some(true),
            monotonic: Some(monotonic),
            no_slew: Some(no_slew),
            suspend,
            ordered,
        }
    }

    const fn cpu(counts: Counts) -> Self {
        let threads = Some(matches!(counts, Counts::Process));
        Self {
            counts: Some(counts),
            threads,
            monotonic: Some(true),
            no_slew: Some(true),
            suspend: Some(false),
            ordered: true,
        }
    }

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

    /// What is known of the timer of this id, `NAME:ID` for one of another runtime.
    #[must_use]
    pub fn of(id: &str) -> Self {
        match id.split_once(':') {
            Some((_, timer)) => hosted(timer),
            None => native(id.strip_suffix("-syscall").unwrap_or(id)),
        }
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
        "times" => Facts::wall(true, false, Some(false), true),
        "process-cputime" | "clock" | "getrusage-self" => Facts::cpu(Counts::Process),
        "thread-cputime" | "getrusage-thread" | "perf-task-clock" => Facts::cpu(Counts::Thread),
        // Cycles of the thread, not time: their length changes with the frequency of the core.
        "perf-cycles" | "rdpmc-cycles" => Facts { counts: None, ..Facts::cpu(Counts::Thread) },
        _ => Facts::UNKNOWN,
    }
}

/// Of the timers of other runtimes, by the names their documentation uses.
fn hosted(id: &str) -> Facts {
    let id = id.to_ascii_lowercase().replace(['_', '-', '.'], "");
    let is = |words: &[&str]| words.iter().any(|word| id.contains(word));
    if is(&["threadtime", "threadcpu"]) {
        Facts::cpu(Counts::Thread)
    } else if is(&["processtime", "cputime", "cpuusage", "processcpu"]) {
        Facts::cpu(Counts::Process)
    } else if is(&["nanotime", "perfcounter", "monotonic", "hrtime", "performancenow", "stopwatch"]) {
        Facts::wall(true, false, Some(false), true)
    } else if is(&["currenttimemillis", "datenow", "datetime", "utcnow", "systemtime"])
        || id == "time"
        || id == "timens"
    {
        Facts::wall(false, false, Some(true), true)
    } else {
        Facts::UNKNOWN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_native_timer_is_known() {
        for entry in timers::catalogue() {
            let facts = Facts::of(entry.info.id);
            assert!(facts.threads.is_some(), "nothing is known of {}", entry.info.id);
        }
    }

    #[test]
    fn facts_that_decide() {
        assert_eq!(Facts::of("boottime").meets(Need::Suspend), Some(true));
        assert_eq!(Facts::of("monotonic-syscall").meets(Need::NoSlew), Some(false));
        assert_eq!(Facts::of("monotonic-raw").meets(Need::NoSlew), Some(true));
        assert_eq!(Facts::of("realtime").meets(Need::Monotonic), Some(false));
        assert_eq!(Facts::of("thread-cputime").meets(Need::Threads), Some(false));
        assert_eq!(Facts::of("java:nanoTime").meets(Need::Monotonic), Some(true));
        assert_eq!(Facts::of("java:currentTimeMillis").meets(Need::Monotonic), Some(false));
        assert_eq!(Facts::of("cpython:time.thread_time_ns").counts, Some(Counts::Thread));
        assert_eq!(Facts::of("x:sundial").meets(Need::Threads), None);
    }
}
