//! Stable: rates, jumps, freezes and windows.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;

fn series(rate: f64, disturb: impl Fn(usize, i64) -> i64) -> Vec<[i64; 3]> {
    (0..40_usize)
        .map(|k| {
            let reference = 1_000_000 * k as i64;
            let timer = ((reference + 30) as f64 * rate) as i64;
            [reference, disturb(k, timer), reference + 60]
        })
        .collect()
}

fn stable(series: Vec<[i64; 3]>) -> crate::model::Stable {
    verdicts(Evidence { claims: claiming(Counted::Wall), series, ..Evidence::default() }).stable
}

#[test]
fn a_steady_clock_is_stable() {
    let found = stable(series(1.0, |_, timer| timer));
    assert_eq!(found.outcome, Outcome::Pass, "{}", found.finding);
    assert_eq!((found.jumps, found.freezes), (0, 0));
    assert!(found.offset_ppm.is_some_and(|ppm| ppm.abs() < 1.0), "{found:?}");
    assert!(found.allan.iter().all(|point| point.deviation < 1e-5), "{found:?}");
    let windows: Vec<f64> = found.allan.iter().map(|point| (point.window_s * 1e3).round()).collect();
    assert_eq!(windows, [1.0, 2.0, 4.0, 8.0, 16.0]);
}

#[test]
fn slewing_is_allowed_and_drifting_is_not() {
    for (rate, outcome) in [
        (1.0 + 400e-6, Outcome::Pass),
        (1.0 - 400e-6, Outcome::Pass),
        (1.05, Outcome::Fail),
        (0.95, Outcome::Fail),
        (1.0 + 600e-6, Outcome::Fail),
    ] {
        let found = stable(series(rate, |_, timer| timer));
        assert_eq!(found.outcome, outcome, "{rate}: {}", found.finding);
        assert_eq!((found.jumps, found.freezes), (0, 0), "{rate}: a rate is neither");
    }
}

#[test]
fn jumps_and_freezes_are_told_apart() {
    let found = stable(series(1.0, |k, timer| if k >= 20 { timer + 50_000 } else { timer }));
    assert_eq!((found.outcome, found.jumps, found.freezes), (Outcome::Fail, 1, 0), "{}", found.finding);
    let found = stable(series(1.0, |k, timer| if k >= 20 { timer - 50_000 } else { timer }));
    assert_eq!((found.outcome, found.jumps, found.freezes), (Outcome::Fail, 0, 1), "{}", found.finding);
    assert!(found.largest_ns.is_some_and(|ns| (ns - 50_000.0).abs() < 100.0), "{found:?}");
}

#[test]
fn an_interrupted_comparison_proves_nothing() {
    let mut all = series(1.0, |_, timer| timer);
    // The reference was read, then the thread lost the CPU for 3 ms, then the timer was read.
    all[7] = [7_000_000, 10_000_030, 10_000_060];
    all[8] = [10_100_000, 10_100_030, 10_100_060];
    all.drain(9..12);
    assert_eq!(stable(all).outcome, Outcome::Pass);
}

#[test]
fn cpu_time_may_stand_still_but_not_run_ahead() {
    let of = |series| {
        verdicts(Evidence { claims: claiming(Counted::ThreadCpu), series, ..Evidence::default() }).stable
    };
    assert_eq!(
        of(series(1.0, |k, timer| if k >= 9 { timer - 300_000 } else { timer })).outcome,
        Outcome::NotApplicable
    );
    assert_eq!(
        of(series(1.0, |k, timer| if k >= 9 { timer + 300_000 } else { timer })).outcome,
        Outcome::Fail
    );
}

#[test]
fn cycles_follow_the_core_and_are_not_held_against_time() {
    let faster = series(1.0, |k, timer| if k >= 9 { timer + 300_000 } else { timer });
    let claims = claiming(Counted::ThreadCycles);
    let of = |id: &str, syscall_variant: Option<f64>, cost: f64, trap_ns: f64| {
        let mut trace = trace(Evidence { claims, series: faster.clone(), ..Evidence::default() });
        trace.declared = false;
        let mut profile = profile(&trace);
        profile.cost = Some(crate::model::Estimate { value: cost, low: cost, high: cost, samples: 1 });
        let yardsticks = Yardsticks {
            system_call_ns: Some(50.0),
            trap_ns: Some(trap_ns),
            clock_source: Some("tsc".into()),
            ..Yardsticks::default()
        };
        let syscall_variant =
            syscall_variant.map(|cost_ns| SyscallVariant { id: "perf-task-clock", cost_ns });
        let properties = timers::find(id)
            .map_or(Properties::default(), |entry| crate::native::properties(entry.info.properties));
        judge(&Case {
            id,
            properties: &properties,
            trace: &trace,
            profile: &profile,
            yardsticks: &yardsticks,
            syscall_variant,
        })
    };
    let found = of("rdpmc-cycles", None, 880.0, 805.0);
    assert_eq!(found.stable.outcome, Outcome::NotApplicable, "{}", found.stable.finding);
    assert_eq!((found.stable.jumps, found.stable.offset_ppm), (0, None));
    assert_eq!(found.stable.shares_oscillator, None);
    assert!(found.disqualifying().next().is_none());
    assert_eq!(found.read_path.outcome, Outcome::Fail, "{}", found.read_path.finding);
    assert!(found.read_path.finding.contains("without the hypervisor"), "{}", found.read_path.finding);
    assert_eq!(of("perf-cycles", Some(160.0), 1_200.0, 805.0).read_path.outcome, Outcome::Fail);
    for (id, syscall_variant, cost, trap) in [
        ("rdpmc-cycles", None, 880.0, 1_500.0),
        ("perf-cycles", Some(160.0), 330.0, 340.0),
        ("perf-cycles", None, 1_200.0, 805.0),
        ("runtime:cycles", None, 900.0, 805.0),
    ] {
        let path = of(id, syscall_variant, cost, trap).read_path;
        assert_eq!(path.outcome, Outcome::Pass, "{id} for {cost}: {}", path.finding);
    }
}

#[test]
fn cycles_that_leap_farther_than_any_core_runs_are_unstable() {
    let leap = series(1.0, |k, timer| if k >= 9 { timer + (1 << 48) } else { timer });
    let evidence = Evidence { claims: claiming(Counted::ThreadCycles), series: leap, ..Evidence::default() };
    let found = verdicts(evidence).stable;
    assert_eq!(found.outcome, Outcome::Fail, "{}", found.finding);
}

/// A clock of 4 ms steps that is looked at about once in 14 ms, and now and then, while a runtime is asked, after 150 ms.
#[test]
fn coarse_steps_at_uneven_distances_are_no_jumps() {
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
        let mut trace =
            trace(Evidence { claims: claiming(Counted::Wall), close_comparisons, ..Evidence::default() });
        trace.runs.clear();
        let mut profile = profile(&trace);
        let step = crate::model::Estimate { value: 4e6, low: 4e6, high: 4e6, samples: 1 };
        profile.resolution = Resolution::Resolved { step, rule: crate::analysis::resolution::Rule::Jump };
        let yardsticks = Yardsticks::default();
        let found = judge(&Case {
            id: "clock",
            properties: &Properties::default(),
            trace: &trace,
            profile: &profile,
            yardsticks: &yardsticks,
            syscall_variant: None,
        })
        .stable;
        assert_ne!(found.outcome, Outcome::Fail, "{seed}: {}", found.finding);
        assert_eq!((found.jumps, found.freezes), (0, 0), "{seed}");
    }
}

#[test]
fn windows_between_the_series_and_the_campaign_are_told_too() {
    let every = |count: i64, apart: i64| -> Vec<[i64; 3]> {
        (0..count).map(|k| [apart * k, apart * k + 30, apart * k + 60]).collect()
    };
    let evidence = Evidence {
        claims: claiming(Counted::Wall),
        series: every(17, 1_000_000),
        close_comparisons: every(60, 14_000_000),
        sparse_comparisons: every(10, 450_000_000),
        ..Evidence::default()
    };
    let found = verdicts(evidence).stable;
    assert_eq!(found.outcome, Outcome::Pass, "{}", found.finding);
    let windows: Vec<f64> = found.allan.iter().map(|point| (point.window_s * 1e3).round()).collect();
    assert_eq!(windows, [1.0, 2.0, 4.0, 14.0, 28.0, 56.0, 112.0, 224.0, 450.0, 900.0]);
}

#[test]
fn a_reference_that_strays_disqualifies_counters_like_it_and_nobody_else() {
    for (declared, outcome) in [(true, Outcome::NotTested), (false, Outcome::Fail)] {
        let series = series(1.0, |k, timer| if k >= 20 { timer + 50_000 } else { timer });
        let evidence = Evidence { claims: claiming(Counted::Wall), series, ..Evidence::default() };
        let mut trace = Trace { declared, ..trace(evidence) };
        trace.reference.strayed_ns = 5e6;
        let profile = profile(&trace);
        let yardsticks = Yardsticks::default();
        let case = Case {
            id: "clock",
            properties: &Properties::default(),
            trace: &trace,
            profile: &profile,
            yardsticks: &yardsticks,
            syscall_variant: None,
        };
        let found = judge(&case).stable;
        assert_eq!(found.outcome, outcome, "{}", found.finding);
    }
}

#[test]
fn what_is_not_known_of_the_rate_of_the_reference_is_uncertainty() {
    let evidence = || Evidence {
        claims: claiming(Counted::Wall),
        series: series(1.0 + 600e-6, |_, timer| timer),
        ..Evidence::default()
    };
    let judged = |rate_uncertainty| {
        let mut trace = trace(evidence());
        trace.reference.rate_uncertainty = rate_uncertainty;
        let mut profile = profile(&trace);
        let step = crate::model::Estimate { value: 1.0, low: 1.0, high: 1.0, samples: 1 };
        profile.resolution = Resolution::Resolved { step, rule: crate::analysis::resolution::Rule::Unit };
        let yardsticks = Yardsticks::default();
        judge(&Case {
            id: "clock",
            properties: &Properties::default(),
            trace: &trace,
            profile: &profile,
            yardsticks: &yardsticks,
            syscall_variant: None,
        })
    };
    assert_eq!(judged(0.0).stable.outcome, Outcome::Fail);
    assert_eq!(judged(0.0).declared.outcome, Outcome::Fail, "{}", judged(0.0).declared.finding);
    assert_eq!(judged(200e-6).stable.outcome, Outcome::Pass);
}

#[test]
fn cpu_time_that_is_often_interrupted_is_no_clock_that_jumps() {
    // Of every two milliseconds the thread got one or two.
    let mut ran = 0;
    let series = (0..40)
        .map(|k: i64| {
            ran += if k % 3 == 0 { 1_000_000 } else { 450_000 };
            [1_000_000 * k, ran, 1_000_000 * k + 60]
        })
        .collect();
    let evidence = Evidence { claims: claiming(Counted::ThreadCpu), series, ..Evidence::default() };
    let found = verdicts(evidence).stable;
    assert_eq!(found.outcome, Outcome::NotApplicable, "{}", found.finding);
}
