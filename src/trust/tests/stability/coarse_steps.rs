//! Tests the stability verdict on clocks with steps of 4 ms, whose updates may be late.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;

/// Returns the verdict on a clock with steps of 4 ms.
fn verdict_4_ms(close_comparisons: Vec<[i64; 3]>) -> crate::model::Stable {
    let mut trace = trace(Evidence {
        claims: claiming(Counted::Wall),
        close_comparisons,
        ..Evidence::default()
    });
    trace.runs.clear();
    let profile = resolved_profile(&trace, 4e6, Rule::Jump);
    verdicts_on(&trace, &profile, &ReadPathBaselines::default(), None).stable
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
    let delayed = |for_ns: i64| {
        move |now: i64| {
            if (400_000_000..400_000_000 + for_ns).contains(&now) {
                ticks(400_000_000)
            } else {
                ticks(now)
            }
        }
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
        assert_eq!(
            (found.outcome, found.jumps, found.freezes),
            (Outcome::Pass, 0, 0),
            "{ms} ms: {}",
            found.evidence
        );
        assert!(
            found.evidence.contains("updated late once"),
            "{}",
            found.evidence
        );
        assert!(
            found.smallest_jump_ns.is_some_and(|ns| ns >= 1e7),
            "{found:?}"
        );
    }
    let longer = verdict(&delayed(60_000_000), 5_300_000);
    assert_eq!(longer.outcome, Outcome::Fail, "{}", longer.evidence);
    let lost = verdict(
        &|now| {
            ticks(if now < 400_000_000 {
                now
            } else {
                now - 20_000_000
            })
        },
        5_300_000,
    );
    assert_eq!(
        (lost.outcome, lost.freezes),
        (Outcome::Fail, 1),
        "{}",
        lost.evidence
    );
    let back = verdict(
        &|now| {
            ticks(if (400_000_000..404_000_000).contains(&now) {
                now + 20_000_000
            } else {
                now
            })
        },
        5_300_000,
    );
    assert_eq!(
        (back.outcome, back.jumps),
        (Outcome::Fail, 1),
        "{}",
        back.evidence
    );
}

/// A clock with steps of 4 ms that is compared about every 14 ms and, while a runtime is measured,
/// sometimes only after 150 ms.
#[test]
fn uneven_coarse_steps_are_no_jumps() {
    for seed in 0..40_u64 {
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
        assert_eq!((found.jumps, found.freezes), (0, 0), "{seed}");
    }
}
