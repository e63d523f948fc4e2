//! Analyses periodic timers: their lateness, their rate, and the expirations that they missed. The
//! wake-ups of a periodic timer are due at the start and k periods; the start is known, because the
//! reference was read around the call that armed the timer. Those of a loop of relative waits are
//! due a period after the wake-up before.

use super::lateness::lateness;
use crate::model::PeriodFigures;
use crate::statistics::quantiles::median_slope;
use crate::statistics::{mean_over_processes, median};
use crate::trace::{PeriodRun, PeriodTrace, Start};

/// The number of wake-ups at the end of a process that show no missed expirations, because later
/// wake-ups may make up for a late one. *Judgement*: a delay of 3.5 periods is made up for by three
/// wake-ups.
pub const SETTLING_WAKEUPS: usize = 5;

/// The largest error of the start of a timer in a process whose lateness counts, as a multiple of the
/// median error of all processes. *Judgement*: an interruption takes far longer than a call.
const MAX_START_ERROR_RATIO: f64 = 3.0;

/// Computes all results for a periodic timer.
pub fn figures(trace: &PeriodTrace) -> PeriodFigures {
    let runs = trace.runs.iter();
    let all: Vec<Series> = runs.filter_map(|run| Series::new(run, trace)).collect();
    let step_ns = trace.reference.uncertainty_ns();
    let start_ns = median(all.iter().map(|one| one.start_error_ns)).unwrap_or(0.0);
    // A process that was interrupted while it started the timer does not know when wake-ups were due.
    let most_ns = MAX_START_ERROR_RATIO * start_ns.max(step_ns);
    let known = all.iter().filter(|one| one.start_error_ns <= most_ns);
    let late: Vec<Vec<f64>> = known.map(|one| one.late_ns.clone()).collect();
    let longest_ns = all.iter().map(|one| one.length_ns).fold(0.0, f64::max);
    let errors_ns = [
        step_ns + start_ns,
        trace.reference.rate_uncertainty * longest_ns,
    ];
    let cpu = mean_over_processes(all.iter().filter_map(|one| one.cpu_ns));
    let sum = |count: fn(&Series) -> f64| all.iter().map(count).sum::<f64>() as u64;
    PeriodFigures {
        rate_error_ppm: mean_over_processes(all.iter().filter_map(|one| one.rate_error_ppm)),
        lateness: lateness(trace.period_ns, &late, errors_ns).map(|late| late.with_cpu_time(cpu)),
        expirations: sum(|one| one.expirations),
        missed_reported: sum(|one| one.missed_reported),
        missed: sum(|one| one.missed_reported + one.lost),
        is_loop: trace.runs.iter().any(|run| run.start == Start::Relative),
        processes: trace.runs.len() as u32,
    }
}

/// What the wake-ups of one process show.
struct Series {
    /// How late each wake-up is, in nanoseconds; empty if it is unknown when it was due.
    late_ns: Vec<f64>,
    /// The largest error of the start, in nanoseconds.
    start_error_ns: f64,
    /// The time from the first wake-up to the last, in nanoseconds.
    length_ns: f64,
    /// The relative difference of the period from the requested one.
    rate_error_ppm: Option<f64>,
    /// CPU time per wake-up, in nanoseconds.
    cpu_ns: Option<f64>,
    /// Expirations, those that wake-ups report included.
    expirations: f64,
    /// Missed expirations that the timer reports, and those that it loses.
    missed_reported: f64,
    lost: f64,
}

impl Series {
    /// Analyses the wake-ups of a process; `None` if no time passed between them.
    fn new(run: &PeriodRun, trace: &PeriodTrace) -> Option<Self> {
        let reference = &trace.reference;
        let period_ns = trace.period_ns.max(1) as f64;
        // Earlier versions then made the program late on purpose.
        let free = run
            .stalls
            .iter()
            .min()
            .map_or(usize::MAX, |stall| *stall as usize + 1);
        let wakeups = &run.wakeups[..free.min(run.wakeups.len())];
        let first = wakeups.first()?.0;
        let [before, after] = match run.start {
            Start::Between(readings) => readings,
            Start::Relative | Start::Unknown => [first; 2],
        };
        // The start is taken to be the middle of both readings.
        let start_ns = reference.ns(before, after) / 2.0;
        let at_ns = wakeups
            .iter()
            .map(|(at, _)| reference.ns(before, *at) - start_ns);
        let at_ns: Vec<f64> = at_ns.collect();
        let length_ns = at_ns[at_ns.len() - 1] - at_ns[0];
        let counts = wakeups.iter().map(|(_, count)| (*count).max(1) as f64);
        let expired = counts.scan(0.0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        let expired: Vec<f64> = expired.collect();
        let lost = match run.start {
            Start::Between(_) => lost_expirations(&at_ns, &expired, period_ns),
            Start::Relative | Start::Unknown => vec![0.0; at_ns.len()],
        };
        let due = expired
            .iter()
            .zip(&lost)
            .map(|(expired, lost)| (expired + lost) * period_ns);
        let points: Vec<[f64; 2]> = due.zip(&at_ns).map(|(due, at)| [due, *at]).collect();
        let settled = at_ns.len().checked_sub(SETTLING_WAKEUPS + 1);
        let late_ns = match run.start {
            Start::Between(_) => points.iter().map(|[due, at]| at - due).collect(),
            Start::Relative => points
                .windows(2)
                .map(|two| two[1][1] - two[0][1] - (two[1][0] - two[0][0]))
                .collect(),
            Start::Unknown => Vec::new(),
        };
        (length_ns > 0.0).then(|| Self {
            late_ns,
            start_error_ns: start_ns.abs(),
            length_ns,
            rate_error_ppm: median_slope(&points).map(|slope| 1e6 * (slope - 1.0)),
            cpu_ns: run.cpu_ns.map(|ns| ns as f64 / run.wakeups.len() as f64),
            expirations: expired[expired.len() - 1],
            missed_reported: settled.map_or(0.0, |at| expired[at] - (at + 1) as f64),
            lost: settled.map_or(0.0, |at| lost[at]),
        })
    }
}

/// How much each wake-up moves the phase of the timer. *Numerical*: enough for a timer that drifts by
/// 0.3 %, too little for a jitter of a third of the period to move the phase by a period.
const PHASE_SHARE: f64 = 1.0 / 32.0;

/// The number of wake-ups whose median lateness is the phase at first. *Numerical*.
const FIRST_WAKEUPS: usize = 32;

/// Returns the number of expirations that passed without a wake-up, up to each wake-up. The phase of
/// the timer follows its wake-ups, because its period may differ from the requested one. An
/// expiration has passed if all later wake-ups are late by a period: otherwise the timer makes up
/// for the late wake-up.
fn lost_expirations(at_ns: &[f64], expired: &[f64], period_ns: f64) -> Vec<f64> {
    let late = || {
        at_ns
            .iter()
            .zip(expired)
            .map(|(at, expired)| at / period_ns - expired)
    };
    let mut phase = median(late().take(FIRST_WAKEUPS)).unwrap_or(0.0);
    let passed = late().map(|late| {
        let passed = (late - phase).round();
        phase += PHASE_SHARE * (late - phase - passed);
        passed
    });
    let mut passed: Vec<f64> = passed.collect();
    for at in (1..passed.len()).rev() {
        passed[at - 1] = passed[at - 1].min(passed[at]);
    }
    let before = passed[0];
    passed.iter().map(|passed| passed - before).collect()
}

#[cfg(test)]
mod tests;
