//! What a requirement means for common benchmark harnesses: which clock each reads, and whether
//! that does.
//!
//! Sources, as of their versions of 2025: criterion 0.8 `measurement.rs` (`WallTime`), divan 0.1.21
//! `time/timer.rs` and `time/timestamp/mod.rs`, google/benchmark 1.9 `src/timers.h`,
//! `src/timers.cc` and its user guide (CPU Timers), JMH 1.37 (the loops it generates call
//! `System.nanoTime`), hyperfine 1.19 `src/timer/`. On Linux `Instant`, `steady_clock` and
//! `System.nanoTime` read `CLOCK_MONOTONIC`.

use serde::Serialize;

use super::clock_facts::unmet;
use super::clock_figures::ClockFigures;
use super::plan::{Method, batch, percent, single};
use super::requirement::Requirement;
use crate::model::Report;

/// What a requirement means for one harness.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// The harness, and the mode where it has several.
    pub harness: &'static str,
    /// The call it reads the time with.
    pub reads: &'static str,
    /// The timer of the report that stands for it; null where the report has none.
    pub clock: Option<String>,
    /// Whether one call between two reads is enough; null when not known. A clock that does not
    /// meet the requirement never is.
    pub single_suffices: Option<bool>,
    /// The fewest calls between two reads with which the error is kept; null when there is no such
    /// number, or the harness makes no batches.
    pub smallest_batch: Option<u64>,
    /// What that means.
    pub message: String,
}

/// A timer of a report.
enum HarnessClock {
    /// That of this program with this id.
    Native(&'static str),
    /// That of whatever agent, which has this id there.
    Hosted(&'static str),
}

impl HarnessClock {
    fn id(&self) -> &'static str {
        let (Self::Native(id) | Self::Hosted(id)) = self;
        id
    }
}

/// What is known of a harness.
struct Harness {
    name: &'static str,
    reads: &'static str,
    /// Timers of a report that stand for its clock, the best first.
    timers: &'static [HarnessClock],
    /// What it does by itself: how many calls it makes between two reads, and how to ask for a
    /// number.
    batches: Batches,
}

enum Batches {
    /// It makes them; the text says how to set their length.
    Made(&'static str),
    /// It never does; the text says what it does instead.
    None(&'static str),
}

const HARNESSES: [Harness; 6] = [
    Harness {
        name: "criterion",
        reads: "std::time::Instant",
        timers: &[
            HarnessClock::Native("instant"),
            HarnessClock::Native("monotonic"),
        ],
        batches: Batches::Made(
            "it makes batches itself (`iter`); a longer `measurement_time` makes them longer; `iter_custom` and \
             `BatchSize::PerIteration` make single calls",
        ),
    },
    Harness {
        name: "divan",
        reads: "std::time::Instant, or the TSC with DIVAN_TIMER=tsc",
        timers: &[
            HarnessClock::Native("instant"),
            HarnessClock::Native("monotonic"),
        ],
        batches: Batches::Made(
            "it makes batches itself from the precision it finds; `sample_size` sets their length",
        ),
    },
    Harness {
        name: "google/benchmark (UseRealTime)",
        reads: "std::chrono::steady_clock",
        timers: &[
            HarnessClock::Native("monotonic"),
            HarnessClock::Native("instant"),
        ],
        batches: Batches::Made("it makes batches itself, of 0.5 s; `MinTime` sets their length"),
    },
    Harness {
        name: "google/benchmark (CPU time, the default)",
        reads: "clock_gettime(CLOCK_THREAD_CPUTIME_ID)",
        timers: &[HarnessClock::Native("thread-cputime")],
        batches: Batches::Made("it makes batches itself, of 0.5 s; `MinTime` sets their length"),
    },
    Harness {
        name: "JMH",
        reads: "System.nanoTime()",
        timers: &[
            HarnessClock::Hosted("nanoTime"),
            HarnessClock::Native("monotonic"),
        ],
        batches: Batches::Made(
            "AverageTime and Throughput make batches of one iteration (`-r`); SampleTime and SingleShotTime time single \
             calls (`-bs` makes them batches)",
        ),
    },
    Harness {
        name: "hyperfine",
        reads: "std::time::Instant",
        timers: &[
            HarnessClock::Native("instant"),
            HarnessClock::Native("monotonic"),
        ],
        batches: Batches::None(
            "it times single runs of a command, and starting a process takes a millisecond or so",
        ),
    },
];

/// What the requirement means for each harness, with the clocks of this report.
#[must_use]
pub fn advise(report: &Report, requirement: &Requirement) -> Vec<Advice> {
    HARNESSES
        .iter()
        .map(|harness| harness.advise(report, requirement))
        .collect()
}

impl Harness {
    fn advise(&self, report: &Report, requirement: &Requirement) -> Advice {
        let mut advice = Advice {
            harness: self.name,
            reads: self.reads,
            clock: None,
            single_suffices: None,
            smallest_batch: None,
            message: String::new(),
        };
        let Some(row) = self.timers.iter().find_map(|timer| {
            report.timers.iter().find(|row| match timer {
                HarnessClock::Native(id) => row.id == *id,
                HarnessClock::Hosted(id) => row.agent().is_some() && row.own_id() == *id,
            })
        }) else {
            advice.message = format!(
                "the report does not hold its clock ({})",
                self.timers
                    .iter()
                    .map(|clock| clock.id())
                    .collect::<Vec<_>>()
                    .join(" or ")
            );
            return advice;
        };
        advice.clock = Some(row.id.clone());
        let clock = match ClockFigures::from_row(row, &report.platform) {
            Ok(clock) => clock,
            Err(why) => {
                advice.message = format!("its clock is of no use here: {why}");
                return advice;
            }
        };
        let unmet = unmet(row, &clock.facts, requirement);
        if !unmet.is_empty() {
            advice.single_suffices = Some(false);
            advice.message = format!("does not suffice: {}", unmet.join("; "));
            return advice;
        }
        // How a harness samples does not depend on who calls the operation.
        let requirement = Requirement {
            rate_hz: None,
            ..requirement.clone()
        };
        advice.single_suffices = Some(single(&clock, &requirement).is_ok());
        let calls = match batch(&clock, &requirement).map(|plan| plan.method) {
            Ok(Method::Batch { calls }) => Some(calls),
            Ok(_) => Some(1),
            Err(_) => None,
        };
        advice.message = match (&self.batches, calls, advice.single_suffices) {
            (Batches::None(how), _, Some(true)) => format!("suffices for single calls; {how}"),
            (Batches::None(how), ..) => {
                format!(
                    "does not suffice: single calls miss {}; {how}",
                    percent(requirement.error)
                )
            }
            (Batches::Made(_), _, Some(true)) => "suffices even for single calls".into(),
            (Batches::Made(how), Some(calls), _) => {
                format!("suffices in batches of {calls} calls or more; {how}")
            }
            (Batches::Made(_), None, _) => {
                format!("does not suffice for {}", percent(requirement.error))
            }
        };
        advice.smallest_batch = calls.filter(|_| matches!(self.batches, Batches::Made(_)));
        advice
    }
}
