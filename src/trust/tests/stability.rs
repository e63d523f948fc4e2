//! Tests the stability verdict: rates, jumps, freezes and windows.

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
    verdicts(Evidence {
        claims: claiming(Counted::Wall),
        series,
        ..Evidence::default()
    })
    .stable
}

#[test]
fn a_steady_clock_is_stable() {
    let found = stable(series(1.0, |_, timer| timer));
    assert_eq!(found.outcome, Outcome::Pass, "{}", found.finding);
    assert_eq!((found.jumps, found.freezes), (0, 0));
    assert!(
        found.offset_ppm.is_some_and(|ppm| ppm.abs() < 1.0),
        "{found:?}"
    );
    assert!(
        found.allan.iter().all(|point| point.deviation < 1e-5),
        "{found:?}"
    );
    let windows: Vec<f64> = found
        .allan
        .iter()
        .map(|point| (point.window_s * 1e3).round())
        .collect();
    assert_eq!(windows, [1.0, 2.0, 4.0, 8.0, 16.0]);
}

#[test]
fn drifting_fails_and_slewing_passes() {
    for (rate, outcome) in [
        (1.0 + 400e-6, Outcome::Pass),
        (1.0 - 400e-6, Outcome::Pass),
        (1.05, Outcome::Fail),
        (0.95, Outcome::Fail),
        (1.0 + 600e-6, Outcome::Fail),
    ] {
        let found = stable(series(rate, |_, timer| timer));
        assert_eq!(found.outcome, outcome, "{rate}: {}", found.finding);
        assert_eq!(
            (found.jumps, found.freezes),
            (0, 0),
            "{rate}: a rate is neither"
        );
    }
}

#[test]
fn jumps_and_freezes_differ() {
    let found = stable(series(
        1.0,
        |k, timer| if k >= 20 { timer + 50_000 } else { timer },
    ));
    assert_eq!(
        (found.outcome, found.jumps, found.freezes),
        (Outcome::Fail, 1, 0),
        "{}",
        found.finding
    );
    let found = stable(series(
        1.0,
        |k, timer| if k >= 20 { timer - 50_000 } else { timer },
    ));
    assert_eq!(
        (found.outcome, found.jumps, found.freezes),
        (Outcome::Fail, 0, 1),
        "{}",
        found.finding
    );
    assert!(
        found
            .largest_ns
            .is_some_and(|ns| (ns - 50_000.0).abs() < 100.0),
        "{found:?}"
    );
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
fn cpu_time_may_not_run_ahead() {
    let of = |series| {
        verdicts(Evidence {
            claims: claiming(Counted::ThreadCpu),
            series,
            ..Evidence::default()
        })
        .stable
    };
    assert_eq!(
        of(series(1.0, |k, timer| if k >= 9 {
            timer - 300_000
        } else {
            timer
        }))
        .outcome,
        Outcome::NotApplicable
    );
    assert_eq!(
        of(series(1.0, |k, timer| if k >= 9 {
            timer + 300_000
        } else {
            timer
        }))
        .outcome,
        Outcome::Fail
    );
}

#[test]
fn cycles_are_not_compared_with_time() {
    let faster = series(1.0, |k, timer| if k >= 9 { timer + 300_000 } else { timer });
    let claims = claiming(Counted::ThreadCycles);
    let of = |id: &str, syscall_variant: Option<f64>, cost: f64, trap_ns: f64| {
        let mut trace = trace(Evidence {
            claims,
            series: faster.clone(),
            ..Evidence::default()
        });
        trace.declared = false;
        let mut profile = profile(&trace);
        profile.cost = Some(crate::model::Interval {
            value: cost,
            low: cost,
            high: cost,
        });
        let yardsticks = Yardsticks {
            system_call_ns: Some(50.0),
            trap_ns: Some(trap_ns),
            clock_source: Some("tsc".into()),
            ..Yardsticks::default()
        };
        let syscall_variant = syscall_variant.map(|cost_ns| SyscallVariant {
            id: "perf-task-clock",
            cost_ns,
        });
        let properties = timers::find(id).map_or(Properties::default(), |entry| {
            entry.info.properties.into_owned()
        });
        judge(&Case {
            properties: &properties,
            trace: &trace,
            profile: &profile,
            yardsticks: &yardsticks,
            syscall_variant,
        })
    };
    let found = of("rdpmc-cycles", None, 880.0, 805.0);
    assert_eq!(
        found.stable.outcome,
        Outcome::NotApplicable,
        "{}",
        found.stable.finding
    );
    assert_eq!((found.stable.jumps, found.stable.offset_ppm), (0, None));
    assert_eq!(found.stable.shares_oscillator, None);
    assert!(found.disqualifying().next().is_none());
    assert_eq!(
        found.read_path.outcome,
        Outcome::Fail,
        "{}",
        found.read_path.finding
    );
    assert!(
        found.read_path.finding.contains("traps to the hypervisor"),
        "{}",
        found.read_path.finding
    );
    assert_eq!(
        of("perf-cycles", Some(160.0), 1_200.0, 805.0)
            .read_path
            .outcome,
        Outcome::Fail
    );
    for (id, syscall_variant, cost, trap) in [
        ("rdpmc-cycles", None, 880.0, 1_500.0),
        ("perf-cycles", Some(160.0), 330.0, 340.0),
        ("perf-cycles", None, 1_200.0, 805.0),
        ("runtime:cycles", None, 900.0, 805.0),
    ] {
        let path = of(id, syscall_variant, cost, trap).read_path;
        assert_eq!(
            path.outcome,
            Outcome::Pass,
            "{id} for {cost}: {}",
            path.finding
        );
    }
}

#[test]
fn leaping_cycles_are_unstable() {
    let leap = series(
        1.0,
        |k, timer| if k >= 9 { timer + (1 << 48) } else { timer },
    );
    let evidence = Evidence {
        claims: claiming(Counted::ThreadCycles),
        series: leap,
        ..Evidence::default()
    };
    let found = verdicts(evidence).stable;
    assert_eq!(found.outcome, Outcome::Fail, "{}", found.finding);
}

/// Returns the verdict on a clock with steps of 4 ms.
fn verdict_4_ms(close_comparisons: Vec<[i64; 3]>) -> crate::model::Stable {
    let mut trace = trace(Evidence {
        claims: claiming(Counted::Wall),
        close_comparisons,
        ..Evidence::default()
    });
    trace.runs.clear();
    let mut profile = profile(&trace);
    let step = crate::model::Interval {
        value: 4e6,
        low: 4e6,
        high: 4e6,
    };
    profile.resolution = Resolution::Resolved {
        step,
        rule: crate::resolution::Rule::Jump,
    };
    let yardsticks = Yardsticks::default();
    judge(&Case {
        properties: &Properties::default(),
        trace: &trace,
        profile: &profile,
        yardsticks: &yardsticks,
        syscall_variant: None,
    })
    .stable
}

/// A clock with steps of 4 ms whose tick is sometimes late because the CPU that keeps it does not
/// run.
#[test]
fn late_tick_is_no_freeze() {
    let ticks = |now: i64| now / 4_000_000 * 4_000_000;
    let of = |read: &dyn Fn(i64) -> i64, apart: i64| {
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
        let found = of(&delayed(ms * 1_000_000), apart);
        assert_eq!(
            (found.outcome, found.jumps, found.freezes),
            (Outcome::Pass, 0, 0),
            "{ms} ms: {}",
            found.finding
        );
        assert!(
            found.finding.contains("updated late once"),
            "{}",
            found.finding
        );
        assert!(
            found.smallest_jump_ns.is_some_and(|ns| ns >= 1e7),
            "{found:?}"
        );
    }
    let longer = of(&delayed(60_000_000), 5_300_000);
    assert_eq!(longer.outcome, Outcome::Fail, "{}", longer.finding);
    let lost = of(
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
        lost.finding
    );
    let back = of(
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
        back.finding
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
        assert_ne!(found.outcome, Outcome::Fail, "{seed}: {}", found.finding);
        assert_eq!((found.jumps, found.freezes), (0, 0), "{seed}");
    }
}

#[test]
fn all_windows_are_reported() {
    let every = |count: i64, apart: i64| -> Vec<[i64; 3]> {
        (0..count)
            .map(|k| [apart * k, apart * k + 30, apart * k + 60])
            .collect()
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
    let windows: Vec<f64> = found
        .allan
        .iter()
        .map(|point| (point.window_s * 1e3).round())
        .collect();
    assert_eq!(
        windows,
        [1.0, 2.0, 4.0, 14.0, 28.0, 56.0, 112.0, 224.0, 450.0, 900.0]
    );
}

#[test]
fn inconsistent_reference_disqualifies_similar_counters() {
    for (declared, outcome) in [(true, Outcome::NotTested), (false, Outcome::Fail)] {
        let series = series(1.0, |k, timer| if k >= 20 { timer + 50_000 } else { timer });
        let evidence = Evidence {
            claims: claiming(Counted::Wall),
            series,
            ..Evidence::default()
        };
        let mut trace = Trace {
            declared,
            ..trace(evidence)
        };
        trace.reference.strayed_ns = 5e6;
        let profile = profile(&trace);
        let yardsticks = Yardsticks::default();
        let case = Case {
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
fn reference_rate_error_is_uncertainty() {
    let evidence = || Evidence {
        claims: claiming(Counted::Wall),
        series: series(1.0 + 600e-6, |_, timer| timer),
        ..Evidence::default()
    };
    let judged = |rate_uncertainty| {
        let mut trace = trace(evidence());
        trace.reference.rate_uncertainty = rate_uncertainty;
        let mut profile = profile(&trace);
        let step = crate::model::Interval {
            value: 1.0,
            low: 1.0,
            high: 1.0,
        };
        profile.resolution = Resolution::Resolved {
            step,
            rule: crate::resolution::Rule::Unit,
        };
        let yardsticks = Yardsticks::default();
        judge(&Case {
            properties: &Properties::default(),
            trace: &trace,
            profile: &profile,
            yardsticks: &yardsticks,
            syscall_variant: None,
        })
    };
    assert_eq!(judged(0.0).stable.outcome, Outcome::Fail);
    assert_eq!(
        judged(0.0).declared.outcome,
        Outcome::Fail,
        "{}",
        judged(0.0).declared.finding
    );
    assert_eq!(judged(200e-6).stable.outcome, Outcome::Pass);
}

#[test]
fn interrupted_cpu_time_does_not_jump() {
    // In each period of two milliseconds the thread ran for one or two.
    let mut ran = 0;
    let series = (0..40)
        .map(|k: i64| {
            ran += if k % 3 == 0 { 1_000_000 } else { 450_000 };
            [1_000_000 * k, ran, 1_000_000 * k + 60]
        })
        .collect();
    let evidence = Evidence {
        claims: claiming(Counted::ThreadCpu),
        series,
        ..Evidence::default()
    };
    let found = verdicts(evidence).stable;
    assert_eq!(found.outcome, Outcome::NotApplicable, "{}", found.finding);
}

/// Returns comparisons of a clock at a distance of `apart` nanoseconds ± 10 %, each 60 ns wide;
/// `ahead` gives its offset from the reference at a time, in nanoseconds.
fn looked_at(apart: i64, count: usize, seed: u64, ahead: impl Fn(f64) -> f64) -> Vec<[i64; 3]> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut now = 0;
    (0..count)
        .map(|_| {
            now += apart + random.random_range(-apart / 10..=apart / 10);
            let read = now + random.random_range(1..60);
            [now, read + ahead(read as f64) as i64, now + 60]
        })
        .collect()
}

fn seldom(sparse_comparisons: Vec<[i64; 3]>) -> crate::model::Stable {
    verdicts(Evidence {
        claims: claiming(Counted::Wall),
        sparse_comparisons,
        ..Evidence::default()
    })
    .stable
}

/// Returns whether a jump was found, or could have been too small to be found.
fn found_or_not_claimed(found: &crate::model::Stable, jump_ns: f64) -> bool {
    found.jumps + found.freezes > 0 || found.smallest_jump_ns.is_some_and(|seen| seen >= jump_ns)
}

#[test]
fn jumps_of_any_length_are_found() {
    for (apart, jump) in [
        (8_000_000_000, 8e6),
        (8_000_000_000, 30e6),
        (1_500_000_000, 1e6),
        (500_000_000, 1e6),
    ] {
        for seed in 0..50 {
            let at = apart as f64 * (1.5 + seed as f64 / 10.0);
            let found = seldom(looked_at(
                apart,
                9,
                seed,
                |now| if now > at { jump } else { 0.0 },
            ));
            assert!(
                found_or_not_claimed(&found, jump),
                "{apart} {jump}: {}",
                found.finding
            );
            let (offset, half) = (
                found.offset_ppm.unwrap(),
                found.offset_uncertainty_ppm.unwrap(),
            );
            assert!(
                offset.abs() <= half,
                "{apart} {jump}: {offset} ± {half} ppm of a clock that keeps its rate"
            );
            assert!(
                found.finding.contains(" ns")
                    || found.finding.contains(" µs")
                    || found.finding.contains("ms")
            );
        }
    }
    let found = seldom(looked_at(500_000_000, 9, 1, |now| {
        if now > 2e9 { 30e6 } else { 0.0 }
    }));
    assert_eq!(
        (found.outcome, found.jumps),
        (Outcome::Fail, 1),
        "{}",
        found.finding
    );
}

/// The clock loses 1 000 ppm and jumps ahead by 100 µs ten times a second, so that its mean rate is
/// right.
#[test]
fn jumps_make_rate_uncertain() {
    let ahead = |now: f64| 1e5 * (now / 1e8).floor() - 1e-3 * now;
    let (mut held, mut all) = (0, 0);
    for seed in 0..200 {
        for (apart, count) in [(150_000_000, 12), (400_000_000, 30), (1_500_000_000, 9)] {
            let found = seldom(looked_at(apart, count, seed, ahead));
            assert!(found_or_not_claimed(&found, 1e5), "{}", found.finding);
            let (offset, half) = (
                found.offset_ppm.unwrap(),
                found.offset_uncertainty_ppm.unwrap(),
            );
            held += u32::from(offset.abs() <= half);
            all += 1;
        }
        // Closely spaced comparisons find the jumps.
        let close_comparisons = looked_at(14_000_000, 60, seed, ahead);
        let claims = claiming(Counted::Wall);
        let close = verdicts(Evidence {
            claims,
            close_comparisons,
            ..Evidence::default()
        })
        .stable;
        assert_eq!(close.outcome, Outcome::Fail, "{}", close.finding);
    }
    assert!(
        20 * held >= 19 * all,
        "{held} of {all} intervals hold the rate of 0"
    );
}

#[test]
fn steady_clock_has_narrow_interval() {
    for seed in 0..50 {
        let found = seldom(looked_at(500_000_000, 25, seed, |now| 3e-6 * now));
        let (offset, half) = (
            found.offset_ppm.unwrap(),
            found.offset_uncertainty_ppm.unwrap(),
        );
        assert!(
            (offset - 3.0).abs() <= half && half < 0.02,
            "{offset} ± {half}"
        );
    }
}

/// Returns the verdict for windows of 40 ms, each in a separate process that runs faster by a
/// number of ppm.
fn verdict_for_processes(ppm: &[f64]) -> crate::model::Stable {
    let process_comparisons = ppm
        .iter()
        .enumerate()
        .map(|(seed, ppm)| {
            let ends = looked_at(40_000_000, 2, seed as u64, |now| 1e-6 * ppm * now);
            [ends[0], ends[1]]
        })
        .collect();
    let sparse_comparisons = looked_at(500_000_000, 25, 7, |now| -0.47e-6 * now);
    let claims = claiming(Counted::Wall);
    verdicts(Evidence {
        claims,
        sparse_comparisons,
        process_comparisons,
        ..Evidence::default()
    })
    .stable
}

#[test]
fn processes_rates_bound_the_uncertainty() {
    // Thirteen runs of a clock that calibrates itself.
    let mut found_by = vec![-0.47; 9];
    let agreeing = verdict_for_processes(&found_by);
    let (offset, half) = (
        agreeing.offset_ppm.unwrap(),
        agreeing.offset_uncertainty_ppm.unwrap(),
    );
    assert!(
        (offset + 0.47).abs() < 0.01 && (1.0..6.0).contains(&half),
        "{offset} ± {half}"
    );
    assert_eq!(agreeing.rate_processes, Some(9));
    assert!(
        agreeing
            .finding
            .contains("9 fresh processes agree within that"),
        "{}",
        agreeing.finding
    );
    found_by.extend([-1.7, 0.8, 16.9, 18.1]);
    let found = verdict_for_processes(&found_by);
    let (offset, half) = (
        found.offset_ppm.unwrap(),
        found.offset_uncertainty_ppm.unwrap(),
    );
    assert!(
        found_by.iter().all(|ppm| (ppm - offset).abs() <= half),
        "{offset} ± {half}"
    );
    assert_eq!(found.outcome, Outcome::Pass, "{}", found.finding);
    assert!(
        found.finding.contains("13 fresh processes ran at"),
        "{}",
        found.finding
    );
    assert!(
        found.finding.contains("reference to -0.47 ± "),
        "what is told holds what they ran at: {}",
        found.finding
    );
    // The process of the long window may be the outlier.
    let outlier = verdict_for_processes(&[18.1; 9]);
    let (offset, half) = (
        outlier.offset_ppm.unwrap(),
        outlier.offset_uncertainty_ppm.unwrap(),
    );
    assert!(
        (offset - 18.1).abs() < 4.0 && offset - half <= -0.47,
        "{offset} ± {half}"
    );
}

#[test]
fn false_rates_of_most_disqualify() {
    let found = verdict_for_processes(&[0.0, 5_000.0, 5_000.0]);
    assert_eq!(found.outcome, Outcome::Fail, "{}", found.finding);
    // One outlier in several processes may occur by chance: its rate is in the interval.
    let found = verdict_for_processes(&[0.0, 0.0, 5_000.0]);
    assert_eq!(found.outcome, Outcome::Pass, "{}", found.finding);
    let half = found.offset_uncertainty_ppm.unwrap();
    assert!(
        half >= 4_990.0 && found.finding.contains("3 fresh processes ran at"),
        "±{half}: {}",
        found.finding
    );
}
