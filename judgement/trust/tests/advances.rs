//! Tests the rates of timers on hosts that report only how far both clocks advanced.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::model::Stable;

/// Advances while the thread spins, sleeps, and sleeps next to a busy thread, each over a number of
/// milliseconds; `ppm` says how much faster than the reference the timer ran during each.
fn advances_at(ppm: &[f64], milliseconds: f64) -> Vec<Advance> {
    let kinds = [
        ThreadActivity::Spin,
        ThreadActivity::Sleep,
        ThreadActivity::OtherSpin,
    ];
    let advance = |(&activity, ppm): (&ThreadActivity, &f64)| {
        let reference = (1e6 * milliseconds) as i64;
        Advance {
            activity,
            timer: (reference as f64 * (1.0 + 1e-6 * ppm)) as i64,
            reference,
        }
    };
    kinds.iter().zip(ppm).map(advance).collect()
}

fn stable(advances: Vec<Advance>) -> Stable {
    verdicts(Evidence {
        claims: claiming(Counted::Wall),
        advances,
        ..Evidence::default()
    })
    .stable
}

#[test]
fn unknown_rate_is_not_tested() {
    for (ppm, milliseconds) in [
        (vec![10_300.0, -5_700.0, 1_000.0], 6.0),
        (vec![0.0, 0.0, 0.0], 6.0),
        (vec![0.0, 0.0], 100.0),
        (vec![400.0], 100.0),
        (vec![40.0, 30.0], 2.0),
    ] {
        let found = stable(advances_at(&ppm, milliseconds));
        assert_eq!(
            found.outcome,
            Outcome::NotTested,
            "{ppm:?}: {}",
            found.evidence
        );
        assert!(found.evidence.contains("ppm only"), "{}", found.evidence);
        assert!(
            found
                .offset_uncertainty_ppm
                .is_some_and(|uncertainty| uncertainty > 500.0),
            "{found:?}"
        );
    }
    let found = stable(advances_at(&[30.0, -20.0, 0.0], 300.0));
    assert_eq!(found.outcome, Outcome::Pass, "{}", found.evidence);
    assert!(
        found
            .offset_uncertainty_ppm
            .is_some_and(|uncertainty| uncertainty < 500.0),
        "{found:?}"
    );
}

#[test]
fn contradicting_answers_disqualify() {
    for (ppm, milliseconds) in [
        (vec![10_300.0, -5_700.0, 1_000.0], 100.0),
        (vec![50_000.0, -50_000.0, 0.0], 8.0),
    ] {
        let found = stable(advances_at(&ppm, milliseconds));
        assert_eq!(found.outcome, Outcome::Fail, "{ppm:?}: {}", found.evidence);
        assert!(
            found.evidence.contains("changes from one answer"),
            "{}",
            found.evidence
        );
        assert_eq!(found.offset_ppm, None);
    }
}

#[test]
fn only_all_answers_disqualify_rate() {
    for (ppm, words) in [
        (50_000.0, "it is faster than its reference by 50"),
        (-50_000.0, "it is slower than its reference by 50"),
    ] {
        let found = stable(advances_at(&[ppm, ppm + 200.0, ppm], 6.0));
        assert_eq!(found.outcome, Outcome::Fail, "{}", found.evidence);
        assert!(found.evidence.starts_with(words), "{}", found.evidence);
        let found = stable(advances_at(&[ppm], 6.0));
        assert_eq!(found.outcome, Outcome::NotTested, "{}", found.evidence);
        let short = advances_at(&[ppm], 1.0);
        let found = stable([short, advances_at(&[ppm, ppm], 250.0)].concat());
        assert_eq!(found.outcome, Outcome::Fail, "{}", found.evidence);
    }
}

/// A sound clock whose host reads it with cold code, and whose thread sometimes loses its CPU
/// between the readings of both clocks.
#[test]
fn cold_code_disqualifies_no_clock() {
    for seed in 0..500 {
        let mut random = StdRng::seed_from_u64(seed);
        let interrupted = random.random_range(0..4);
        let milliseconds = [2, 6, 20, 250][random.random_range(0..4_usize)];
        let kinds = [
            ThreadActivity::Spin,
            ThreadActivity::Sleep,
            ThreadActivity::OtherSpin,
        ];
        let count = random.random_range(1..=3);
        let advances: Vec<Advance> = (0..count)
            .map(|at| {
                let reference = 1_000_000 * milliseconds;
                let lost = if at == interrupted {
                    random.random_range(-9_000_000..9_000_000)
                } else {
                    0
                };
                let timer = (reference + random.random_range(-60_000..60_000) + lost).max(0);
                Advance {
                    activity: kinds[at],
                    timer,
                    reference,
                }
            })
            .collect();
        let found = stable(advances);
        assert_ne!(found.outcome, Outcome::Fail, "{seed}: {}", found.evidence);
    }
}

/// Each window has a different rate, up to 5 % off.
#[test]
fn changing_rate_never_passes() {
    let mut disqualified = 0;
    for seed in 0..200 {
        let mut random = StdRng::seed_from_u64(seed);
        let ppm: Vec<f64> = (0..3)
            .map(|_| random.random_range(-50_000.0..50_000.0))
            .collect();
        let found = stable(advances_at(&ppm, [6.0, 40.0][seed as usize % 2]));
        assert_ne!(found.outcome, Outcome::Pass, "{seed}: {}", found.evidence);
        disqualified += u32::from(found.outcome == Outcome::Fail);
    }
    assert!(disqualified > 60, "{disqualified}");
}

#[test]
fn cpu_time_asleep_has_no_rate() {
    let mut advances = advances_at(&[0.0, 0.0, 0.0], 6.0);
    advances[1].timer = 0;
    advances[2].timer /= 50;
    let found = stable(advances);
    assert_eq!(found.outcome, Outcome::NotTested, "{}", found.evidence);
}
