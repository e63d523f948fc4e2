use proptest::prelude::*;
use simulated::{Delays, REFERENCE_ID, VirtualWaits, WaitModel};
use timers::waits::{WaitRequest, WaitSubject};

use super::*;
use crate::model::{Interval, Steps};

fn reference() -> Reference {
    Reference {
        ns_per_tick: 1.0,
        step: 1.0,
        ..Reference::default()
    }
}

fn ask(subject: &mut VirtualWaits, requests: &[u64], pause_ns: u64) -> Vec<Wait> {
    let request = WaitRequest {
        lengths_ns: requests,
        repeat: 1,
        pause_ns,
        break_ns: None,
    };
    let rows = subject.waits(REFERENCE_ID, request).unwrap();
    let wait = |(row, &request_ns): (&Vec<timers::waits::Wait>, &u64)| {
        let timers::waits::Wait {
            before,
            after,
            cpu_ns,
            run_delay_ns,
        } = row[0];
        Wait {
            request_ns,
            before,
            after,
            cpu_ns,
            run_delay_ns,
        }
    };
    rows.iter().zip(requests).map(wait).collect()
}

/// Requests that are spread evenly, in an order that no lattice has.
fn spread(count: u64, to: u64) -> Vec<u64> {
    (0..count)
        .map(|number| (number * 618_034 % 1_000_000) * to / 1_000_000)
        .collect()
}

/// Three processes of 60 waits each up to `to` nanoseconds.
fn scanned(model: &WaitModel, to: u64) -> Steps {
    let mut trace = WaitTrace {
        reference: reference(),
        blocks: true,
        runs: Vec::new(),
    };
    for seed in 0..3 {
        let scan = ask(&mut VirtualWaits::new(model, seed), &spread(60, to), to / 2);
        trace.runs.push(WaitRun {
            scans: vec![scan],
            ..WaitRun::default()
        });
    }
    figures(&trace, None).steps[0]
}

fn noisy(step: f64) -> WaitModel {
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

fn step(found: Option<Granularity>) -> Option<f64> {
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
        let right =
            |found: Option<f64>| found.is_some_and(|found| (found / true_step - 1.0).abs() < 0.01);
        let rounds = scanned(
            &WaitModel {
                rounding: Some(true_step),
                ..noisy(true_step)
            },
            to,
        );
        assert!(
            right(step(rounds.rounding)) && step(rounds.grid).is_none(),
            "{true_step}: {rounds:?}"
        );
        let grid = scanned(
            &WaitModel {
                grid: Some(true_step),
                ..noisy(true_step)
            },
            to,
        );
        assert!(
            right(step(grid.grid)) && step(grid.rounding).is_none(),
            "{true_step}: {grid:?}"
        );
    }
}

#[test]
fn no_step_gives_a_bound() {
    let found = scanned(&noisy(100_000.0), 3_000_000);
    for kind in [found.rounding, found.grid] {
        let Some(Granularity::AtMost(bound)) = kind else {
            panic!("{found:?}")
        };
        assert!(bound > 1_000.0 && bound < 100_000.0, "{found:?}");
    }
}

#[test]
fn steps_beyond_requests_stay_unbounded() {
    let found = scanned(
        &WaitModel {
            rounding: Some(1e9),
            ..WaitModel::blocking("", 1_000.0)
        },
        3_000_000,
    );
    assert_eq!((found.rounding, step(found.grid)), (None, None));
}

#[test]
fn waits_can_be_early() {
    let model = WaitModel {
        early: Some((0.5, 400_000.0)),
        ..WaitModel::blocking("", 1_000.0)
    };
    let lengths = ask(&mut VirtualWaits::new(&model, 1), &[1_400_000; 100], 1_000);
    let empty = ask(&mut VirtualWaits::empty_loop(1), &[0; 20], 0);
    let run = WaitRun {
        lengths,
        empty,
        ..WaitRun::default()
    };
    let trace = WaitTrace {
        reference: reference(),
        blocks: true,
        runs: vec![run],
    };
    let row = figures(&trace, Some(3e9)).lateness.remove(0);
    assert!(
        row.early > 0.3 && row.early < 0.7 && row.earliest_ns > 3e5,
        "{row:?}"
    );
    assert!(row.p99_ns.is_none() && row.p90_ns.is_some() && row.p50_ns.unwrap().low().is_none());
    let cpu = row.cpu_ns.unwrap().value;
    assert!(
        (cpu - 1_000.0).abs() < 100.0 && (row.cpu_cycles.unwrap() - 3.0 * cpu).abs() < 1e-6,
        "{cpu}"
    );
}

fn waits() -> impl Strategy<Value = Vec<Wait>> {
    let wild = (
        any::<u64>(),
        any::<i64>(),
        any::<i64>(),
        any::<Option<i64>>(),
        any::<Option<i64>>(),
    );
    let near = (
        0..100_u64,
        0..1_000_i64,
        0..1_000_i64,
        any::<Option<i64>>(),
        any::<Option<i64>>(),
    );
    let wait = |(request_ns, before, after, cpu_ns, run_delay_ns)| Wait {
        request_ns,
        before,
        after,
        cpu_ns,
        run_delay_ns,
    };
    prop::collection::vec(prop_oneof![wild, near].prop_map(wait), 0..40)
}

proptest! {
    #[test]
    fn arbitrary_input_never_panics(
        lists in prop::collection::vec(waits(), 5),
        arms in prop::collection::vec(any::<i64>(), 0..4),
        ns_per_tick in any::<f64>(),
        hertz in any::<Option<f64>>(),
    ) {
        let [empty, lengths, long, scan, other] = <[Vec<Wait>; 5]>::try_from(lists).unwrap();
        let reference = Reference { ns_per_tick, ..reference() };
        let runs = vec![
            WaitRun { empty, lengths, scans: vec![scan, other.clone(), Vec::new()], long, arms },
            WaitRun { lengths: other, ..WaitRun::default() },
            WaitRun::default(),
        ];
        let _ = figures(&WaitTrace { reference, blocks: true, runs }, hertz);
    }
}

/// On a loaded machine a wait is the later the longer it is: what was observed lies on a lattice of
/// longer steps than those that requests are rounded to.
#[test]
fn growing_lateness_is_no_step() {
    let (mut held, mut all) = (0, 0);
    for true_step in [1e6, 1.0008e6, 4e6] {
        for ppm in [0.0, 1_000.0, 8_100.0, 20_000.0] {
            for first in 0..8 {
                let model = WaitModel {
                    rounding: Some(true_step),
                    ppm,
                    ..noisy(true_step)
                };
                let mut trace = WaitTrace {
                    reference: reference(),
                    blocks: true,
                    runs: Vec::new(),
                };
                let to = (3.0 * true_step) as u64;
                for seed in 0..3 {
                    let requests = spread(60, to);
                    let scan = ask(
                        &mut VirtualWaits::new(&model, 10 * first + seed),
                        &requests,
                        to / 2,
                    );
                    trace.runs.push(WaitRun {
                        scans: vec![scan],
                        ..WaitRun::default()
                    });
                }
                let found = figures(&trace, None).steps[0].rounding;
                let Some(Granularity::Step(Interval { value, low, high })) = found else {
                    panic!("{true_step} {ppm}: {found:?}")
                };
                assert!(
                    (value / true_step - 1.0).abs() < 0.025,
                    "{true_step} {ppm}: {value}"
                );
                assert!(
                    (high - low) / true_step < 0.15,
                    "{true_step} {ppm}: [{low}, {high}]"
                );
                held += u32::from((low..=high).contains(&true_step));
                all += 1;
            }
        }
    }
    assert!(
        20 * held >= 19 * all,
        "{held} of {all} intervals hold the step"
    );
}
