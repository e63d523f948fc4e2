//! Selects the Pareto-optimal sleep primitives: those for which no other primitive is both less
//! late and cheaper in CPU time.

use super::WaitSubject;
use crate::model::{Lateness, USUAL_WAIT_NS, is_better_wait};
use crate::parallel;
use crate::trace::WaitTrace;
use crate::waits::figures;

/// Returns the indices of the Pareto-optimal subjects. A subject is compared with those on the same
/// CPU, at the length `USUAL_WAIT_NS` or the nearest measured one.
/// Includes subjects with too few observations for the comparison; leaves out those that failed.
pub(super) fn pareto_optimal(subjects: &[WaitSubject]) -> Vec<usize> {
    let traces: Vec<Option<&WaitTrace>> = (subjects.iter())
        .map(|subject| subject.outcome.as_ref().ok())
        .collect();
    let known = parallel::map(&traces, |trace| lateness_and_cost((*trace)?));
    let cpu = |index: usize| subjects[index].conditions.cpu;
    let is_beaten = |index: usize, own: [f64; 2]| {
        (known.iter().enumerate())
            .filter(|(other, _)| cpu(*other) == cpu(index))
            .filter_map(|(_, other)| *other)
            .any(|other| is_better_wait(other, own))
    };
    (0..subjects.len())
        .filter(|&index| subjects[index].is_measurable())
        .filter(|&index| known[index].is_none_or(|own| !is_beaten(index, own)))
        .collect()
}

/// Returns the median lateness and the CPU time of a wait, both in nanoseconds. `None` if one of them
/// is unknown.
fn lateness_and_cost(trace: &WaitTrace) -> Option<[f64; 2]> {
    let figures = figures(trace);
    let usual = Lateness::nearest(figures.by_length(), USUAL_WAIT_NS)?;
    Some([usual.p50_ns?.value.abs(), usual.cpu_ns?.value])
}
