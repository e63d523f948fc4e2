//! Tests the stability verdict on clocks with steps of 4 ms, whose updates may be late.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;

/// Returns the verdict on a clock with steps of 4 ms.
fn verdict_4_ms(close_comparisons: Vec<[i64; 3]>) -> Stable {
    let mut trace = trace(Evidence {
        close_comparisons,
        ..Evidence::default()
    });
    trace.runs.clear();
    let figures = resolved_profile(&trace, 4e6, StepRule::Jump);
    verdicts_on(&trace, &figures).stable
}

/// A clock with steps of 4 ms whose tick is sometimes late because the CPU that keeps it does not
/// run.
#[test]
fn late_tick_is_no_freeze() {
    let ticks = |now: i64| now / 4_000_000 * 4_000_000;
    let verdict = |read: &dyn Fn(i64) -> i64, apart: i64| {
        let close_comparisons: Vec<[i64; 3]> = (0..1_060_000_000 / apart)
            .map(|at| at * apart)
            .map(|now| [now, read(now + 30), now + 60])
            .collect();
        verdict_4_ms(close_comparisons)
    };
    let at = 400_000_000;
    let delayed = |for_ns: i64| {
        let is_late = move |now: i64| (at..at + for_ns).contains(&now);
        move |now: i64| ticks(if is_late(now) { at } else { now })
    };
    for (ms, apart) in [
        (18, 5_300_000),
        (25, 5_300_000),
        (38, 5_300_000),
        (18, 17_100_000),
        (38, 17_100_000),
        (38, 1_300_000),
    ] {
        let found = verdict(&delayed(ms * 1_000_000), apart);
        assert_stable(&found, Outcome::Pass, "");
        assert_eq!(leaps(&found), (0, 0), "{ms} ms: {}", found.evidence);
        assert!(found.smallest_jump_ns >= Some(1e7), "{found:?}");
    }
    let longer = verdict(&delayed(60_000_000), 5_300_000);
    assert_stable(&longer, Outcome::Fail, "");
    let lost = |now| ticks(if now < at { now } else { now - 20_000_000 });
    let lost = verdict(&lost, 5_300_000);
    assert_stable(&lost, Outcome::Fail, "");
    assert_eq!(lost.freezes, 1, "{}", lost.evidence);
    let ahead = |now| {
        ticks(
            now + if (at..at + 4_000_000).contains(&now) {
                20_000_000
            } else {
                0
            },
        )
    };
    let ahead = verdict(&ahead, 5_300_000);
    assert_stable(&ahead, Outcome::Fail, "");
    assert_eq!(ahead.jumps, 1, "{}", ahead.evidence);
}

/// A clock with steps of 4 ms that is compared about every 14 ms and, while a runtime is measured,
/// sometimes only after 150 ms.
#[test]
fn uneven_coarse_steps_are_no_jumps() {
    for seed in 0..12_u64 {
        let mut random = StdRng::seed_from_u64(seed);
        let mut random = |below: i64| random.random_range(0..below);
        let mut now = random(4_000_000);
        let close_comparisons: Vec<[i64; 3]> = (0..60)
            .map(|at| {
                now += 13_000_000 + random(2_000_000) + if at % 20 == 9 { 150_000_000 } else { 0 };
                [now, (now + 30) / 4_000_000 * 4_000_000, now + 60]
            })
            .collect();
        let found = verdict_4_ms(close_comparisons);
        assert_ne!(found.outcome, Outcome::Fail, "{seed}: {}", found.evidence);
        assert_eq!(leaps(&found), (0, 0), "{seed}");
    }
}

/// Returns comparisons of a clock that the timer interrupt moves, each some 200 ms after the one
/// before. The clock runs faster than its reference by `ppm`. Its reading is the last multiple of
/// 4 ms before the latest tick; `late_share` of the ticks come late, by up to five steps. A late
/// tick moves the clock by all steps that have passed, so its reading may lag by less than after
/// other ticks.
fn comparisons_at_ticks(seed: u64, count: usize, ppm: f64, late_share: f64) -> Vec<[i64; 3]> {
    const STEP_NS: i64 = 4_000_000;
    let mut random = StdRng::seed_from_u64(seed);
    let phase = random.random_range(0..STEP_NS);
    let mut ticks = vec![0];
    for tick in 0..count as i64 * 60 {
        let is_late = random.random_bool(late_share);
        let late = if is_late {
            random.random_range(0..5 * STEP_NS)
        } else {
            0
        };
        let at = tick * STEP_NS + phase + late;
        ticks.push(ticks[ticks.len() - 1].max(at));
    }
    let mut now = 0;
    let comparison = |_| {
        now += random.random_range(170_000_000..230_000_000);
        let own = (now as f64 * (1.0 + 1e-6 * ppm)) as i64;
        let tick = ticks[ticks.partition_point(|tick| *tick <= own) - 1];
        [now - 30, tick / STEP_NS * STEP_NS, now + 30]
    };
    (0..count).map(comparison).collect()
}

/// The kernel moves such a clock late now and then, also at an end of the watched time. If 3 % of
/// the ticks are late, a tenth of the comparisons lag by more or less than the others.
#[test]
fn late_ticks_are_no_false_rate() {
    for late_share in [0.0, 0.01, 0.03] {
        let (mut held, mut wrong, mut all) = (0, 0, 0);
        for count in [9, 13, 25] {
            for seed in 0..40 {
                let found = verdict_4_ms(comparisons_at_ticks(seed, count, 0.0, late_share));
                wrong += u32::from(found.evidence.contains("than its reference "));
                let (offset, half) = rate(&found);
                held += u32::from(offset.abs() <= half);
                all += 1;
            }
        }
        let allowed = if late_share < 0.03 { 0 } else { all / 100 };
        assert!(
            wrong <= allowed && held >= all - allowed,
            "{late_share}: {wrong} of {all} wrong, {held} intervals hold the rate of 0"
        );
    }
}

/// The first or the last comparison lags by less than the others, as it follows a late tick, or by
/// more, as it precedes one.
#[test]
fn end_beside_a_late_tick_is_no_false_rate() {
    for seed in 0..40 {
        let comparisons = comparisons_at_ticks(seed, 13, 0.0, 0.0);
        for (end, steps) in [(0, 1), (12, 1), (0, -2), (12, -2), (0, -5), (12, -5)] {
            let mut comparisons = comparisons.clone();
            comparisons[end][1] += steps * 4_000_000;
            assert_stable(&verdict_4_ms(comparisons), Outcome::Pass, "");
        }
    }
}

/// A rate error is found through late ticks, in either direction.
#[test]
fn false_rate_is_found_despite_late_ticks() {
    for (ppm, words) in [(5_000.0, "ppm faster than"), (-5_000.0, "ppm slower than")] {
        let mut found = 0;
        for seed in 0..50 {
            let verdict = verdict_4_ms(comparisons_at_ticks(seed, 13, ppm, 0.01));
            found +=
                u32::from(verdict.outcome == Outcome::Fail && verdict.evidence.contains(words));
        }
        assert!(found >= 48, "{ppm} ppm: found in {found} of 50");
    }
}
