//! Tests the stability verdict on clocks of wall time compared at equal distances, and the
//! disagreement of their references.

use super::*;
use estimators::rate::correction::{LargeCorrection, WrongClocks};

#[test]
fn drifting_fails_and_slewing_passes() {
    for (share, outcome) in [
        (0.0, Outcome::Pass),
        (400e-6, Outcome::Pass),
        (-400e-6, Outcome::Pass),
        (0.05, Outcome::Fail),
        (-0.05, Outcome::Fail),
        (600e-6, Outcome::Fail),
    ] {
        let found = stable(series(1.0 + share, |_, timer| timer));
        assert_stable(&found, outcome, "");
        assert_eq!(leaps(&found), (0, 0), "{share}: a rate is neither");
        let off = rate(&found).0 - 1e6 * share;
        assert!(off.abs() < 1.0, "{share}: {found:?}");
    }
}

#[test]
fn jumps_and_freezes_differ() {
    for (ahead, expected) in [(50_000, (1, 0)), (-50_000, (0, 1))] {
        let found = stable(series(1.0, |k, timer| {
            timer + if k >= 20 { ahead } else { 0 }
        }));
        assert_stable(&found, Outcome::Fail, "");
        assert_eq!(leaps(&found), expected, "{}", found.evidence);
        let largest = found.largest_ns.unwrap_or_default();
        assert!((largest - 50_000.0).abs() < 100.0, "{found:?}");
    }
}

#[test]
fn interrupted_comparison_proves_nothing() {
    let mut all = series(1.0, |_, timer| timer);
    // The reference was read, then the thread lost the CPU for 3 ms, then the timer was read.
    all[7] = [7_000_000, 10_000_030, 10_000_060];
    all[8] = [10_100_000, 10_100_030, 10_100_060];
    all.drain(9..12);
    assert_eq!(stable(all).outcome, Outcome::Pass);
}

#[test]
fn inconsistent_reference_disqualifies_similar_counters() {
    for (declared, outcome) in [(true, Outcome::NotTested), (false, Outcome::Fail)] {
        let series = series(1.0, |k, timer| timer + if k >= 20 { 50_000 } else { 0 });
        let evidence = Evidence {
            series,
            ..Evidence::default()
        };
        let mut trace = Trace {
            declared,
            ..trace(evidence)
        };
        trace.reference.unexplained_deviation_ns = 5e6;
        let figures = figures(&trace);
        let baselines = ReadPathBaselines::default();
        let found = judge(&case(&trace, &figures, &baselines)).stable;
        assert_stable(&found, outcome, "");
    }
}

#[test]
fn reference_rate_error_is_uncertainty() {
    let judged = |rate_uncertainty| {
        let mut trace = trace(Evidence {
            series: series(1.0 + 600e-6, |_, timer| timer),
            ..Evidence::default()
        });
        trace.reference.rate_uncertainty = rate_uncertainty;
        let figures = resolved_profile(&trace, 1.0, StepRule::Unit);
        verdicts_on(&trace, &figures)
    };
    let known = judged(0.0);
    assert_judged(&known, Question::Declared, Outcome::Fail, "");
    assert_stable(&known.stable, Outcome::Fail, "");
    assert_stable(&judged(200e-6).stable, Outcome::Pass, "");
    assert_stable(&judged(501e-6).stable, Outcome::NotTested, "");
}

/// The verdict on the rate of a clock that runs this much faster than a reference, which counts the
/// time of the corrected clocks, while the kernel corrects their rate.
fn corrected(offset: f64, by: LargeCorrection) -> Stable {
    let comparison = |turn: i64| {
        let time = turn * 1_000_000;
        [time - 20, (time as f64 * (1.0 + offset)) as i64, time + 20]
    };
    let trace = trace(Evidence {
        claims: claiming(Counted::Wall),
        sparse_comparisons: (1..200).map(comparison).collect(),
        ..Evidence::default()
    });
    let figures = resolved_profile(&trace, 1.0, StepRule::Unit);
    let baselines = ReadPathBaselines::default();
    let mut case = case(&trace, &figures, &baselines);
    case.machine.correction = Some(by);
    judge(&case).stable
}

#[test]
fn large_correction_decides_which_clocks_are_wrong() {
    use Outcome::{Fail, NotTested, Pass};
    let share = 0.0417;
    let uncorrected = 1.0 / (1.0 + share) - 1.0;
    for (wrong, outcomes) in [
        (WrongClocks::Uncorrected, [Pass, Fail]),
        (WrongClocks::Corrected, [Fail, Pass]),
        (WrongClocks::Unknown, [NotTested, NotTested]),
    ] {
        for (offset, outcome) in [0.0, uncorrected].into_iter().zip(outcomes) {
            let found = corrected(offset, LargeCorrection { share, wrong });
            assert_stable(&found, outcome, "");
        }
        // Another rate is a fault of the clock.
        let found = corrected(0.02, LargeCorrection { share, wrong });
        assert_stable(&found, Fail, "");
    }
}
