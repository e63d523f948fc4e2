//! Analyses periodic timers: their lateness, their rate, their jitter, and the expirations that they
//! missed. A periodic timer is a wait whose due times are start + k · period: the start is known,
//! because the reference was read around the call that armed the timer.

use crate::model::{Interval, PeriodFigures};
use crate::statistics::phasors::Complex;
use crate::statistics::quantiles::{
    consistent_quantiles, median_over_processes, quantile_over_processes,
};
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
    let mut found = PeriodFigures {
        processes: trace.runs.len() as u32,
        is_loop: trace.runs.iter().any(|run| run.start == Start::Relative),
        ..PeriodFigures::default()
    };
    for (_, count) in trace.runs.iter().flat_map(|run| &run.wakeups) {
        found.expirations = found.expirations.saturating_add(*count.max(&1));
        found.wakeups += 1;
    }
    let series: Vec<Series> = trace
        .runs
        .iter()
        .flat_map(|run| Series::of_run(run, trace))
        .filter(Series::advances)
        .collect();
    found.rate_error_ppm = mean_over_processes(series.iter().filter_map(Series::rate_error_ppm));
    let jitter: Vec<Vec<f64>> = series.iter().map(Series::jitter_ns).collect();
    found.jitter_p50_ns = median_over_processes(&jitter);
    // A late wake-up changes two intervals.
    found.jitter_p99_ns = quantile_over_processes(&jitter, 0.99, 2.0);
    let start_error_ns = median(series.iter().map(|one| one.start_error_ns)).unwrap_or(0.0);
    let reading_error_ns = trace.reference.uncertainty_ns();
    // A process that was interrupted while it started the timer does not know when wake-ups were due.
    let most_ns = MAX_START_ERROR_RATIO * start_error_ns.max(reading_error_ns);
    let known = series.iter().filter(|one| one.start_error_ns <= most_ns);
    let late: Vec<Vec<f64>> = known.map(|one| one.late_ns.clone()).collect();
    let evident = |late: Interval| late.unless_chance(reading_error_ns);
    let max = late.iter().flatten().copied().reduce(f64::max);
    found.max_ns = max.map(|max| evident(Interval::exact(max)).value);
    let quantiles = [
        median_over_processes(&late),
        quantile_over_processes(&late, 0.99, 1.0),
    ];
    [found.lateness_p50_ns, found.lateness_p99_ns] = consistent_quantiles(
        quantiles.map(|late| late.map(|late| evident(late).widened_by(start_error_ns))),
        found.max_ns.unwrap_or(0.0),
    );
    for one in &series {
        let [reported, lost] = one.missed();
        found.missed_reported = found.missed_reported.saturating_add(reported);
        found.lost = found.lost.saturating_add(lost);
    }
    found.missed = found.missed_reported.saturating_add(found.lost);
    found
}

/// Successive wake-ups of one process, in nanoseconds.
struct Series {
    period_ns: f64,
    /// The time of each wake-up since the start, or since the first wake-up.
    at_ns: Vec<f64>,
    /// The number of expirations up to each wake-up, those that it reports included.
    expired: Vec<f64>,
    /// The number of expirations without a wake-up or a report up to each wake-up.
    lost: Vec<f64>,
    /// How late each wake-up is; empty if it is unknown when it was due.
    late_ns: Vec<f64>,
    /// The largest error of the start.
    start_error_ns: f64,
    /// Whether it is known when the timer was started: only then an expiration is known to be lost.
    is_start_known: bool,
}

impl Series {
    /// Returns the series of a process: one, or those between the stalls of an earlier version.
    fn of_run(run: &PeriodRun, trace: &PeriodTrace) -> Vec<Self> {
        let mut stalls: Vec<usize> = run.stalls.iter().map(|stall| *stall as usize + 1).collect();
        stalls.sort_unstable();
        let mut from = 0;
        let mut all = Vec::new();
        for end in stalls.into_iter().chain([run.wakeups.len()]) {
            if let Some(wakeups) = run.wakeups.get(from..end) {
                all.push(Self::of_wakeups(wakeups, run.start, trace));
            }
            from = end.saturating_add(SETTLING_WAKEUPS);
        }
        all
    }

    fn of_wakeups(wakeups: &[(i64, u64)], start: Start, trace: &PeriodTrace) -> Self {
        let reference = &trace.reference;
        let period_ns = trace.period_ns.max(1) as f64;
        let [armed, after] = match (start, wakeups.first()) {
            (Start::Between(bracket), _) => bracket,
            (_, first) => [first.map_or(0, |first| first.0); 2],
        };
        // The start is taken to be the middle of both readings.
        let half_ns = reference.ns(armed, after) / 2.0;
        let since_start = |(at, _): &(i64, u64)| reference.ns(armed, *at) - half_ns;
        let at_ns: Vec<f64> = wakeups.iter().map(since_start).collect();
        let counts = wakeups.iter().map(|(_, count)| (*count).max(1) as f64);
        let expired: Vec<f64> = counts
            .scan(0.0, |sum, count| {
                *sum += count;
                Some(*sum)
            })
            .collect();
        // A loop starts a new period with each wake-up, so that no due time passes.
        let keeps_its_schedule = match start {
            Start::Relative => false,
            Start::Between(_) => true,
            Start::Unknown => is_on_time(&at_ns, period_ns),
        };
        let lost = if keeps_its_schedule {
            passed_expirations(&at_ns, &expired, period_ns)
        } else {
            vec![0.0; at_ns.len()]
        };
        let due_ns = |at: usize| (expired[at] + lost[at]) * period_ns;
        let late_ns = match start {
            Start::Relative => (1..at_ns.len())
                .map(|at| at_ns[at] - at_ns[at - 1] - (due_ns(at) - due_ns(at - 1)))
                .collect(),
            Start::Between(_) => (0..at_ns.len()).map(|at| at_ns[at] - due_ns(at)).collect(),
            Start::Unknown => Vec::new(),
        };
        Self {
            period_ns,
            at_ns,
            expired,
            lost,
            late_ns,
            start_error_ns: half_ns.abs(),
            is_start_known: start != Start::Unknown,
        }
    }

    /// Whether time passed between the first and the last wake-up.
    fn advances(&self) -> bool {
        (self.at_ns.first().zip(self.at_ns.last())).is_some_and(|(first, last)| last > first)
    }

    /// The number of expirations up to a wake-up, those that were lost included.
    fn number(&self, at: usize) -> f64 {
        self.expired[at] + self.lost[at]
    }

    /// The relative difference of the period from the requested one: the median slope of the line
    /// through wake-ups that are half of the series apart.
    fn rate_error_ppm(&self) -> Option<f64> {
        let half = self.at_ns.len() / 2;
        let slopes = (half..self.at_ns.len()).filter_map(|to| {
            let from = to - half;
            let periods = self.number(to) - self.number(from);
            (periods > 0.0).then(|| (self.at_ns[to] - self.at_ns[from]) / periods)
        });
        median(slopes).map(|period| 1e6 * (period / self.period_ns - 1.0))
    }

    /// The differences between the intervals and the requested time between their expirations.
    fn jitter_ns(&self) -> Vec<f64> {
        let deviation = |at: usize| {
            let requested = (self.number(at) - self.number(at - 1)) * self.period_ns;
            (self.at_ns[at] - self.at_ns[at - 1] - requested).abs()
        };
        (1..self.at_ns.len()).map(deviation).collect()
    }

    /// The number of missed expirations that the timer reports, and of those that it loses.
    fn missed(&self) -> [u64; 2] {
        let Some(last) = self.at_ns.len().checked_sub(SETTLING_WAKEUPS + 1) else {
            return [0; 2];
        };
        let reported = self.expired[last] - (last + 1) as f64;
        let lost = if self.is_start_known {
            self.lost[last]
        } else {
            0.0
        };
        [reported, lost].map(|missed| missed as u64)
    }
}

/// Whether the median interval is the period, to 1 %: otherwise wake-ups of which the start is unknown
/// may be those of a loop of relative waits. *Judgement*: a loop is later.
fn is_on_time(at_ns: &[f64], period_ns: f64) -> bool {
    let intervals = at_ns.windows(2).map(|two| two[1] - two[0]);
    median(intervals).is_some_and(|interval| (interval / period_ns - 1.0).abs() < 0.01)
}

/// How much each wake-up moves the phase of the timer. *Numerical*: enough for a timer that drifts by
/// 0.3 %, too little for a jitter of a third of the period to move the phase by a period.
const PHASE_SHARE: f64 = 1.0 / 32.0;

/// The number of wake-ups whose circular mean is the phase at first. *Numerical*.
const FIRST_WAKEUPS: usize = 32;

/// Returns the number of expirations that passed without a wake-up, up to each wake-up. The phase of
/// the timer follows its wake-ups, because its period may differ from the requested one. An
/// expiration has passed if all later wake-ups are late by a period: otherwise the timer makes up
/// for the late wake-up.
fn passed_expirations(at_ns: &[f64], expired: &[f64], period_ns: f64) -> Vec<f64> {
    let first = at_ns.iter().take(FIRST_WAKEUPS);
    let first = Complex::sum(first.map(|at| (at / period_ns, 1.0)));
    let mut phase_ns = first.turns() * period_ns;
    let ahead = at_ns.iter().zip(expired).map(|(at, expired)| {
        let nearest = ((at - phase_ns) / period_ns).round();
        phase_ns += PHASE_SHARE * (at - phase_ns - nearest * period_ns);
        nearest - expired
    });
    let mut passed: Vec<f64> = ahead.collect();
    for at in (1..passed.len()).rev() {
        passed[at - 1] = passed[at - 1].min(passed[at]);
    }
    let before = passed.first().copied().unwrap_or(0.0);
    passed.iter().map(|passed| passed - before).collect()
}

#[cfg(test)]
mod tests;
