use proptest::collection::vec;
use proptest::prelude::*;
use simulated::{Delays, REFERENCE_ID, VirtualWaits, WaitModel};
use timers::Subject;
use timers::waits::WaitList;

use super::*;
use crate::model::{Estimate, Granularity, Lateness, Steps};

pub(super) fn reference() -> Reference {
    Reference {
        ns_per_tick: 1.0,
        step: 1.0,
        ..Reference::default()
    }
}

/// Lets the simulated sleep primitive make these waits, `pause_ns` apart.
fn make_waits(subject: &mut VirtualWaits, requests: &[u64], pause_ns: u64) -> Vec<Wait> {
    let list = WaitList {
        lengths_ns: requests,
        pause_ns,
    };
    subject.waits(REFERENCE_ID, list).unwrap()
}

fn trace(runs: Vec<WaitObservations>) -> WaitTrace {
    let reference = reference();
    WaitTrace { reference, runs }
}

/// Returns the steps found in three processes with 60 waits each of up to `to` nanoseconds.
fn measure_steps(model: &WaitModel, to: u64, first_seed: u64) -> Steps {
    // Evenly spread, in an irregular order.
    let requests = (0..60).map(|number| (number * 618_034 % 1_000_000) * to / 1_000_000);
    let requests: Vec<u64> = requests.collect();
    let run = |seed| {
        let mut subject = VirtualWaits::new(model, seed);
        WaitObservations {
            scans: vec![make_waits(&mut subject, &requests, to / 2)],
            ..WaitObservations::default()
        }
    };
    figures(&trace((first_seed..first_seed + 3).map(run).collect())).steps[0]
}

/// Returns a model of waits whose noise and outliers are proportional to this step.
fn noisy_model(step: f64) -> WaitModel {
    let delays = Delays {
        median: 0.05 * step,
        deviation: 0.5,
        tail: Some((0.1, 200.0)),
    };
    WaitModel {
        delays,
        processes: 0.2,
        ..WaitModel::blocking("", 50_000.0)
    }
}

/// Returns the value of a step; `None` for an upper limit.
fn step_value(found: Option<Granularity>) -> Option<f64> {
    match found {
        Some(Granularity::Step(known)) => Some(known.value),
        _ => None,
    }
}

#[test]
fn finds_both_kinds_of_steps() {
    for true_step in [
        10_000.0,
        64_000.0,
        250_000.0,
        700_000.0,
        1_000_800.0,
        2_300_000.0,
        4e6,
        15.625e6,
    ] {
        let to = f64::max(3e6, 2.5 * true_step) as u64;
        for is_grid in [false, true] {
            let model = WaitModel {
                grid: is_grid.then_some(true_step),
                rounding: (!is_grid).then_some(true_step),
                ..noisy_model(true_step)
            };
            let found = measure_steps(&model, to, 0);
            let mut kinds = [found.rounding, found.grid].map(step_value);
            kinds.rotate_left(usize::from(is_grid));
            let is_found = kinds[0].is_some_and(|step| (step / true_step - 1.0).abs() < 0.01);
            assert!(is_found && kinds[1].is_none(), "{true_step}: {found:?}");
        }
    }
}

#[test]
fn no_step_gives_upper_limit() {
    let found = measure_steps(&noisy_model(100_000.0), 3_000_000, 0);
    for kind in [found.rounding, found.grid] {
        let Some(Granularity::AtMost(bound)) = kind else {
            panic!("{found:?}")
        };
        assert!(bound > 1_000.0 && bound < 100_000.0, "{found:?}");
    }
}

#[test]
fn steps_beyond_requests_stay_unknown() {
    let found = measure_steps(
        &WaitModel {
            rounding: Some(1e9),
            ..WaitModel::blocking("", 1_000.0)
        },
        3_000_000,
        0,
    );
    assert_eq!((found.rounding, step_value(found.grid)), (None, None));
}

#[test]
fn waits_can_be_early() {
    let model = WaitModel {
        early: Some((0.5, 400_000.0)),
        ..WaitModel::blocking("", 1_000.0)
    };
    let lengths = make_waits(&mut VirtualWaits::new(&model, 1), &[1_400_000; 100], 1_000);
    let empty = make_waits(&mut VirtualWaits::empty_loop(1.0, 1), &[0; 20], 0);
    let run = WaitObservations {
        lengths,
        empty,
        ..WaitObservations::default()
    };
    let row = figures(&trace(vec![run])).lateness.remove(0);
    assert!(
        row.early > 0.3 && row.early < 0.7 && row.earliest_ns > 3e5,
        "{row:?}"
    );
    assert!(row.p99_ns.is_none() && row.p50_ns.unwrap().low().is_none());
    let cpu = row.cpu_ns.unwrap().value;
    assert!((cpu - 1_000.0).abs() < 100.0, "{cpu}");
}

/// Whether the quantiles of a row ascend to its largest lateness.
pub(super) fn ascends(late: &Lateness) -> bool {
    let largest = Some(Estimate::exact(late.max_ns));
    let quantiles = [late.p50_ns, late.p99_ns, largest];
    quantiles
        .iter()
        .flatten()
        .is_sorted_by_key(|found| found.value)
}

fn arbitrary_waits() -> impl Strategy<Value = Vec<Wait>> {
    let any_values = (
        any::<u64>(),
        any::<i64>(),
        any::<i64>(),
        any::<Option<i64>>(),
    );
    let near = (0..100_u64, 0..1_000_i64, 0..1_000_i64, any::<Option<i64>>());
    let wait = |(request_ns, before, after, cpu_ns)| Wait {
        request_ns,
        before,
        after,
        cpu_ns,
        signals: 0,
    };
    vec(prop_oneof![any_values, near].prop_map(wait), 0..40)
}

proptest! {
    #[test]
    fn arbitrary_input_never_panics(
        lists in vec(arbitrary_waits(), 5),
        // Traces with other rates are refused.
        ns_per_tick in 0.0..1e18_f64,
    ) {
        let [empty, lengths, long, scan, other] = <[Vec<Wait>; 5]>::try_from(lists).unwrap();
        let reference = Reference { ns_per_tick, ..reference() };
        let runs = vec![
            WaitObservations { empty, lengths, scans: vec![scan, other.clone(), Vec::new()], long },
            WaitObservations { lengths: other, ..WaitObservations::default() },
            WaitObservations::default(),
        ];
        for late in figures(&WaitTrace { reference, runs }).lateness {
            prop_assert!(ascends(&late), "{late:?}");
        }
    }

    /// Processes of a few waits on a loaded machine: some are late by much more than others.
    #[test]
    fn quantiles_of_loaded_processes_ascend(
        processes in vec(vec((0..100_000_i64, 0..5_000_i64), 1..40), 1..8),
        step in prop_oneof![Just(1.0), Just(1e5), Just(4e6)],
    ) {
        let wait = |&(late, factor): &(i64, i64)| Wait {
            request_ns: 1_000_000,
            after: 1_000_000 + late * if factor < 100 { factor } else { 1 },
            ..Wait::default()
        };
        let run = |waits: &Vec<(i64, i64)>| WaitObservations {
            lengths: waits.iter().map(wait).collect(),
            ..WaitObservations::default()
        };
        let runs = processes.iter().map(run).collect();
        let reference = Reference { step, ..reference() };
        for late in figures(&WaitTrace { reference, runs }).lateness {
            prop_assert!(ascends(&late), "{late:?}");
        }
    }
}
