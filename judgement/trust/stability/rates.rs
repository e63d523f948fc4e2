//! Computes the rate of a clock relative to its reference: over one long run of comparisons, and in
//! separate processes.

use super::{MAX_UNCERTAINTY, to_readings};
use crate::trust::Case;
use estimators::model::MAX_SLEW;
use estimators::rate::line::{Reading, Slope};
use estimators::statistics::hypotheses::critical_value;

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

/// The rates of a clock in several processes.
pub(super) struct Rates {
    /// The typical rate: that of the process that was watched for longest, or the median of the
    /// fresh ones if it differs. Its uncertainty includes the scatter between parts of the longest
    /// run, and the rates of all processes.
    pub typical: Slope,
    /// The number of processes.
    pub processes: u32,
    /// The number of processes whose rate is certainly wrong, by more than a clock is slewed.
    pub wrong: u32,
}

/// Returns the rates over the longest run, and in fresh processes from beginning to end. `steps_ns`
/// is the largest error from the steps of both clocks.
pub(super) fn rates(case: &Case, run: &[Reading], steps_ns: f64) -> Option<Rates> {
    let is_ticking = (SHORTEST_TICK_NS..=LONGEST_TICK_NS).contains(&steps_ns);
    let (longest, scatter) = if is_ticking {
        (rate_of_ticking_clock(run, steps_ns)?, 0.0)
    } else {
        let rate = run.first()?.slope_to(run.last()?, steps_ns)?;
        (rate, scatter(run, rate, steps_ns))
    };
    let fresh = case.evidence().process_comparisons.iter();
    let fresh = fresh.filter_map(|ends| match *to_readings(case, ends) {
        [first, last] => first.slope_to(&last, steps_ns),
        _ => None,
    });
    let mut all: Vec<Slope> = fresh.chain([longest]).collect();
    for rate in &mut all {
        rate.uncertainty += case.trace.reference.rate_uncertainty;
    }
    let (longest, fresh) = all.split_last()?;
    let median = Slope::median(fresh);
    // The process that was watched for longest may be an outlier.
    let differs =
        |fresh: &Slope| (fresh.rate - longest.rate).abs() > longest.uncertainty + fresh.uncertainty;
    let typical = median.filter(differs).unwrap_or(*longest).rate;
    let least = longest.uncertainty + scatter + median.map_or(0.0, |fresh| fresh.uncertainty);
    let farthest = all
        .iter()
        .map(|rate| ((rate.rate - typical).abs(), rate.uncertainty))
        .filter(|(apart, uncertainty)| *apart > uncertainty + least)
        .map(|(apart, uncertainty)| apart + uncertainty);
    // The rate of a raw counter was measured.
    let is_wrong = |rate: &&Slope| {
        let certain = (rate.rate - 1.0).abs() - rate.uncertainty;
        case.trace.declared && certain > MAX_SLEW && rate.uncertainty <= MAX_UNCERTAINTY
    };
    Some(Rates {
        typical: Slope {
            rate: typical,
            uncertainty: farthest.fold(least, f64::max),
        },
        processes: all.len() as u32,
        wrong: all.iter().filter(is_wrong).count() as u32,
    })
}

/// Returns the rate over a run of a clock that the timer interrupt moves: the median of the slopes
/// from comparisons of its first third to those of its last. A late interrupt makes such a clock lag
/// by several steps, also at an end of the run, and has no effect on the median.
fn rate_of_ticking_clock(run: &[Reading], steps_ns: f64) -> Option<Slope> {
    let third = run.len().div_ceil(3).min(MAX_COMPARISONS);
    let last = &run[run.len() - third..];
    let slopes = run[..third].iter().flat_map(|first| {
        last.iter()
            .filter_map(|last| first.slope_to(last, steps_ns))
    });
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
    critical_value(0.05, count - 1.0) * (squares * count / (count - 1.0)).sqrt()
}
