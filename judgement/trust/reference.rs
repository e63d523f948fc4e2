//! Checks whether the reference is fit for comparisons with timers. The reference must not go back
//! from one comparison to the next, and from the first comparison to the last it must count as much
//! time as the kernel's clock. A reference that wraps violates at least one of these conditions.

use super::{Case, Judged, how_often};
use estimators::model::{MAX_SLEW, Outcome};
use estimators::numbers::time;
use estimators::rate::order::Backward;

/// Of a comparison: the first reading of the reference, the timer, and the last of the reference.
const BEGIN: usize = 0;
const TIMER: usize = 1;
const END: usize = 2;

/// Returns the verdict on the timer and the reason, if the reference is unfit for comparisons. The
/// timer itself fails if it has the same fault, as it does if it is the same clock. If the rate of
/// the timer matters, so does that of the reference.
pub(super) fn unfit(case: &Case, rate_matters: bool) -> Option<Judged> {
    let reference = &case.trace.reference;
    let (ns, step_ns) = (reference.ns_per_tick, reference.uncertainty_ns());
    let advances = case.evidence().advances.iter();
    let back = gaps(case, END, BEGIN).chain(advances.map(|moved| moved.reference));
    let back = Backward::among(back.filter(|gap| (*gap as f64) < -step_ns / ns));
    let deviation_ns = reference.unexplained_deviation_ns;
    // A counter that changed its rate is judged as such.
    let counted = [(END, BEGIN), (BEGIN, END)].map(|(from, to)| ends(case, from, to));
    let counted = counted.map(|ticks| ticks.filter(|_| deviation_ns <= 0.0));
    let precision = [step_ns, reference.rate_uncertainty];
    let compared_only_with = |fault: &str| {
        let id = &reference.id;
        let evidence = format!("it could be compared with `{id}` only, which itself {fault}");
        (Outcome::NotTested, evidence)
    };
    if let Some(why) = fault(case, back, Some(ns), counted, precision) {
        let wall = case.is_wall() && case.trace.declared;
        let counted = [ends(case, TIMER, TIMER).filter(|_| wall); 2];
        let precision = [case.step_ns().unwrap_or(0.0), case.figures.rate_uncertainty];
        let (back, ns) = (timer_backward_steps(case), case.figures.ns_per_tick);
        return Some(match fault(case, back, ns, counted, precision) {
            Some(fault) => (Outcome::Fail, format!("it {fault}")),
            None => compared_only_with(&why),
        });
    }
    let deviated = format!("deviated from the kernel's clock by {}", time(deviation_ns));
    match case.trace.declared {
        _ if !rate_matters => None,
        // A raw counter is a counter like the reference.
        false if deviation_ns > 0.0 => {
            Some((Outcome::Fail, format!("counters of its kind {deviated}")))
        }
        true if deviation_ns > 0.0 => Some(compared_only_with(&deviated)),
        _ => (reference.rate_uncertainty > MAX_SLEW)
            .then(|| compared_only_with("moved, or the kernel's clock did")),
    }
}

/// Returns the steps backwards of the timer itself from one comparison to the next.
pub(super) fn timer_backward_steps(case: &Case) -> Backward {
    let advances = case.evidence().advances.iter();
    Backward::among(gaps(case, TIMER, TIMER).chain(advances.map(|moved| moved.timer)))
}

/// Returns how many ticks lie between a reading of each comparison and one of the next.
fn gaps(case: &Case, from: usize, to: usize) -> impl Iterator<Item = i64> {
    let pairs = case
        .comparisons()
        .into_iter()
        .flat_map(|list| list.windows(2));
    pairs.map(move |pair| pair[1][to].wrapping_sub(pair[0][from]))
}

/// Returns how many ticks lie between a reading of the first sparse comparison and one of the last;
/// `None` if there are fewer than two.
fn ends(case: &Case, from: usize, to: usize) -> Option<i64> {
    match &*case.evidence().sparse_comparisons {
        [first, .., last] => Some(last[to].wrapping_sub(first[from])),
        _ => None,
    }
}

/// Says how a clock is at fault that went `back` between comparisons and `counted` at least and at
/// most so many ticks of `ns` nanoseconds from the first sparse comparison to the last, with a step
/// in nanoseconds and a relative uncertainty of its rate.
fn fault(
    case: &Case,
    back: Backward,
    ns: Option<f64>,
    counted: [Option<i64>; 2],
    [step_ns, rate_uncertainty]: [f64; 2],
) -> Option<String> {
    if back.steps > 0 {
        let often = how_often(back, ns);
        return Some(format!("went back between two comparisons, {often}"));
    }
    let [low, high] = case.evidence().passed_ns?.map(|ns| ns as f64);
    let [least, most] = [counted[0]? as f64 * ns?, counted[1]? as f64 * ns?];
    // The kernel may slew each of two clocks.
    let tolerance = 2.0 * MAX_SLEW + rate_uncertainty;
    let differs = most < low * (1.0 - tolerance) - 2.0 * step_ns
        || least > high * (1.0 + tolerance) + 2.0 * step_ns;
    let counted = time(f64::midpoint(least, most).max(0.0));
    let passed = time(f64::midpoint(low, high));
    differs.then(|| format!("counted {counted} while {passed} passed by the kernel's clock"))
}
