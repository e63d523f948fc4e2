//! Checks the unit of a reference with the clocks of the kernel, which the runner (the process of
//! this program that asks the agents) reads itself. A wrong unit scales every measured time, and the
//! other timers of the agent need not show it.
//!
//! The runner cannot read these clocks at the same moment as the agent reads the reference. The
//! runner reads them before and after each reading of the reference, which gives a lower and an
//! upper bound of the elapsed time. The runner uses a clock that NTP steers and one that NTP does
//! not steer, because the reference may be like either. A tolerance for the rate of the hardware is
//! added.
//!
//! A clock that moves only while its agent works, such as CPU time, cannot be compared with the
//! clocks of the kernel.

use std::fmt;
use std::time::Duration;

use timers::{Answer, Subject};

use estimators::model::MAX_SLEW;
use estimators::statistics::median;
use estimators::trace::Reference;
use reporting::text::numbers::time;

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

/// Readings of two kernel clocks, in nanoseconds.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    /// The clock that NTP corrects.
    steered: u64,
    /// The clock that runs at the rate of the hardware.
    raw: u64,
}

/// A reading of the reference, and the clocks of the kernel before and after it.
struct ReferenceSample {
    before: Moment,
    reading: i64,
    after: Moment,
}

/// A wrong unit of a reference: what it counted while how much time passed.
#[derive(Debug)]
pub(super) struct WrongUnit {
    ticks: i64,
    unit_ns: f64,
    counted_ns: f64,
    passed_ns: f64,
}

impl fmt::Display for WrongUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [self.unit_ns, self.counted_ns, self.passed_ns];
        let [unit, counted, passed] = all.map(|ns| time(Some(ns)));
        write!(
            f,
            "it counted {} ticks of {unit}, which is {counted}, while {passed} passed by the kernel's clock",
            self.ticks
        )
    }
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
) -> Answer<Result<bool, WrongUnit>> {
    let tolerance = if declared {
        // The kernel may slew each of two clocks.
        2.0 * MAX_SLEW
    } else {
        ESTIMATED_UNIT_TOLERANCE
    };
    let mut attempt = 1;
    loop {
        let begin = take_samples(timer)?;
        timers::pause(PAUSE);
        let end = take_samples(timer)?;
        let (Some(first), Some(last)) = (shortest(&begin), shortest(&end)) else {
            return Ok(Ok(false));
        };
        if stands_still(&begin, &end) {
            return Ok(Ok(false));
        }
        match compare_time(first, last, reference, tolerance) {
            Err(_) if attempt < MAX_ATTEMPTS => attempt += 1,
            compared => return Ok(compared.map(|()| true)),
        }
    }
}

/// Returns `SAMPLES_PER_SET` samples; fewer if the kernel lets the runner read no clock.
fn take_samples(timer: &mut dyn Subject) -> Answer<Vec<ReferenceSample>> {
    let mut samples = Vec::new();
    for _ in 0..SAMPLES_PER_SET {
        let before = Moment::now();
        let reading = timer.readings(1)?.first().copied();
        let parts = before.zip(reading).zip(Moment::now());
        samples.extend(parts.map(|((before, reading), after)| ReferenceSample {
            before,
            reading,
            after,
        }));
    }
    Ok(samples)
}

/// Returns the sample that took the least time.
fn shortest(samples: &[ReferenceSample]) -> Option<&ReferenceSample> {
    let took_ns = |sample: &&ReferenceSample| sample.after.since(sample.before).1;
    samples
        .iter()
        .min_by(|a, b| took_ns(a).total_cmp(&took_ns(b)))
}

impl Moment {
    /// Reads both clocks. `None` if the kernel lets this process read no clock.
    pub(super) fn now() -> Option<Self> {
        let steered = timers::kernel_time()?;
        Some(Self {
            steered,
            raw: timers::kernel_raw_time().unwrap_or(steered),
        })
    }

    /// Returns the nanoseconds since an earlier moment by each of the two clocks: the smaller
    /// value, then the larger one.
    pub(super) fn since(self, earlier: Self) -> (f64, f64) {
        let steered = self.steered.saturating_sub(earlier.steered) as f64;
        let raw = self.raw.saturating_sub(earlier.raw) as f64;
        (steered.min(raw), steered.max(raw))
    }
}

/// Returns whether the timer moved at most twice as far during the pause as usually between two
/// reads, which means that it moves with each read and not with time. `begin` and `end` are the
/// samples before and after the pause. Also `true` if there are too few samples to say.
fn stands_still(begin: &[ReferenceSample], end: &[ReferenceSample]) -> bool {
    let between = |first: &ReferenceSample, last: &ReferenceSample| {
        last.reading.wrapping_sub(first.reading).unsigned_abs() as f64
    };
    let pairs = begin.windows(2).chain(end.windows(2));
    // The median, because the machine may pause between two reads for as long as `PAUSE`.
    let usual = median(pairs.map(|pair| between(&pair[0], &pair[1])));
    match (usual, begin.last(), end.first()) {
        (Some(usual), Some(last), Some(next)) => between(last, next) <= 2.0 * usual,
        _ => true,
    }
}

/// Compares the time that the reference counted between two samples with the elapsed time, which
/// have to agree. The elapsed time is at least that between
/// the end of the first sample and the start of the last, and at most that between the start of the
/// first and the end of the last.
fn compare_time(
    first: &ReferenceSample,
    last: &ReferenceSample,
    reference: &Reference,
    tolerance: f64,
) -> Result<(), WrongUnit> {
    let (min_elapsed_ns, _) = last.before.since(first.after);
    let (_, max_elapsed_ns) = last.after.since(first.before);
    let ticks = last.reading.wrapping_sub(first.reading);
    let counted_ns = ticks as f64 * reference.ns_per_tick;
    let step = reference.step_at_most.unwrap_or(reference.step).max(1.0) * reference.ns_per_tick;
    // A deviation of one step of the reference is tolerated, up to the whole elapsed time.
    let step = step.min(max_elapsed_ns);
    let (low, high) = (
        min_elapsed_ns * (1.0 - tolerance) - step,
        max_elapsed_ns * (1.0 + tolerance) + step,
    );
    if (low..=high).contains(&counted_ns) {
        return Ok(());
    }
    Err(WrongUnit {
        ticks,
        unit_ns: reference.ns_per_tick,
        counted_ns: counted_ns.max(0.0),
        passed_ns: f64::midpoint(min_elapsed_ns, max_elapsed_ns),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a moment by two clocks whose times differ by 5 %, as if NTP slewed one of them.
    fn at(ns: u64) -> Moment {
        Moment {
            steered: ns + ns / 20,
            raw: ns,
        }
    }

    fn error_of_unit(ticks: i64, ns_per_tick: f64, step: f64) -> Option<String> {
        let first = ReferenceSample {
            before: at(0),
            reading: 5,
            after: at(20_000),
        };
        let last = ReferenceSample {
            before: at(40_000_000),
            reading: 5 + ticks,
            after: at(40_050_000),
        };
        let compared = compare_time(
            &first,
            &last,
            &Reference {
                ns_per_tick,
                step,
                ..Reference::default()
            },
            2.0 * MAX_SLEW,
        );
        compared.err().map(|wrong| wrong.to_string())
    }

    #[test]
    fn checks_unit_against_elapsed_time() {
        assert_eq!(error_of_unit(40_000_000, 1.0, 10.0), None);
        assert_eq!(error_of_unit(117_000_000, 1.0 / 2.9, 30.0), None);
        assert_eq!(
            error_of_unit(42_000_000, 1.0, 10.0),
            None,
            "the reference is slewed as well"
        );
        for ticks in [39_900_000, 42_200_000] {
            assert!(
                error_of_unit(ticks, 1.0, 10.0).is_some(),
                "{ticks} ticks deviate by more than the duration of the answers"
            );
        }
        assert_eq!(
            error_of_unit(3, 15_625_000.0, 1.0),
            None,
            "a coarse reference"
        );
        for (ticks, ns) in [
            (40_000_000, 1e-3),
            (40_000_000, 1e9),
            (40_000_000, 2.0),
            (-40_000_000, 1.0),
            (0, 1.0),
        ] {
            assert!(error_of_unit(ticks, ns, 1.0).is_some(), "{ticks} of {ns}");
        }
        let sample = |reading| ReferenceSample {
            before: at(0),
            reading,
            after: at(0),
        };
        assert!(
            stands_still(&[sample(0), sample(60)], &[sample(121)]),
            "it moves only when it is read"
        );
        assert!(!stands_still(
            &[sample(0), sample(90_000)],
            &[sample(40_000_000)]
        ));
        assert!(
            !stands_still(
                &[
                    sample(0),
                    sample(90_000),
                    sample(180_000),
                    sample(20_000_000)
                ],
                &[sample(40_000_000), sample(40_090_000)]
            ),
            "the machine paused between two reads"
        );
        let reported = error_of_unit(40_000_000, 1e-3, 1.0).expect("the unit is wrong");
        assert!(
            reported.contains("40000000 ticks") && reported.contains("passed"),
            "{reported}"
        );
    }
}
