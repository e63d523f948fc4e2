//! Tests the comparison of two paths to one clock on simulated readings.

use simulated::paired_reads;

use super::*;
use crate::model::Paths;

/// Returns the verdict on a path whose readings are off by `skew_ns`.
fn judge_paths(step_ns: i64, read_ns: f64, skew_ns: i64, seed: u64) -> Paths {
    let readings = paired_reads(step_ns, read_ns, skew_ns, 5_000, seed);
    let other_paths = vec![OtherPath::from_readings(
        "monotonic",
        [1, 0],
        seed.is_multiple_of(2),
        &readings,
    )];
    verdicts(Evidence {
        other_paths,
        ..Evidence::default()
    })
    .paths
    .expect("it was asked")
}

#[test]
fn skew_of_one_step_is_found() {
    for seed in 0..40 {
        for (step, read) in [(100, 20.0), (1_000, 30.0), (4_000_000, 300.0)] {
            let sound = judge_paths(step, read, 0, seed);
            assert_eq!(
                sound.outcome,
                Outcome::Pass,
                "seed {seed}: {}",
                sound.evidence
            );
            for skew in [step, -step] {
                let off = judge_paths(step, read, skew, seed);
                assert_eq!(
                    off.outcome,
                    Outcome::Fail,
                    "seed {seed}, {skew} of {step}: {}",
                    off.evidence
                );
            }
        }
    }
}

#[test]
fn reported_size_is_detected() {
    for seed in 0..40 {
        let detectable = judge_paths(1, 20.0, 0, seed).compared[0].min_detected_ns;
        assert!((20.0..60.0).contains(&detectable), "{detectable}");
        for skew in [detectable as i64 + 1, -(detectable as i64) - 1] {
            let off = judge_paths(1, 20.0, skew, seed + 1_000);
            assert_eq!(
                off.outcome,
                Outcome::Fail,
                "seed {seed}, {skew}: {}",
                off.evidence
            );
        }
    }
}

#[test]
fn late_ticks_are_no_skew() {
    let coarse = |behind_ns: i64| {
        let readings = vec![[9_000_000_000, 9_000_000_000 - behind_ns, 9_000_000_040]; 3];
        let other_paths = vec![OtherPath::from_readings(
            "monotonic",
            [1, 4_000_000],
            false,
            &readings,
        )];
        verdicts(Evidence {
            other_paths,
            ..Evidence::default()
        })
        .paths
        .expect("it was asked")
        .outcome
    };
    assert_eq!(coarse(12_000_000), Outcome::Pass);
    assert_eq!(coarse(50_000_000), Outcome::Fail);
    assert_eq!(coarse(-100), Outcome::Fail);
    let microseconds = vec![[1_999, 1_000, 2_100]; 3];
    let other_paths = vec![OtherPath::from_readings(
        "monotonic",
        [1_000, 0],
        false,
        &microseconds,
    )];
    let cut = verdicts(Evidence {
        other_paths,
        ..Evidence::default()
    });
    assert_eq!(cut.answer(Question::Paths).outcome, Outcome::Pass);
    assert!(
        cut.answers()
            .any(|answer| answer.question == Question::Paths)
    );
    let unasked = verdicts(Evidence::default());
    assert!(unasked.paths.is_none() && unasked.answers().count() == 6);
    assert_eq!(
        unasked.answer(Question::Paths).outcome,
        Outcome::NotApplicable
    );
}

/// The verdict on each of two paths that differ by 50 µs, if a third path through the kernel differs
/// from the enclosing one by `third_ns`, and these paths go back by themselves.
fn blame(third_ns: Option<i64>, went_back: [bool; 2]) -> [Option<Outcome>; 2] {
    let off = |skew_ns: i64| {
        let readings = vec![[1_000_000, 1_000_010 + skew_ns, 1_000_030]; 3];
        OtherPath::from_readings("monotonic", [1, 0], false, &readings)
    };
    let (found, third) = (off(50_000), off(third_ns.unwrap_or(0)));
    let comparison = |inner_id, found, went_back| PathComparison {
        inner_id,
        step_ns: Some(1.0),
        went_back,
        found,
    };
    let mut paths = vec![comparison("monotonic-syscall", &found, went_back)];
    if third_ns.is_some() {
        paths.push(comparison(
            "monotonic-coarse-syscall",
            &third,
            [false, false],
        ));
    }
    let trace = trace(Evidence::default());
    ["monotonic-syscall", "monotonic"].map(|id| {
        let baselines = ReadPathBaselines::default();
        let mut case = case(&trace, &PROFILE, &baselines);
        case.id = id;
        case.machine.paths = &paths;
        Some(judge(&case).paths?.outcome)
    })
}

#[test]
fn a_third_path_decides() {
    use Outcome::{Fail, NotTested};
    let [inner_wrong, outer_wrong, unknown] =
        [[Fail, NotTested], [NotTested, Fail], [NotTested, NotTested]]
            .map(|outcomes| outcomes.map(Some));
    assert_eq!(blame(None, [false, false]), unknown);
    assert_eq!(blame(Some(0), [false, false]), inner_wrong);
    assert_eq!(blame(Some(50_000), [false, false]), outer_wrong);
    // The sound path is not blamed for one that goes back.
    assert_eq!(blame(None, [false, true]), outer_wrong);
    assert_eq!(blame(None, [true, false]), inner_wrong);
}
