//! Computes the rate of a clock relative to its reference: over one long run of comparisons, and in
//! separate processes.

use super::to_readings;
use crate::model::{Counted, MAX_SLEW};
use crate::rate::line::{Reading, Slope};
use crate::statistics::student_quantile;
use crate::trust::Case;

/// The number of parts of the longest run whose rates are compared. More parts would be shorter
/// and would show less of slow changes of the rate. *Judgement*.
const RUN_PARTS: usize = 8;

/// The shortest step of a clock that the timer interrupt moves, in nanoseconds.
/// *Definition*: the shortest interval of that interrupt on Windows, 0.5 ms, less 1 ‰ for its rate.
const SHORTEST_TICK_NS: f64 = 0.4995e6;

/// The longest step of a clock that the timer interrupt moves, in nanoseconds.
/// *Definition*: the longest interval of that interrupt on Windows, 15.625 ms, and 1 ‰ for its rate.
pub(super) const LONGEST_TICK_NS: f64 = 15.64e6;

/// The number of comparisons at either end of a run that give the rate of such a clock. All pairs
/// are tried. *Numerical*.
const MAX_COMPARISONS: usize = 64;

/// The rate of a clock from the longest run and from processes.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownRate {
    /// The rate over the longest run, which is of one process.
    pub longest: Slope,
    /// The typical rate: that of the longest run, or the median of the processes if it differs. Its
    /// uncertainty includes the scatter between parts of the run, and the rates of all processes.
    pub typical: Slope,
    /// The number of fresh processes, besides the one that was watched for longest.
    pub processes: u32,
    /// The number of processes, with that one, whose rate is certainly wrong.
    pub wrong: u32,
}

/// Returns whether a rate is certainly wrong, by more than a clock is slewed.
pub(super) fn is_wrong(rate: &Slope) -> bool {
    (rate.rate - 1.0).abs() - rate.uncertainty > MAX_SLEW
}

/// Returns the rate over a run, the longest, and from the fresh processes. `steps_ns` is the largest
/// error from the steps of both clocks.
pub(super) fn known_rate(case: &Case, run: &[Reading], steps_ns: f64) -> Option<KnownRate> {
    let (mut longest, scatter) = if (SHORTEST_TICK_NS..=LONGEST_TICK_NS).contains(&steps_ns) {
        (rate_of_ticking_clock(run, steps_ns)?, 0.0)
    } else {
        let rate = run.first()?.slope_to(run.last()?, steps_ns)?;
        (rate, scatter(run, rate, steps_ns))
    };
    longest.uncertainty += case.trace.reference.rate_uncertainty;
    let processes = process_rates(case, steps_ns);
    let others = Slope::median(&processes);
    // The process that was watched for longest may be an outlier.
    let differs = |others: &Slope| {
        (others.rate - longest.rate).abs() > longest.uncertainty + others.uncertainty
    };
    let typical = others.filter(differs).unwrap_or(longest).rate;
    let least = longest.uncertainty + scatter + others.map_or(0.0, |others| others.uncertainty);
    let all = || processes.iter().chain([&longest]);
    let farthest = all()
        .map(|rate| ((rate.rate - typical).abs(), rate.uncertainty))
        .filter(|(apart, uncertainty)| *apart > uncertainty + least)
        .map(|(apart, uncertainty)| apart + uncertainty);
    Some(KnownRate {
        longest,
        typical: Slope {
            rate: typical,
            uncertainty: farthest.fold(least, f64::max),
        },
        processes: processes.len() as u32,
        wrong: all().filter(|rate| is_wrong(rate)).count() as u32,
    })
}

/// Returns the rate over a run of a clock that the timer interrupt moves: the median of the slopes
/// from comparisons of its first third to those of its last. A late interrupt makes such a clock lag
/// by several steps, also at an end of the run, and has no effect on the median.
fn rate_of_ticking_clock(run: &[Reading], steps_ns: f64) -> Option<Slope> {
    let third = run.len().div_ceil(3).min(MAX_COMPARISONS);
    let last = &run[run.len() - third..];
    let pairs = run[..third]
        .iter()
        .flat_map(|first| last.iter().map(move |last| (first, last)));
    let slopes = pairs.filter_map(|(first, last)| first.slope_to(last, steps_ns));
    Slope::median(&slopes.collect::<Vec<_>>())
}

/// Returns half the width of the 95 % interval of the rate over a run, from the differences between
/// the rates of its parts that the uncertainty of their reads does not explain. The rate of a clock
/// that jumps, once or to and fro, is less certain than the first and the last comparison alone
/// suggest.
fn scatter(run: &[Reading], whole_run: Slope, steps_ns: f64) -> f64 {
    let count = RUN_PARTS.min(run.len() - 1);
    if count < 2 {
        return 0.0;
    }
    let end = |part: usize| run[(part * (run.len() - 1) + count / 2) / count];
    let length = end(count).time - end(0).time;
    let squares = (0..count).filter_map(|part| {
        let (first, last) = (end(part), end(part + 1));
        let slope = first.slope_to(&last, steps_ns)?;
        let unexplained = (slope.rate - whole_run.rate).abs() - slope.uncertainty;
        Some(((last.time - first.time) / length * unexplained.max(0.0)).powi(2))
    });
    let (squares, count) = (squares.sum::<f64>(), count as f64);
    student_quantile(0.95, count as usize - 1) * (squares * count / (count - 1.0)).sqrt()
}

/// Returns the rates of the fresh processes, each from its beginning to its end. Empty for clocks
/// whose rate a process cannot determine: raw counters and CPU time.
fn process_rates(case: &Case, steps_ns: f64) -> Vec<Slope> {
    if !case.trace.declared || !matches!(case.claimed(), None | Some(Counted::Wall)) {
        return Vec::new();
    }
    let rate = |ends: &[[i64; 3]; 2]| {
        let ends = to_readings(case, ends);
        let mut rate = ends.first()?.slope_to(ends.last()?, steps_ns)?;
        rate.uncertainty += case.trace.reference.rate_uncertainty;
        Some(rate)
    };
    let ends = &case.evidence().process_comparisons;
    ends.iter().filter_map(rate).collect()
}
