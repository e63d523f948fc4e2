//! Tests the estimators for clocks on simulated timers. How often figures are right and intervals
//! cover the truth is judged by the command `simulate`.

use estimators::figures::{Figures, figures};
use estimators::model::{Following, value_of};
use estimators::scoring::profile_quality;
use simulate::population;
use simulated::Model;
use timermeter::plan::Plan;

use super::{case, probe};

#[test]
fn cost_lies_below_single_call_tail() {
    let cases = population::regular(100, 11);
    for case in &cases {
        let verdict = case.judge(&Plan::QUICK).unwrap();
        let median = value_of(verdict.row.cost_ns);
        let cost = verdict.row.cost.expect("single calls were made");
        assert!(median <= cost.p99_ns, "{median:?}, {cost:?} of {case:?}");
    }
}

/// A timer whose batches all take no time has no cost, and so no Quality.
#[test]
fn unmoving_batches_measure_nothing() {
    for case in population::regular(5, 14) {
        let mut trace = probe(&case, &Plan::QUICK);
        for run in &mut trace.runs {
            for batches in [
                &mut run.bracket,
                &mut run.singles,
                &mut run.batches,
                &mut run.small_batches,
                &mut run.medium_batches,
            ] {
                batches.deltas = vec![0; batches.deltas.len()].into();
            }
        }
        let figures = figures(&trace);
        assert_eq!((figures.cost, figures.spread), (None, None), "{case:?}");
        let why = figures.no_cost_reason.unwrap_or_default();
        assert!(why.contains("took no time"), "{case:?}: {why}");
    }
}

/// If every process shared its core, the intervals extend a tenth beyond the figures of all
/// processes, because no undisturbed process shows the size of the disturbance.
#[test]
fn always_shared_core_widens_figures() {
    for case in population::regular(20, 16) {
        let (mut trace, hertz) = case.probe(&Plan::QUICK).unwrap();
        let unshared = figures(&trace);
        trace.disturbed_runs = trace.runs.len() as u32;
        for run in &mut trace.runs {
            run.batches.unstable = true;
        }
        let shared = figures(&trace);
        let (Some(cost), Some(spread)) = (shared.cost, shared.spread) else {
            continue;
        };
        for (process, _) in &shared.processes {
            assert!(
                cost.low <= 0.9 * process && 1.1 * process <= cost.high,
                "{cost:?} of {process}"
            );
        }
        assert!(
            spread.high >= 1.0 && spread.low <= spread.value,
            "{spread:?}"
        );
        let width = |figures: &Figures| {
            profile_quality(figures, hertz).map(|quality| quality.high - quality.low)
        };
        let widths = [&shared, &unshared].map(width);
        assert!(widths[0] > widths[1], "{widths:?}");
    }
}

/// The costs of processes agree in the unit that the cost follows, also where the cost is scaled. A
/// core that keeps its frequency does not show what the cost follows.
#[test]
fn costs_of_processes_agree_in_their_unit() {
    /// The relative distance between the least and the greatest value.
    fn range(values: &[f64]) -> f64 {
        let ends = values.iter().fold((f64::MAX, 0.0), |(low, high), &value| {
            (value.min(low), value.max(high))
        });
        ends.1 / ends.0 - 1.0
    }
    for (follows_core, wander) in [(true, 0.05), (false, 0.05), (true, 0.0), (false, 0.0)] {
        let timer = Model {
            follows_core,
            ..Model::regular("", 1.0, 1.0, 100.0)
        };
        let mut case = case(timer, 18);
        case.surroundings.wander = wander;
        let mut trace = probe(&case, &Plan::DEFAULT);
        let found = figures(&trace);
        let all = &found.all_processes;
        let ns: Vec<f64> = all.iter().map(|process| process.amortised_ns).collect();
        let cycles: Vec<f64> = all
            .iter()
            .filter_map(|process| process.amortised_cycles)
            .collect();
        let runs = trace.runs.len();
        assert_eq!((ns.len(), cycles.len()), (runs, runs), "{case:?}");
        let ranges = (range(&ns), range(&cycles));
        let expected = match (wander > 0.0, follows_core) {
            (false, _) => Following::Unknown,
            (true, true) => Following::Core,
            (true, false) => Following::Device,
        };
        assert_eq!(found.following, expected, "{ranges:?}");
        match expected {
            Following::Core => assert!(ranges.1 < 0.3 * ranges.0, "{ranges:?}"),
            Following::Device => assert!(ranges.0 < 0.3 * ranges.1, "{ranges:?}"),
            Following::Unknown => assert!(ranges.0.max(ranges.1) < 0.01, "{ranges:?}"),
        }
        let (true_ns, true_cycles) = (100.0, 300.0);
        let (value, truth) = match follows_core {
            true => (&cycles[0], true_cycles),
            false => (&ns[0], true_ns),
        };
        assert!((value / truth - 1.0).abs() < 0.03, "{value} for {truth}");
        trace.runs[0].batches.core_hz = None;
        assert_eq!(figures(&trace).all_processes[0].amortised_cycles, None);
    }
}
