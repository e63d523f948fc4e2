//! Selects the Pareto-optimal sleep primitives: those for which no other is both less late and
//! cheaper.

use super::subject::Subject;
use crate::model::{Lateness, USUAL_WAIT_NS, beats};
use crate::parallel;
use crate::trace::WaitTrace;
use crate::waits::figures;

/// Returns the subjects that no other one beats under the same load and on the same CPU, at the
/// usual length or the nearest measured one. Includes subjects whose results are insufficient for
/// the comparison.
pub(super) fn pareto_optimal(subjects: &[Subject<WaitTrace>]) -> Vec<usize> {
    let traces: Vec<Option<&WaitTrace>> = subjects
        .iter()
        .map(|subject| subject.outcome.as_ref().ok().filter(|_| subject.goes_on()))
        .collect();
    let known = parallel::mapped(&traces, |trace| late_and_cost((*trace)?));
    let surroundings = |index: usize| {
        (
            subjects[index].conditions.load,
            subjects[index].conditions.cpu,
        )
    };
    let beaten = |index: usize, own: [f64; 2]| {
        let rivals = known
            .iter()
            .enumerate()
            .filter(|(other, _)| surroundings(*other) == surroundings(index));
        rivals
            .filter_map(|(_, other)| *other)
            .any(|other| beats(other, own))
    };
    let goes_on = (0..subjects.len()).filter(|index| traces[*index].is_some());
    goes_on
        .filter(|&index| known[index].is_none_or(|own| !beaten(index, own)))
        .collect()
}

/// Returns the highest quantile of lateness that is supported by enough waits, and the CPU time of
/// a wait, both in nanoseconds.
fn late_and_cost(trace: &WaitTrace) -> Option<[f64; 2]> {
    let figures = figures(trace, None);
    let usual = Lateness::nearest(figures.by_length(), USUAL_WAIT_NS)?;
    Some([
        usual.p90_ns.or(usual.p50_ns)?.value.abs(),
        usual.cpu_ns?.value,
    ])
}
