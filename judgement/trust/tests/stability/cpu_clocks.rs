//! Tests the stability verdict on clocks of CPU time and cycle counters.

use super::*;

/// The verdict on a clock that claims to count this.
fn judged(counts: Counted, series: Vec<[i64; 3]>) -> Stable {
    let evidence = Evidence {
        claims: claiming(counts),
        series,
        ..Evidence::default()
    };
    verdicts(evidence).stable
}

/// Comparisons of a clock that leaps ahead by this.
fn leaping(by: i64) -> Vec<[i64; 3]> {
    series(1.0, |k, timer| timer + if k >= 9 { by } else { 0 })
}

#[test]
fn cpu_time_may_not_run_ahead() {
    for (counts, by, outcome) in [
        (Counted::ThreadCpu, -300_000, Outcome::NotApplicable),
        (Counted::ThreadCpu, 300_000, Outcome::Fail),
        (Counted::ThreadCycles, 1 << 48, Outcome::Fail),
    ] {
        assert_stable(&judged(counts, leaping(by)), outcome, "");
    }
}

#[test]
fn interrupted_cpu_time_does_not_jump() {
    // In each period of two milliseconds the thread ran for one or two.
    let mut ran = 0;
    let series = (0..40).map(|k: i64| {
        ran += if k % 3 == 0 { 1_000_000 } else { 450_000 };
        [1_000_000 * k, ran, 1_000_000 * k + 60]
    });
    let found = judged(Counted::ThreadCpu, series.collect());
    assert_stable(&found, Outcome::NotApplicable, "");
}

#[test]
fn cycles_are_not_compared_with_time() {
    let with_costs = |id: &str, syscall_ns: Option<f64>, cost: f64, trap_ns: f64| {
        let mut trace = trace(Evidence {
            claims: claiming(Counted::ThreadCycles),
            series: leaping(300_000),
            ..Evidence::default()
        });
        trace.declared = false;
        let figures = Figures {
            cost: Some(Estimate::exact(cost)),
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
            ..case(&trace, &figures, &baselines)
        })
    };
    let found = with_costs("perf-cycles", Some(160.0), 1_200.0, 805.0);
    assert_stable(&found.stable, Outcome::NotApplicable, "");
    assert_eq!((found.stable.jumps, found.stable.offset_ppm), (0, None));
    assert_eq!(found.stable.shares_oscillator, None);
    assert!(found.disqualifying().next().is_none());
    let trap = "traps to the hypervisor";
    for (id, syscall_ns, cost, trap_ns, outcome, words) in [
        (
            "perf-cycles",
            Some(160.0),
            1_200.0,
            805.0,
            Outcome::Fail,
            trap,
        ),
        ("perf-cycles", Some(160.0), 330.0, 340.0, Outcome::Pass, ""),
        ("perf-cycles", None, 1_200.0, 805.0, Outcome::Pass, ""),
        ("runtime:cycles", None, 900.0, 805.0, Outcome::Pass, ""),
    ] {
        let found = with_costs(id, syscall_ns, cost, trap_ns);
        assert_judged(&found, Question::ReadPath, outcome, words);
    }
}
