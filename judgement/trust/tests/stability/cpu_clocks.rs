//! Tests the stability verdict on clocks of CPU time and cycle counters.

use super::*;

#[test]
fn cpu_time_may_not_run_ahead() {
    let judged = |series| {
        verdicts(Evidence {
            claims: claiming(Counted::ThreadCpu),
            series,
            ..Evidence::default()
        })
        .stable
    };
    assert_eq!(
        judged(series(1.0, |k, timer| if k >= 9 {
            timer - 300_000
        } else {
            timer
        }))
        .outcome,
        Outcome::NotApplicable
    );
    assert_eq!(
        judged(series(1.0, |k, timer| if k >= 9 {
            timer + 300_000
        } else {
            timer
        }))
        .outcome,
        Outcome::Fail
    );
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
    assert_eq!(found.outcome, Outcome::NotApplicable, "{}", found.evidence);
}

#[test]
fn cycles_are_not_compared_with_time() {
    let faster = series(1.0, |k, timer| if k >= 9 { timer + 300_000 } else { timer });
    let claims = claiming(Counted::ThreadCycles);
    let judged = |id: &str, syscall_ns: Option<f64>, cost: f64, trap_ns: f64| {
        let mut trace = trace(Evidence {
            claims,
            series: faster.clone(),
            ..Evidence::default()
        });
        trace.declared = false;
        let profile = Profile {
            cost: Some(Interval::exact(cost)),
            ..PROFILE.clone()
        };
        let baselines = ReadPathBaselines {
            system_call_ns: Some(50.0),
            trap_ns: Some(trap_ns),
            clock_source: Some("tsc".into()),
            ..ReadPathBaselines::default()
        };
        let properties = timers::find(id).map_or(Properties::default(), |entry| {
            entry.info.properties.into_owned()
        });
        judge(&Case {
            properties: &properties,
            syscall_ns,
            ..case(&trace, &profile, &baselines)
        })
    };
    let found = judged("perf-cycles", Some(160.0), 1_200.0, 805.0);
    assert_eq!(
        found.stable.outcome,
        Outcome::NotApplicable,
        "{}",
        found.stable.evidence
    );
    assert_eq!((found.stable.jumps, found.stable.offset_ppm), (0, None));
    assert_eq!(found.stable.shares_oscillator, None);
    assert!(found.disqualifying().next().is_none());
    assert_eq!(
        found.read_path.outcome,
        Outcome::Fail,
        "{}",
        found.read_path.evidence
    );
    assert!(
        found.read_path.evidence.contains("traps to the hypervisor"),
        "{}",
        found.read_path.evidence
    );
    for (id, syscall_ns, cost, trap) in [
        ("perf-cycles", Some(160.0), 330.0, 340.0),
        ("perf-cycles", None, 1_200.0, 805.0),
        ("runtime:cycles", None, 900.0, 805.0),
    ] {
        let path = judged(id, syscall_ns, cost, trap).read_path;
        assert_eq!(
            path.outcome,
            Outcome::Pass,
            "{id} for {cost}: {}",
            path.evidence
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
    assert_eq!(found.outcome, Outcome::Fail, "{}", found.evidence);
}
