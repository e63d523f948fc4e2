//! Judges the rate of a clock if the kernel corrects the rate of its clocks by so much that either
//! the corrected or the uncorrected clocks are wrong.

use super::Case;
use super::stability::with_verdict;
use crate::model::{Counted, Family, MAX_SLEW, Outcome, Stable};
use crate::rate::correction::{LargeCorrection, WrongClocks};

/// Returns the verdict on the stability of a clock with the correction taken into account. Jumps and
/// freezes remain a fault.
pub(super) fn apply(case: &Case, stable: Stable) -> Stable {
    let Some(correction) = case.machine.correction else {
        return stable;
    };
    let is_wall = case.claimed().is_none_or(|counts| counts == Counted::Wall);
    if !is_wall || case.device.is_some() || stable.jumps + stable.freezes > 0 {
        return stable;
    }
    let corrects = correction.in_words();
    let wrong = correction.wrong;
    match is_corrected(case, &stable, correction) {
        // It is wrong whichever of the others are right.
        None if stable.outcome == Outcome::Fail => stable,
        _ if wrong == WrongClocks::Unknown => with_verdict(stable, Outcome::NotTested, corrects),
        Some(corrected) if corrected == (wrong == WrongClocks::Corrected) => {
            let this = if corrected {
                "corrected"
            } else {
                "uncorrected"
            };
            let evidence = format!("it is one of the {this} clocks: {corrects}");
            with_verdict(stable, Outcome::Fail, evidence)
        }
        Some(_) if stable.outcome == Outcome::Fail => {
            let evidence = format!("its reference is wrong, not this clock: {corrects}");
            with_verdict(stable, Outcome::Pass, evidence)
        }
        _ => stable,
    }
}

/// Whether the kernel corrects the rate of the clock, from its rate relative to the reference; `None`
/// if that is neither the rate of a corrected nor that of an uncorrected clock, or if the clock is a
/// counter whose rate was measured.
fn is_corrected(case: &Case, stable: &Stable, correction: LargeCorrection) -> Option<bool> {
    let offset = 1e-6 * stable.offset_ppm.filter(|_| case.trace.declared)?;
    let tolerance = 1e-6 * stable.offset_uncertainty_ppm? + MAX_SLEW;
    let reference = &case.trace.reference;
    // The rate of a counter is measured by a corrected clock.
    let is_uncorrected = reference.family == Some(Family::SystemClock)
        && timers::find(&reference.id)
            .is_some_and(|entry| entry.info.properties.slewed == Some(false));
    let by_corrected = !is_uncorrected;
    let other = if by_corrected {
        1.0 / (1.0 + correction.share) - 1.0
    } else {
        correction.share
    };
    let is_near = |expected: f64| (offset - expected).abs() <= tolerance;
    match (is_near(0.0), is_near(other)) {
        (true, false) => Some(by_corrected),
        (false, true) => Some(!by_corrected),
        _ => None,
    }
}
