//! Analyses periodic timers: their lateness, their rate, and the expirations that they missed. The
//! wake-ups of a periodic timer are due at the start and k periods; the start is known, because the
//! reference was read around the call that armed the timer. Those of a loop of relative waits are
//! due a period after the wake-up before.

use super::lateness::lateness;
use crate::model::PeriodFigures;
use crate::statistics::quantiles::median_slope;
use crate::statistics::{mean_over_processes, median};
use crate::trace::{PeriodObservations, PeriodTrace, Start};

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
    let late = lateness(trace.period_ns, &late, [step_ns + start_ns, 0.0]);
    let cpu = mean_over_processes(all.iter().filter_map(|one| one.cpu_ns));
    let [expirations, missed_reported, lost] =
        [0, 1, 2].map(|which| all.iter().map(|one| one.counts[which]).sum::<f64>());
    PeriodFigures {
        rate_error_ppm: mean_over_processes(all.iter().filter_map(|one| one.rate_error_ppm)),
        lateness: late.map(|late| late.with_cpu_time(cpu)),
        expirations: expirations as u64,
        missed_reported: missed_reported as u64,
        missed: (missed_reported + lost) as u64,
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
    /// The relative difference of the period from the requested one.
    rate_error_ppm: Option<f64>,
    /// CPU time per wake-up, in nanoseconds.
    cpu_ns: Option<f64>,
    /// Expirations with those that wake-ups report, missed ones that the timer reports, and lost ones.
    counts: [f64; 3],
}

impl Series {
    /// Analyses the wake-ups of a process; `None` if no time passed between them.
    fn new(run: &PeriodObservations, trace: &PeriodTrace) -> Option<Self> {
        let reference = &trace.reference;
        let period_ns = trace.period_ns.max(1) as f64;
        // Earlier versions then made the program late on purpose.
        let free = run.stalls.iter().min();
        let free = free.map_or(usize::MAX, |stall| *stall as usize + 1);
        let wakeups = &run.wakeups[..free.min(run.wakeups.len())];
        let [before, after] = match run.start {
            Start::Between(readings) => readings,
            Start::Relative | Start::Unknown => [wakeups.first()?.0; 2],
        };
        // The start is taken to be the middle of both readings.
        let start_ns = reference.ns(before, after) / 2.0;
        let mut expired = 0.0;
        let wakeup = |(at, count): &(i64, u64)| {
            expired += (*count).max(1) as f64;
            [expired, reference.ns(before, *at) - start_ns]
        };
        // For each wake-up the number of its due time, and its time since the start.
        let mut points: Vec<[f64; 2]> = wakeups.iter().map(wakeup).collect();
        let settled = points.len().saturating_sub(SETTLING_WAKEUPS + 1);
        let reported = points.get(settled)?[0] - (settled + 1) as f64;
        let mut lost = 0.0;
        if let Start::Between(_) = run.start {
            let passed = lost_expirations(&points, period_ns);
            lost = passed[settled];
            let points = points.iter_mut().zip(passed);
            points.for_each(|(point, passed)| point[0] += passed);
        }
        // A wake-up serves the first due time that none before it served.
        let mut due = 1.0;
        let late_ns = |[number, at_ns]: &[f64; 2]| {
            at_ns - std::mem::replace(&mut due, number + 1.0) * period_ns
        };
        let late: Vec<f64> = points.iter().map(late_ns).collect();
        let passed_ns = points[points.len() - 1][1] - points[0][1];
        (passed_ns > 0.0).then(|| Self {
            late_ns: match run.start {
                Start::Between(_) => late,
                Start::Relative => late.windows(2).map(|two| two[1] - two[0]).collect(),
                Start::Unknown => Vec::new(),
            },
            start_error_ns: start_ns.abs(),
            rate_error_ppm: median_slope(&points).map(|ns| 1e6 * (ns / period_ns - 1.0)),
            cpu_ns: run.cpu_ns.map(|ns| ns as f64 / wakeups.len() as f64),
            counts: [expired, reported, lost],
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
fn lost_expirations(points: &[[f64; 2]], period_ns: f64) -> Vec<f64> {
    let late = || {
        points
            .iter()
            .map(|[number, at_ns]| at_ns / period_ns - number)
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
