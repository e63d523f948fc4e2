//! Tests of the resolution on simulated counters with known steps.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;

/// An interval that was measured once.
fn once(work: u64, delta: i64) -> Differences {
    Differences {
        work,
        deltas: vec![delta].into(),
    }
}

/// Differences of a counter, such as that of AMD's CPUs, that moves in steps of 26 ticks and returns
/// one tick more if it did not move since the last read. A read takes 23 ticks; the next interval
/// starts 3 ticks later.
fn intervals_of_unique_readings(seed: u64) -> Vec<Differences> {
    let mut random = StdRng::seed_from_u64(seed);
    let (mut now, mut last) = (random.random_range(0..26_i64), 0);
    let mut read = |passed: i64| {
        now += passed;
        last = (last + 1).max(now / 26 * 26);
        last
    };
    let mut groups: Vec<Differences> = (0..2_000)
        .map(|at| {
            let work = at * 7 % 12;
            let first = read(40);
            once(work, read(23 + 5 * work as i64) - first)
        })
        .collect();
    let without_work = (0..2_000).map(|_| {
        let first = read(4);
        read(23) - first
    });
    groups.push(Differences {
        work: 0,
        deltas: without_work.collect(),
    });
    groups
}

#[test]
fn unique_readings_keep_the_step() {
    for seed in 0..20 {
        let intervals = intervals_of_unique_readings(seed);
        match resolve(&intervals, &[], &KnownDurations::default()) {
            Step::Resolved { step, .. } => {
                assert!((step.value / 26.0 - 1.0).abs() < 1e-3, "{seed}: {step:?}");
                assert!(step.low <= 26.0 && 26.0 <= step.high, "{seed}: {step:?}");
            }
            other => panic!("{seed}: {other:?}"),
        }
    }
}

/// Differences of successive readings of a counter that moves by `step` ticks and makes readings
/// unique. A read takes `cost` ticks and up to two more at random; three in a thousand are
/// interrupted for 20 000 ticks or more.
fn differences_of_unique_readings(step: f64, cost: f64, seed: u64) -> Vec<i64> {
    let mut random = StdRng::seed_from_u64(seed);
    let (mut now, mut last) = (0.0, -1);
    let readings: Vec<i64> = (0..5_000)
        .map(|_| {
            now += cost + random.random_range(0.0..2.0);
            if random.random_bool(0.003) {
                now += random.random_range(2e4..2e5);
            }
            let shown = ((now / step).floor() * step).floor() as i64;
            last = (last + 1).max(shown);
            last
        })
        .collect();
    readings.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn successive_readings_resolve_unique_steps() {
    for (step, cost) in [
        (26.0, 23.0),
        (26.05, 9.0),
        (26.05, 31.0),
        (1_000.0, 30.0),
        (1_000.0, 38.0),
    ] {
        let series: Vec<Vec<i64>> = (0..10)
            .map(|seed| differences_of_unique_readings(step, cost, seed))
            .collect();
        // An estimate from other intervals, known to 0.3 %.
        let estimate = lattice::Lattice {
            step: 0.997 * step,
            error: 0.003 * step,
            at: 0.0,
            weight: 0.0,
            width: 0.0,
        };
        let found = estimate
            .refine_by_reading_differences(&series)
            .expect("there are many steps");
        let off = (found.step - step).abs();
        assert!(
            off <= 3.0 * found.error && off < 3e-4 * step,
            "step {step}, cost {cost}: {found:?}"
        );
    }
}

#[test]
fn longest_step_bounds_irregular_clock() {
    // A clock that the kernel updates every 4000 ticks and sometimes in between; one interval is
    // interrupted.
    let lengths = [4_000, 60, 3_900, 250, 1_100, 90, 4_000, 630, 2_200, 3_000];
    let mut groups: Vec<Differences> = (0..4_000)
        .map(|at| {
            let length = lengths[at as usize / 40 % 10];
            once(at % 50, if at % 40 == 0 { length } else { 0 })
        })
        .collect();
    groups[77].deltas[0] = 250_000;
    // Differences with much work cross many steps.
    groups.extend((0..900).map(|at| once(9_000 + at, 20_000 + 60 * at as i64)));
    match resolve(&groups, &[], &KnownDurations::default()) {
        Step::AtMost { bound, .. } => assert_eq!(bound, 4_000.0),
        other => panic!("{other:?}"),
    }
}

/// A machine on which all durations are multiples of 4 ticks: a read takes 8, a unit of work 8, and
/// the start of the work 12. A counter with steps of 4 ticks would show the same intervals.
#[test]
fn common_divisor_within_the_bound() {
    let mut random = StdRng::seed_from_u64(1);
    let deltas = |work: u64| if work == 0 { 16 } else { 20 + 8 * work as i64 };
    let groups: Vec<Differences> = (0..3_000)
        .map(|_| random.random_range(0..60))
        .map(|work| once(work, deltas(work)))
        .collect();
    let reading_differences = vec![vec![8; 500]; 3];
    let context = KnownDurations {
        cost: 9.0,
        work_unit: 8.0,
        reference_step: 1.0,
        ..KnownDurations::default()
    };
    match resolve(&groups, &reading_differences, &context) {
        Step::AtMost { bound, .. } => assert!(bound >= 4.0, "{bound}"),
        Step::Resolved { step, .. } => assert!(step.high >= 4.0, "{step:?}"),
        Step::Unmoved => panic!("the counter moves"),
    }
}

#[test]
fn one_jump_of_a_tick_is_sufficient() {
    let resolve_with_jump = |step: i64| {
        let mut groups: Vec<Differences> = (0..400).map(|at| once(at % 40, 0)).collect();
        groups[123].deltas = vec![step].into();
        resolve(&groups, &[], &KnownDurations::default())
    };
    let found = resolve_with_jump(1);
    let Step::Resolved {
        step,
        rule: StepRule::Unit,
    } = found
    else {
        panic!("{found:?}")
    };
    assert_eq!((step.value, step.low), (1.0, 1.0));
    // A step of 1.5 ticks shows one tick half of the time.
    assert!(step.high > 1.5 && step.high < 2.0, "{step:?}");
    let found = resolve_with_jump(2);
    assert!(matches!(found, Step::AtMost { .. }), "{found:?}");
}

/// A clock of 32 units of a finer counter, which a read takes almost: intervals without work are never
/// zero, but differences of readings are.
#[test]
fn readings_show_steps_of_one_unit() {
    let resolve_with = |jumps: [i64; 3]| {
        let groups: Vec<Differences> = (0..600)
            .map(|at| once(at % 40, 32 * (1 + at as i64 % 40 / 8 + at as i64 % 2)))
            .collect();
        let differences = jumps.into_iter().cycle().map(|jump| 32 * jump);
        let differences = differences.take(600).collect();
        resolve(&groups, &[differences], &KnownDurations::default())
    };
    let found = resolve_with([0, 0, 1]);
    assert!(
        matches!(&found, Step::Resolved { step, rule: StepRule::Unit } if step.value == 32.0 && step.high < 33.0),
        "{found:?}"
    );
    for jumps in [[0, 1, 2], [0, 0, 2], [1, 1, 1]] {
        let other = resolve_with(jumps);
        let is_unit = matches!(&other, Step::Resolved { step, .. } if step.high < 33.0);
        assert!(!is_unit, "{jumps:?}: {other:?}");
    }
}
