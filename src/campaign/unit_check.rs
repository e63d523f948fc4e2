//! Checks the unit of a reference with the clocks of the kernel, which the runner (the process of
//! this program that asks the agents) reads itself. A wrong unit scales every measured time, and the
//! other timers of the agent need not show it.
//!
//! The runner reads its clocks before and after each reading of the reference, and uses a clock that
//! NTP steers and one that NTP does not steer, because the reference may be like either. A clock that
//! moves only while its agent works, such as CPU time, cannot be compared with them.

use std::time::Duration;

use timers::{Answer, Subject};

use estimators::model::MAX_SLEW;
use estimators::rate::line::{Reading, Slope};
use estimators::rate::tightest;
use estimators::trace::Reference;

/// Time between the two sets of samples of the reference.
/// *Judgement*: an error of 20 µs at the ends is then no more than the tolerance.
const PAUSE: Duration = Duration::from_millis(20);
/// Relative deviation allowed if the unit was found by comparison with another clock for 10 ms: the
/// thread may have lost its CPU for 200 µs at either end. The campaign corrects the remaining error
/// (`reference_rate`). *Computed*.
const ESTIMATED_UNIT_TOLERANCE: f64 = 0.02;
/// Samples in a set; the one that took the least time is used.
/// *Judgement*: four of them may be interrupted.
const SAMPLES_PER_SET: usize = 5;
/// Comparisons that must all fail before the unit counts as wrong, because the machine may pause or
/// a clock may be set during one.
const MAX_ATTEMPTS: u32 = 3;

/// Reads the clock of the kernel that NTP corrects and the one that runs at the rate of the hardware,
/// in nanoseconds. `None` if the kernel lets this process read no clock.
pub(super) fn kernel_clocks() -> Option<[i64; 2]> {
    let steered = timers::kernel_time()?;
    let raw = timers::kernel_raw_time().unwrap_or(steered);
    Some([steered, raw].map(|ns| ns as i64))
}

/// Returns the nanoseconds between two readings of these clocks: the smaller value, then the larger one.
pub(super) fn passed_ns(from: [i64; 2], to: [i64; 2]) -> [i64; 2] {
    let [steered, raw] = [0, 1].map(|clock| (to[clock] - from[clock]).max(0));
    [steered.min(raw), steered.max(raw)]
}

/// Checks the unit of a calibrated reference. Returns `Ok(true)` if the unit agrees with the clocks
/// of the kernel, `Ok(false)` if the reference cannot be compared with them, and otherwise what is
/// wrong. `declared` says whether the agent declared that unit.
///
/// # Errors
/// The errors of the subject.
pub(super) fn check_unit(
    timer: &mut dyn Subject,
    reference: &Reference,
    declared: bool,
) -> Answer<Result<bool, String>> {
    let tolerance = if declared {
        // The kernel may slew each of two clocks.
        2.0 * MAX_SLEW
    } else {
        ESTIMATED_UNIT_TOLERANCE
    };
    let mut compared = Ok(false);
    for _ in 0..MAX_ATTEMPTS {
        let begin = take_samples(timer)?;
        timers::pause(PAUSE);
        let end = take_samples(timer)?;
        compared = compare_time(&begin, &end, reference, tolerance);
        if compared.is_ok() {
            break;
        }
    }
    Ok(compared)
}

/// A reading of the reference between two readings of each clock of the kernel.
type Sample = [[i64; 3]; 2];

/// Returns `SAMPLES_PER_SET` samples; fewer if the kernel lets the runner read no clock.
fn take_samples(timer: &mut dyn Subject) -> Answer<Vec<Sample>> {
    let mut samples = Vec::new();
    for _ in 0..SAMPLES_PER_SET {
        let before = kernel_clocks();
        let reading = timer.readings(1)?.first().copied();
        let parts = before.zip(reading).zip(kernel_clocks());
        samples.extend(parts.map(|((before, reading), after)| {
            [0, 1].map(|clock| [before[clock], reading, after[clock]])
        }));
    }
    Ok(samples)
}

/// Compares the time that the reference counted between two sets of samples with the elapsed time; both
/// clocks of the kernel together have to allow it. `Ok(false)` if there are no samples, or if the reference
/// moved at most twice as far during the pause as usually between two reads, which means that it moves with
/// each read and not with time.
fn compare_time(
    begin: &[Sample],
    end: &[Sample],
    reference: &Reference,
    tolerance: f64,
) -> Result<bool, String> {
    let moved = |from: &Sample, to: &Sample| to[0][1].wrapping_sub(from[0][1]).unsigned_abs();
    let ([first, .., last], [next, ..]) = (begin, end) else {
        return Ok(false);
    };
    if moved(last, next) / 2 <= moved(first, last) / (begin.len() as u64 - 1) {
        return Ok(false);
    }
    let slopes = [0, 1].into_iter().filter_map(|clock| {
        let ends = [begin, end].map(|set| tightest(set.iter().map(|one| one[clock]).collect()));
        let readings = Reading::from_ticks(&[ends[0]?, ends[1]?], 1.0, reference.ns_per_tick);
        let step_ns = reference.uncertainty_ns().max(reference.ns_per_tick);
        // A step may hide the whole time, but does not excuse a clock that is twice as fast.
        readings[0].slope_to(&readings[1], step_ns.min(readings[1].time))
    });
    let slopes: Vec<Slope> = slopes.collect();
    let least = slopes.iter().map(|it| it.rate - it.uncertainty);
    let most = slopes.iter().map(|it| it.rate + it.uncertainty);
    let (least, most) = (
        least.fold(f64::INFINITY, f64::min),
        most.fold(0.0, f64::max),
    );
    if (least - tolerance..=most + tolerance).contains(&1.0) {
        return Ok(true);
    }
    let rate = f64::midpoint(least, most);
    Err(format!(
        "it moves {rate:.3e} times as fast as its unit says"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The samples of a set that begins at a time in nanoseconds, with this reading. The clocks of the
    /// kernel differ by 5 %, as if NTP slewed one of them.
    fn set(ns: i64, reading: i64) -> Vec<Sample> {
        let [before, after] = [ns, ns + 20_000];
        let sample = [
            [before, reading, after],
            [before + before / 20, reading, after + after / 20],
        ];
        vec![sample; 2]
    }

    #[test]
    fn checks_unit_against_elapsed_time() {
        let is_right = |ticks: i64, ns_per_tick: f64, step: f64| {
            let reference = Reference {
                ns_per_tick,
                step,
                ..Reference::default()
            };
            let (begin, end) = (set(0, 5), set(40_000_000, 5 + ticks));
            compare_time(&begin, &end, &reference, 2.0 * MAX_SLEW).is_ok_and(|is_right| is_right)
        };
        for (ticks, ns, step) in [
            (40_000_000, 1.0, 10.0),
            (117_000_000, 1.0 / 2.9, 30.0),
            // The reference is slewed as well.
            (42_000_000, 1.0, 10.0),
            // It is coarse.
            (3, 15_625_000.0, 1.0),
        ] {
            assert!(is_right(ticks, ns, step), "{ticks} of {ns}");
        }
        for (ticks, ns) in [
            (39_900_000, 1.0),
            (42_200_000, 1.0),
            (40_000_000, 1e-3),
            (40_000_000, 1e9),
            (40_000_000, 2.0),
            (-40_000_000, 1.0),
        ] {
            assert!(!is_right(ticks, ns, 1.0), "{ticks} of {ns}");
        }
    }

    #[test]
    fn reads_move_no_clock() {
        let reference = Reference {
            ns_per_tick: 1.0,
            ..Reference::default()
        };
        let counted = [[0, 60], [121, 180]].map(|set| set.map(|reading| [[0, reading, 1]; 2]));
        let [begin, end] = counted;
        assert_eq!(compare_time(&begin, &end, &reference, 0.1), Ok(false));
    }
}
