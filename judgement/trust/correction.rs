//! Judges the rate of a clock if the kernel corrects the rate of its clocks by so much that either
//! the corrected or the uncorrected clocks are wrong.

use super::Case;
use estimators::model::{Family, MAX_SLEW, Outcome, Stable};
use estimators::rate::correction::{LargeCorrection, WrongClocks};

/// Takes the correction into account in the verdict on the stability of a clock. Jumps and freezes
/// remain a fault.
pub(super) fn apply(case: &Case, stable: &mut Stable) {
    let is_steady = stable.jumps + stable.freezes == 0;
    let applies = case.is_wall() && case.device.is_none() && is_steady;
    let Some(correction) = case.machine.correction.filter(|_| applies) else {
        return;
    };
    let (corrects, failed) = (correction.in_words(), stable.outcome == Outcome::Fail);
    let wrong = correction.wrong;
    (stable.outcome, stable.evidence) = match is_corrected(case, stable, correction) {
        // It is wrong whichever of the others are right.
        None if failed => return,
        _ if wrong == WrongClocks::Unknown => (Outcome::NotTested, corrects),
        Some(corrected) if corrected == (wrong == WrongClocks::Corrected) => {
            let evidence = format!("it is one of the clocks that are wrong: {corrects}");
            (Outcome::Fail, evidence)
        }
        Some(_) if failed => {
            let evidence = format!("its reference is wrong, not this clock: {corrects}");
            (Outcome::Pass, evidence)
        }
        _ => return,
    };
}

/// Whether the kernel corrects the rate of the clock, from its rate relative to the reference; `None`
/// if that rate or its uncertainty is unknown, fits both or neither of a corrected and an uncorrected
/// clock, or was measured, as that of a counter.
fn is_corrected(case: &Case, stable: &Stable, correction: LargeCorrection) -> Option<bool> {
    let offset = 1e-6 * stable.offset_ppm.filter(|_| case.trace.declared)?;
    let tolerance = 1e-6 * stable.offset_uncertainty_ppm? + MAX_SLEW;
    let reference = &case.trace.reference;
    // A counter as the reference has the corrected rate: it was measured by a corrected clock.
    let is_uncorrected = reference.family == Some(Family::SystemClock)
        && timers::find(&reference.id)
            .is_some_and(|entry| entry.info.properties.slewed == Some(false));
    let other = if is_uncorrected {
        correction.share
    } else {
        1.0 / (1.0 + correction.share) - 1.0
    };
    let is_near = |expected: f64| (offset - expected).abs() <= tolerance;
    (is_near(0.0) != is_near(other)).then_some(is_near(0.0) != is_uncorrected)
}
