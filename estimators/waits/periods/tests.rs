use proptest::collection::vec;
use proptest::prelude::*;
use simulated::{Delays, Missed, TickModel, VirtualTicks};
use timers::Subject;

use super::*;
use crate::trace::Reference;
use crate::waits::tests::{ascends, reference};

const PERIOD: u64 = 1_000_000;

fn figures_of(runs: impl IntoIterator<Item = PeriodObservations>) -> PeriodFigures {
    figures(&PeriodTrace {
        reference: reference(),
        period_ns: PERIOD,
        runs: runs.into_iter().collect(),
    })
}

/// A process with these times of wake-ups.
fn woken(times: impl IntoIterator<Item = i64>, start: Start) -> PeriodObservations {
    PeriodObservations {
        wakeups: times.into_iter().map(|time| (time, 1)).collect(),
        start,
        ..PeriodObservations::default()
    }
}

const ARMED: Start = Start::Between([0; 2]);

/// Returns the results for a simulated timer in three processes of 400 wake-ups, and the true
/// numbers of missed expirations: those that it reports, and all.
fn analyse(model: &TickModel, seed: u64) -> (PeriodFigures, [u64; 2]) {
    let mut missed = [0, 0];
    let found = figures_of((0..3).map(|process| {
        let mut ticks = VirtualTicks::new(model, seed * 100 + process);
        let answer = ticks.periods("reference", PERIOD, 400).unwrap();
        let reported = &ticks.missed()[..ticks.missed().len() - SETTLING_WAKEUPS];
        missed = [0, 1]
            .map(|which| missed[which] + reported.iter().map(|missed| missed[which]).sum::<u64>());
        PeriodObservations {
            wakeups: answer.list,
            start: answer.start,
            cpu_ns: answer.cpu_ns,
            ..PeriodObservations::default()
        }
    }));
    (found, missed)
}

fn model(missed: Missed, deviation: f64) -> TickModel {
    let delays = Delays {
        median: 40_000.0,
        deviation,
        tail: None,
    };
    TickModel {
        name: String::new(),
        missed,
        ppm: 7.0,
        delays,
        lost: 0.0,
    }
}

/// A process that is interrupted between the readings around the start does not shift the lateness.
#[test]
fn interrupted_start_is_left_out() {
    let run = |before: i64| {
        let times = (1..=200).map(|at| at * PERIOD as i64 + 20_000);
        woken(times, Start::Between([-before, 0]))
    };
    let found = figures_of([2_000, 400_000, 2_500].map(run));
    let late = found.lateness.unwrap().p50_ns.unwrap();
    assert!((late.value - 21_000.0).abs() < 1_000.0, "{late:?}");
}

#[test]
fn missed_expirations_are_exact() {
    let skip = |counted| Missed::Skip { counted };
    for missed in [Missed::Burst, skip(true), skip(false), Missed::Relative] {
        // The phase of a timer that drifts by 0.3 % passes many periods.
        let drifts = [7.0, -60.0, 60.0, -3_000.0, 3_000.0];
        let cases = [(1, 0.1), (2, 0.5), (3, 1.2)];
        for ((seed, deviation), ppm) in cases
            .into_iter()
            .flat_map(|case| drifts.map(|ppm| (case, ppm)))
        {
            let model = TickModel {
                lost: if missed.keeps_its_grid() { 0.01 } else { 0.0 },
                ppm,
                ..model(missed, deviation)
            };
            let (found, truth) = analyse(&model, seed);
            assert_eq!(
                [found.missed_reported, found.missed],
                truth,
                "{model:?} {found:?}"
            );
        }
    }
}

/// A loop that waits for multiples of 1 ms gets the CPU only in a part of each time slice. It makes
/// up for missed points in bursts, so that its rate stays the same.
#[test]
fn burst_keeps_rate_under_load() {
    for (slice, phase) in [(3_300_000, 0), (6_000_000, 700_000), (6_000_000, 2_900_000)] {
        let run = |process: i64| {
            // The loop runs in the last 100 µs of each slice, or in the second half of the slice.
            let blocked_ns = if slice == 3_300_000 {
                3_200_000
            } else {
                slice / 2
            };
            let due = (1..=400).map(|point| point * 1_000_000 + process);
            let wakes = due.scan(0, |last, due| {
                let within = (due + phase) % slice;
                let free = if within < blocked_ns {
                    due + blocked_ns - within
                } else {
                    due
                };
                *last = free.max(*last + 2_000);
                Some(*last)
            });
            woken(wakes, ARMED)
        };
        let found = figures_of((0..3).map(run));
        let rate = found.rate_error_ppm.unwrap().value;
        assert!(rate.abs() < 20_000.0, "{slice} {phase}: {rate} ppm");
        assert!(
            found.missed < 20,
            "{slice} {phase}: {} missed",
            found.missed
        );
    }
}

/// After a stall of an earlier version, of 3.5 periods, wake-ups do not count.
#[test]
fn stalls_end_what_counts() {
    let stalls = [130, 200, 270];
    let run = |process: i64| {
        let mut due = process;
        let wakeups = (0..400).map(|number: u32| {
            due += 1_000_000;
            let after = |stall: &u32| stall + 1 == number;
            due += if stalls.iter().any(after) {
                3_000_000
            } else {
                0
            };
            due + i64::from(500 * (number % 2))
        });
        PeriodObservations {
            stalls: stalls.into(),
            ..woken(wakeups, Start::default())
        }
    };
    let found = figures_of((0..3).map(run));
    assert_eq!((found.missed, found.expirations), (0, 3 * 131), "{found:?}");
}

#[test]
fn slow_loop_has_its_rate() {
    for late in [0.05, 0.1, 0.14, 1.0 / 6.0] {
        let mut model = model(Missed::Relative, 0.3);
        model.delays.median = late * PERIOD as f64;
        let (found, _) = analyse(&model, 4);
        let rate = found.rate_error_ppm.unwrap().value;
        assert!(
            (rate / (late * 1e6) - 1.0).abs() < 0.1,
            "{late}: {rate} ppm"
        );
    }
}

#[test]
fn lost_expirations_do_not_change_rate() {
    let model = TickModel {
        lost: 0.005,
        ..model(Missed::Skip { counted: false }, 0.1)
    };
    let (found, truth) = analyse(&model, 5);
    assert!(truth[1] > 0);
    let rate = found.rate_error_ppm.unwrap().value;
    assert!((rate - 7.0).abs() < 10.0, "{rate} ppm");
}

#[test]
fn stuck_timer_has_no_figures() {
    assert_eq!(figures(&PeriodTrace::default()), PeriodFigures::default());
    let stuck = woken([5; 20], Start::default());
    assert_eq!(figures_of([stuck]).rate_error_ppm, None);
}

/// A delay that is the same for all wake-ups is lateness: from when the timer was armed, not from
/// the earliest wake-up.
#[test]
fn constant_delay_is_lateness() {
    let late_by = |delay: i64, start: Start| {
        let times = (1..=400).map(|k| k * PERIOD as i64 + delay + k % 7);
        let run = woken(times, start);
        let found = figures_of([run.clone(), run]);
        let late = found
            .lateness
            .map(|late| (late.p50_ns.unwrap().value, late.early));
        (late, found.missed)
    };
    assert_eq!(late_by(65_000, ARMED), (Some((65_003.0, 0.0)), 0));
    let between = Start::Between([-500, 1_500]);
    assert_eq!(late_by(65_000, between), (Some((64_503.0, 0.0)), 0));
    // Early by rounding.
    assert_eq!(late_by(-900, ARMED), (Some((-897.0, 1.0)), 0));
    // Armed by a program that did not say when.
    assert_eq!(late_by(65_000, Start::Unknown), (None, 0));
}

proptest! {
    #[test]
    fn arbitrary_input_never_panics(
        wakeups in vec((any::<i64>(), any::<u64>()), 0..40),
        stalls in vec(any::<u32>(), 0..4),
        near in vec(0_u32..40, 0..4),
        start in any::<[i64; 2]>(),
        period_ns in any::<u64>(),
        // Traces with other rates are refused.
        ns_per_tick in 0.0..1e18_f64,
    ) {
        let reference = Reference { ns_per_tick, ..reference() };
        let runs = vec![
            PeriodObservations { wakeups: wakeups.clone(), stalls, start: Start::Relative, ..PeriodObservations::default() },
            PeriodObservations { wakeups: wakeups.clone(), stalls: near, ..PeriodObservations::default() },
            PeriodObservations { wakeups, stalls: Vec::new(), start: Start::Between(start), cpu_ns: Some(start[0]), signals: 0 },
        ];
        let found = figures(&PeriodTrace { reference, period_ns, runs });
        prop_assert!(found.lateness.iter().all(ascends), "{found:?}");
    }

    /// A loop that waits for the multiples of 1 ms, on a CPU that other threads take for a while
    /// now and then. However long, it misses nothing, and is never early.
    #[test]
    fn load_misses_nothing(
        preemptions in vec((1_i64..40, 1_i64..60), 60),
        seed in 0_i64..50,
    ) {
        const POINTS: i64 = PERIOD as i64;
        let run = |process: i64| {
            let mut taken = preemptions.iter().cycle().skip(process as usize);
            let (mut now, mut free) = (0, 0);
            let wake = |point: i64| {
                now = (point * POINTS).max(now) + 1_000 + (seed + process) % 7;
                while now >= free {
                    let (gap, length) = taken.next().expect("a cycle");
                    // The other threads run from then on.
                    let begin = free + gap * POINTS;
                    free = begin + length * POINTS;
                    if (begin..free).contains(&now) {
                        now = free;
                    }
                }
                now
            };
            woken((1..=400).map(wake), ARMED)
        };
        let found = figures_of((0..3).map(run));
        let late = found.lateness.unwrap();
        prop_assert!(ascends(&late) && late.p50_ns.unwrap().value >= 0.0);
        prop_assert_eq!(found.missed, 0);
    }
}

/// Each wake-up serves three due times, at the last of which it comes.
#[test]
fn merged_due_times_are_late_from_the_first() {
    let run = PeriodObservations {
        wakeups: (1..=400)
            .map(|turn| (3 * turn * PERIOD as i64, 3))
            .collect(),
        start: ARMED,
        ..PeriodObservations::default()
    };
    let late = figures_of([run.clone(), run]).lateness.unwrap();
    assert_eq!(late.p50_ns.unwrap().value, 2.0 * PERIOD as f64);
}
