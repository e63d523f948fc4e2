//! Checks whether the reference is fit for comparisons with timers. The reference must not go back
//! from one comparison to the next, and from the first comparison to the last it must count as much
//! time as the kernel's clock. A reference that wraps violates at least one of these conditions.

use super::{Case, step_size, times};
use crate::model::{Counted, MAX_SLEW, Outcome};
use crate::numbers::time;
use crate::rate::order::Backward;

/// Returns the verdict on the timer and the reason, if the reference is unfit for comparisons. The
/// timer itself fails if it has the same fault, as it does if it is the same clock.
pub(super) fn miscounted(case: &Case) -> Option<(Outcome, String)> {
    let reference = &case.trace.reference;
    let (ns, step) = (reference.ns_per_tick, reference.uncertainty_ns());
    let advances = case.evidence().advances.iter();
    let back = gaps(case, |[_, _, end], [begin, ..]| begin.wrapping_sub(*end))
        .chain(advances.map(|moved| moved.reference));
    let back = Backward::among(back.filter(|gap| (*gap as f64) < -step / ns));
    let why = went_back(back, Some(ns)).or_else(|| {
        let (first, last) = first_and_last(case)?;
        let counted = [
            last[0].wrapping_sub(first[2]),
            last[2].wrapping_sub(first[0]),
        ];
        let counted = counted.map(|ticks| ticks as f64 * ns);
        // A raw counter that changed its rate is judged as such.
        let keeps_rate = reference.unexplained_deviation_ns <= 0.0;
        miscount(case, counted, step, reference.rate_uncertainty).filter(|_| keeps_rate)
    })?;
    let own_fault = went_back(timer_backward_steps(case), case.profile.ns_per_tick)
        .or_else(|| own_miscount(case));
    Some(own_fault.map_or_else(
        || (Outcome::NotTested, compared_only_with(case, &why)),
        |fault| (Outcome::Fail, format!("it {fault}")),
    ))
}

/// Returns the verdict and the reason, if the rate of the reference changed, or may have changed.
/// Such a reference proves nothing about a clock; a raw counter fails if it did, because it is a
/// counter like the reference.
pub(super) fn moved(case: &Case) -> Option<(Outcome, String)> {
    let reference = &case.trace.reference;
    if reference.unexplained_deviation_ns > 0.0 {
        let by = time(reference.unexplained_deviation_ns);
        let deviated = format!("deviated from the kernel's clock by {by}");
        return Some(if case.trace.declared {
            (Outcome::NotTested, compared_only_with(case, &deviated))
        } else {
            (Outcome::Fail, format!("counters of its kind {deviated}"))
        });
    }
    (reference.rate_uncertainty > MAX_SLEW).then(|| {
        let why = "moved, or the kernel's clock did";
        (Outcome::NotTested, compared_only_with(case, why))
    })
}

fn compared_only_with(case: &Case, fault: &str) -> String {
    let id = &case.trace.reference.id;
    format!("it could be compared with `{id}` only, which itself {fault}")
}

/// Returns the steps backwards of the timer itself from one comparison to the next.
pub(super) fn timer_backward_steps(case: &Case) -> Backward {
    let advances = case.evidence().advances.iter();
    Backward::among(timer_gaps(case).chain(advances.map(|moved| moved.timer)))
}

/// Returns how far the timer moved from each comparison to the next, in ticks.
pub(super) fn timer_gaps<'a>(case: &'a Case) -> impl Iterator<Item = i64> + use<'a> {
    gaps(case, |[_, timer, _], [_, next, _]| {
        next.wrapping_sub(*timer)
    })
}

/// Returns the gaps between successive comparisons, in ticks; `gap` computes one.
fn gaps<'a>(
    case: &'a Case,
    gap: fn(&[i64; 3], &[i64; 3]) -> i64,
) -> impl Iterator<Item = i64> + use<'a> {
    let evidence = case.evidence();
    let lists = [
        &evidence.series,
        &evidence.close_comparisons,
        &evidence.sparse_comparisons,
    ];
    lists
        .into_iter()
        .flat_map(move |list| list.windows(2).map(move |pair| gap(&pair[0], &pair[1])))
}

/// Describes the steps backwards; `None` if there are none.
fn went_back(back: Backward, ns_per_tick: Option<f64>) -> Option<String> {
    let by = step_size(ns_per_tick.map(|ns| back.largest as f64 * ns), back.largest);
    let often = times(back.steps);
    (back.steps > 0).then(|| format!("went back between two comparisons, {often}, by up to {by}"))
}

/// Returns the first and the last sparse comparison; `None` if there are fewer than two.
fn first_and_last<'a>(case: &'a Case) -> Option<(&'a [i64; 3], &'a [i64; 3])> {
    let all = &case.evidence().sparse_comparisons;
    (all.len() > 1).then_some((all.first()?, all.last()?))
}

/// Describes how far the time that a clock of wall time counted differs from the time that passed;
/// `None` if the two agree, or cannot be compared.
fn own_miscount(case: &Case) -> Option<String> {
    let wall = case.claimed().is_none_or(|counts| counts == Counted::Wall);
    let (first, last) = first_and_last(case).filter(|_| wall && case.trace.declared)?;
    let counted = case.ticks_to_ns(last[1].wrapping_sub(first[1]) as f64)?;
    miscount(
        case,
        [counted, counted],
        case.step_ns().unwrap_or(0.0),
        case.profile.rate_uncertainty,
    )
}

/// Compares the time that a clock counted from the first comparison to the last, as a lower and an
/// upper bound in nanoseconds, with the time that passed. Returns the difference in words, if it is
/// too large.
fn miscount(
    case: &Case,
    [least_ns, most_ns]: [f64; 2],
    step_ns: f64,
    rate_uncertainty: f64,
) -> Option<String> {
    let [low, high] = case.evidence().passed_ns?.map(|ns| ns as f64);
    // The kernel may slew each of two clocks.
    let tolerance = 2.0 * MAX_SLEW + rate_uncertainty;
    let differs = most_ns < low * (1.0 - tolerance) - 2.0 * step_ns
        || least_ns > high * (1.0 + tolerance) + 2.0 * step_ns;
    differs.then(|| {
        let counted = time(f64::midpoint(least_ns, most_ns).max(0.0));
        let passed = time(f64::midpoint(low, high));
        format!("counted {counted} while {passed} passed by the kernel's clock")
    })
}
