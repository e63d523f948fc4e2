//! Estimates the time that a read adds to the code around it: the difference in duration between a
//! sequence of pieces of work with a read in each piece and the same sequence without reads.

use crate::model::{AddedTime, AddedTimes, Context};
use crate::statistics::{Z, mean, mean_over_processes, midmean, standard_deviation};
use crate::trace::{InContext, Reference, Trace};

/// Computes the added time for each kind of work that was measured, with an interval from the
/// differences between processes. `None` if no kind was measured.
pub fn adds(trace: &Trace) -> Option<AddedTimes> {
    let slowness = slowness(&trace.adds);
    let mut found = None;
    for context in Context::ALL {
        let observations = trace
            .adds
            .iter()
            .zip(&slowness)
            .flat_map(|(rows, slowness)| {
                rows.iter()
                    .filter(|row| row.context == context)
                    .map(move |row| (row, *slowness))
            });
        let processes: Vec<ProcessAdds> = observations
            .filter_map(|(row, slowness)| measure_process(row, slowness))
            .collect();
        let Some(added) = combine_processes(&processes, trace.calls_reference()) else {
            continue;
        };
        found
            .get_or_insert_with(AddedTimes::default)
            .set(context, Some(added));
    }
    found
}

/// The result of one process for one kind of work; times are in ticks of the reference.
#[derive(Clone, Copy)]
struct ProcessAdds {
    /// The time that a read adds to a piece.
    adds: f64,
    /// The duration of a piece without reads.
    work: f64,
    /// The number of pieces in a sequence, by which the step of the reference is divided.
    pieces: f64,
    /// The duration of the same number of core cycles in this process, relative to the typical
    /// process.
    slowness: f64,
}

/// The duration of a chain of multiplications in each process, relative to the midmean over the
/// processes. The number of cycles is constant, so the ratio shows the core frequency. 1 if the
/// chain was not measured.
fn slowness(processes: &[Vec<InContext>]) -> Vec<f64> {
    let chain = |rows: &Vec<InContext>| {
        let row = rows.iter().find(|row| row.context == Context::Latency)?;
        measure_process(row, 1.0)
            .map(|process| process.work)
            .filter(|work| *work > 0.0)
    };
    let chains: Vec<Option<f64>> = processes.iter().map(chain).collect();
    let typical = midmean(chains.iter().copied().flatten());
    chains
        .into_iter()
        .map(|chain| {
            chain
                .zip(typical)
                .map_or(1.0, |(chain, typical)| chain / typical)
        })
        .collect()
}

/// Combines the results of processes, either as measured or scaled to the typical core frequency,
/// whichever agrees better between processes: work of the core takes a constant number of cycles,
/// work of memory and hypervisor a constant time. If the scaled results agree better, a run at
/// another frequency has another result, so the interval includes the variation of the frequency.
fn combine_processes(processes: &[ProcessAdds], reference: &Reference) -> Option<AddedTime> {
    let column = |part: fn(&ProcessAdds) -> f64| processes.iter().map(part).collect::<Vec<f64>>();
    let measured = mean_over_processes(column(|process| process.adds))?;
    let in_cycles = mean_over_processes(column(|process| process.adds / process.slowness))?;
    let estimate = if in_cycles.is_bounded() && in_cycles.half_width() < measured.half_width() {
        let deviation =
            Z * standard_deviation(&column(|process| process.slowness.ln())).unwrap_or(0.0);
        in_cycles.widened([
            in_cycles.value * (-deviation).exp(),
            in_cycles.value * deviation.exp(),
        ])
    } else {
        measured
    };
    let ns = reference.ns_per_tick;
    let estimate = estimate.scaled(ns);
    // Sequences may start at the same phase of the reference in all processes, which would shift
    // all results equally.
    let phase_error = reference.uncertainty_ns()
        / processes
            .iter()
            .map(|process| process.pieces)
            .fold(f64::INFINITY, f64::min);
    let work_ns = mean(column(|process| process.work))? * ns;
    Some(AddedTime {
        ns: estimate.widened_by(phase_error),
        work_ns,
    })
}

/// Returns the time that a read adds to a piece of work, and the duration of the piece, in ticks of
/// the reference. The two sequences of a pair are consecutive, so common disturbances cancel.
/// Interruptions affect few pairs, and the midmean excludes them. Sequences of a single piece, such
/// as cold reads, are quantised by the step of the reference; a mean averages this.
fn measure_process(row: &InContext, slowness: f64) -> Option<ProcessAdds> {
    let pieces = f64::from(row.turns.max(1));
    let differences: Vec<f64> = row
        .pairs
        .iter()
        .map(|[without, with]| with.wrapping_sub(*without) as f64 / pieces)
        .collect();
    let without: Vec<f64> = row
        .pairs
        .iter()
        .map(|[without, _]| *without as f64 / pieces)
        .collect();
    Some(ProcessAdds {
        adds: midmean(&differences)?,
        work: midmean(&without)?,
        pieces,
        slowness,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AddedTime, Estimate};
    use crate::trace::Reference;

    fn trace(processes: &[&[[i64; 2]]]) -> Trace {
        let rows = processes.iter().map(|pairs| {
            vec![InContext {
                context: Context::Latency,
                turns: 10,
                pairs: pairs.to_vec(),
            }]
        });
        let reference = Reference {
            ns_per_tick: 0.5,
            ..Reference::default()
        };
        Trace {
            adds: rows.collect(),
            reference,
            ..Trace::default()
        }
    }

    fn latency(processes: &[&[[i64; 2]]]) -> AddedTime {
        let found = adds(&trace(processes)).expect("processes");
        found.latency.expect("it was measured")
    }

    #[test]
    fn a_read_adds_the_difference() {
        assert_eq!(adds(&trace(&[])), None);
        let pairs: [&[_]; 1] = [&[[100, 140], [100, 140], [100, 99_999], [7_000, 7_040]]];
        assert_eq!(latency(&pairs).ns, Estimate::unbounded(2.0));
        assert_eq!(adds(&trace(&pairs)).unwrap().memory, None);
        let two = latency(&[&[[100, 140]], &[[100, 144]]]);
        assert_eq!((two.ns.value, two.work_ns), (2.1, 5.0));
        assert!(two.ns.low < 2.0 && two.ns.high > 2.2, "{two:?}");
    }

    /// Cores with four frequencies: the cycles are known as precisely as with one frequency, and
    /// the interval includes the durations at the other frequencies.
    #[test]
    fn cycles_use_the_usual_frequency() {
        let added = |at: fn(i64) -> [i64; 2]| {
            let rows = [9, 10, 10, 11].map(|slowness| [at(slowness)]);
            latency(&rows.each_ref().map(|pairs| &pairs[..])).ns
        };
        let scaled = added(|slowness| [slowness * 100, slowness * 140]);
        assert!((scaled.value - 20.0).abs() < 0.1, "{scaled:?}");
        let (low, high) = scaled.ends().expect("four processes");
        assert!((16.0..18.0).contains(&low) && (22.0..24.0).contains(&high));
        // A duration that does not depend on the frequency is not scaled.
        let constant = added(|slowness| [slowness * 100, slowness * 100 + 400]);
        assert_eq!(constant, Estimate::exact(20.0));
    }
}
