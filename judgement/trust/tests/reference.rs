//! Tests references that wrap, and references that count less or more time than passed.

use super::*;

const WRAP: i64 = 1 << 28;

/// Returns comparisons of two clocks that may wrap, at a distance in nanoseconds.
fn comparisons(apart: i64, [reference, timer]: [i64; 2]) -> Vec<[i64; 3]> {
    let at = |time: i64| {
        [
            time.rem_euclid(reference),
            (time + 30).rem_euclid(timer),
            (time + 60).rem_euclid(reference),
        ]
    };
    (1..=8).map(|number| at(number * apart)).collect()
}

fn judged(sparse_comparisons: Vec<[i64; 3]>, passed_ns: Option<[u64; 2]>) -> Verdicts {
    verdicts(Evidence {
        sparse_comparisons,
        passed_ns,
        ..Evidence::default()
    })
}

const NEVER: i64 = i64::MAX;

#[test]
fn wrapping_reference_fails() {
    let itself = judged(comparisons(90_000_000, [WRAP, WRAP]), None);
    assert_judged(&itself, Question::Monotonic, Outcome::Fail, "");
    let back = "it went back between two comparisons, 2 times";
    assert_judged(&itself, Question::Stable, Outcome::Fail, back);
    assert_eq!(itself.monotonic.backward_steps, 2);
    let other = judged(comparisons(90_000_000, [WRAP, NEVER]), None);
    let why = "`reference` only, which itself went back";
    assert_judged(&other, Question::Stable, Outcome::NotTested, why);
    assert_eq!((other.stable.jumps, other.stable.offset_ppm), (0, None));
    assert_ne!(other.monotonic.outcome, Outcome::Fail, "it did not wrap");
}

/// Comparisons that are a whole turn apart, or nearly, so that no step backwards is visible.
#[test]
fn ends_compared_with_kernel_clock() {
    let (apart, passed) = (WRAP + 1_000_000, 7 * (WRAP + 1_000_000) as u64);
    let around = Some([passed - 50_000, passed + 50_000]);
    let itself = judged(comparisons(apart, [WRAP, WRAP]), around);
    let why = "passed by the kernel's clock";
    assert_judged(&itself, Question::Stable, Outcome::Fail, why);
    let other = judged(comparisons(apart, [WRAP, NEVER]), around);
    assert_judged(&other, Question::Stable, Outcome::NotTested, "");
    for passed in [
        around,
        None,
        Some([passed - passed / 1_500, passed - passed / 1_500 + 10]),
        Some([0, u64::MAX]),
    ] {
        let sound = judged(comparisons(apart, [NEVER, NEVER]), passed);
        assert_judged(&sound, Question::Stable, Outcome::Pass, "");
    }
}

/// The host reports that the reference moved backwards.
#[test]
fn backward_reference_of_host_fails() {
    let moved = |timer, reference| Advance {
        activity: ThreadActivity::Sleep,
        timer,
        reference,
    };
    for (timer, outcome) in [
        (-200_000_000, Outcome::Fail),
        (64_000_000, Outcome::NotTested),
    ] {
        let advances = vec![moved(64_000_000, 64_000_000), moved(timer, -200_000_000)];
        let found = verdicts(Evidence {
            advances,
            ..Evidence::default()
        });
        assert_judged(&found, Question::Stable, outcome, "");
    }
}
