//! What a read adds to the code around it: how much longer a row of pieces of work takes with reads than without.

use crate::analysis::interval::over_processes;
use crate::analysis::statistics::{mean, midmean};
use crate::model::{Added, Adds, Context, Estimate};
use crate::trace::{InContext, Trace};

/// For each kind of code that was asked about: one figure a process, and what processes differ by.
#[must_use]
pub fn adds(trace: &Trace) -> Option<Adds> {
    let mut found = None;
    for context in Context::ALL {
        let asked = trace.adds.iter().flatten().filter(|row| row.context == context);
        let processes: Vec<[f64; 2]> = asked.filter_map(in_a_process).collect();
        let column = |at: usize| processes.iter().map(|process| process[at]).collect::<Vec<f64>>();
        let Some(estimate) = over_processes(&column(0)) else { continue };
        let ns = trace.reference.ns_per_tick;
        let estimate = estimate.scaled(ns);
        // Rows may begin at the same place within a step of the reference in all processes.
        let step = trace.reference.uncertainty_ns() / fewest_turns(trace, context);
        let estimate = estimate.widened(&[estimate.value - step, estimate.value + step]);
        let added = added(estimate, mean(&column(1))? * ns);
        found.get_or_insert_with(Adds::default).set(context, Some(added));
    }
    found
}

fn fewest_turns(trace: &Trace, context: Context) -> f64 {
    let rows = trace.adds.iter().flatten().filter(|row| row.context == context);
    rows.map(|row| f64::from(row.turns.max(1))).fold(f64::INFINITY, f64::min)
}

fn added(estimate: Estimate, work_ns: f64) -> Added {
    let end = |end: f64| Some(end).filter(|_| estimate.is_bounded());
    Added { ns: estimate.value, low_ns: end(estimate.low), high_ns: end(estimate.high), work_ns }
}

/// What a read adds to a piece, and how long that takes, in ticks of the reference. The two rows of a pair follow each other, so that what
/// they have in common drops out; interruptions are in few pairs, and the middle half has none. Single reads, as cold ones are, show in
/// whole steps of the reference, which a mean over them averages away.
fn in_a_process(row: &InContext) -> Option<[f64; 2]> {
    let turns = f64::from(row.turns.max(1));
    let differences: Vec<f64> =
        row.pairs.iter().map(|[without, with]| with.wrapping_sub(*without) as f64 / turns).collect();
    let without: Vec<f64> = row.pairs.iter().map(|[without, _]| *without as f64 / turns).collect();
    Some([midmean(&differences)?, midmean(&without)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Reference;

    fn trace(processes: &[&[[i64; 2]]]) -> Trace {
        let rows = processes
            .iter()
            .map(|pairs| vec![InContext { context: Context::Latency, turns: 10, pairs: pairs.to_vec() }]);
        let reference = Reference { ns_per_tick: 0.5, ..Reference::default() };
        Trace { adds: rows.collect(), reference, ..Trace::default() }
    }

    #[test]
    fn a_read_adds_what_rows_differ_by() {
        assert_eq!(adds(&trace(&[])), None);
        let one = adds(&trace(&[&[[100, 140], [100, 140], [100, 99_999], [7_000, 7_040]]])).unwrap();
        let added = one.latency.unwrap();
        assert_eq!((added.ns, added.low_ns, added.high_ns), (2.0, None, None));
        let two = adds(&trace(&[&[[100, 140]], &[[100, 144]]])).unwrap().latency.unwrap();
        assert_eq!((two.ns, two.work_ns), (2.1, 5.0));
        assert!(two.low_ns < Some(2.0) && two.high_ns > Some(2.2), "{two:?}");
        assert_eq!(one.memory, None);
    }
}
