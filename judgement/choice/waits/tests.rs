//! Tests which timers are punctual.

use super::*;
use crate::model::{PeriodFigures, WaitFigures};

fn lateness(counts: &[(f64, u64)]) -> Lateness {
    Lateness {
        request_ns: 1_000_000,
        waits: counts.iter().map(|(_, count)| count).sum(),
        uncertainty_ns: 60.0,
        ..Lateness::default()
    }
}

#[test]
fn periods_are_summed_up() {
    let row = |(id, means, late_ns): (&str, _, f64)| PeriodRow {
        head: RowHead {
            id: id.into(),
            ..RowHead::default()
        },
        conditions: WaitConditions::default(),
        period_ns: 2_000_000,
        means,
        figures: Some(PeriodFigures {
            lateness: Some(Lateness {
                p50_ns: Some(Interval::exact(late_ns)),
                max_ns: if id == "spin" { 1e5 } else { 1e6 },
                waits: 400,
                ..Lateness::default()
            }),
            rate_error_ppm: Some(Interval::exact(if id == "loop" { 2_500.0 } else { 2.0 })),
            ..PeriodFigures::default()
        }),
    };
    let (blocks, spins) = (WaitActivity::Blocks, WaitActivity::Spins);
    let loops = ("loop", blocks, 5_000.0);
    let timer = ("timer", blocks, 20_000.0);
    let timer_text = "use timer: late by 20.00 µs (median of 400 waits), 1.000 ms at worst";
    let spin_text = "here it must not be late, use spin: late by 60.00 ns (median of 400 waits), 100.0 µs at worst";
    for (rows, expected) in [
        (vec![loops], None),
        (
            vec![loops, timer, ("spin", spins, 10_000.0)],
            Some(timer_text.to_owned()),
        ),
        (
            vec![timer, ("spin", spins, 60.0)],
            Some(format!("{timer_text}. W{spin_text}")),
        ),
        (
            vec![timer, ("spin-with-tail", spins, 60.0)],
            Some(timer_text.to_owned()),
        ),
        (
            vec![timer, ("timerfd", blocks, 35_000.0)],
            Some(
                "use timerfd: late by 35.00 µs (median of 400 waits), 1.000 ms at worst".to_owned(),
            ),
        ),
        (vec![("spin", spins, 60.0)], Some(format!("w{spin_text}"))),
    ] {
        let text = include_str!("../../../tests/data/xeon-2026-11-21.json");
        let mut report = Report::from_json(text).expect("it reads");
        report.waits.clear();
        report.periods = rows.into_iter().map(row).collect();
        let expected =
            expected.map(|words| format!("To wake every 2 ms on this machine, {words}."));
        assert_eq!(summarize_waits(&report), expected);
    }
}

/// The least late primitive waits by another clock or does not.
#[test]
fn waits_by_another_clock_are_not_proposed() {
    let row = |id: &str, late_ns: f64, figures: WaitFigures| {
        let late = |request_ns: u64| Lateness {
            request_ns,
            p50_ns: Some(Interval::around(
                late_ns
                    + 1e-6 * value_of(figures.proportional_ppm).unwrap_or(0.0) * request_ns as f64,
                100.0,
            )),
            ..lateness(&[(late_ns, 2_000)])
        };
        WaitRow {
            head: RowHead {
                id: id.into(),
                ..RowHead::default()
            },
            conditions: WaitConditions::default(),
            means: WaitActivity::Blocks,
            figures: Some(WaitFigures {
                lateness: [1_000_000, 100_000_000].map(late).into(),
                ..figures
            }),
        }
    };
    let proportional = |ppm: f64| WaitFigures {
        proportional_ppm: Some(Interval::around(ppm, 5.0)),
        ..WaitFigures::default()
    };
    for (figures, is_proposed) in [
        (proportional(-2_000.0), false),
        (proportional(40_000.0), false),
        (proportional(1_000.0), true),
        (proportional(-50.0), true),
    ] {
        let text = include_str!("../../../tests/data/xeon-2026-11-21.json");
        let mut report = Report::from_json(text).expect("it reads");
        report.waits = vec![
            row("sleep", 9e4, WaitFigures::default()),
            row("first", 3e4, figures.clone()),
        ];
        let asked = WaitRequirement {
            every_ns: 1e6,
            once: false,
            language: None,
        };
        let choice = choose(&report, &asked).expect("it has waits of this length");
        let picked = choice.picked.as_ref().expect("one suffices");
        assert_eq!(
            picked.id,
            if is_proposed { "first" } else { "sleep" },
            "{figures:?}"
        );
        let other = choice.others.iter().find(|one| one.id == "first");
        let is_refused = other.is_some_and(|one| !one.suffices);
        assert_eq!(is_refused, !is_proposed, "{figures:?}");
    }
}

fn candidate(id: &str, means: WaitActivity, p50_ns: f64, p99_ns: Option<f64>) -> RankedWait {
    RankedTimer {
        id: id.into(),
        suffices: true,
        figures: WaitRecord {
            spins: means != WaitActivity::Blocks,
            p50_ns: Some(p50_ns),
            p99_ns,
            max_ns: 4e6,
            distance: Some(Interval::exact(p50_ns)),
            ..WaitRecord::default()
        },
        ..RankedTimer::default()
    }
}

/// Code decides between equals; a timer that is clearly better stays first; without code the name
/// decides, never the figure.
#[test]
fn code_decides_between_equals() {
    let rust = Some(Language::Rust);
    for (late_us, half_us, language, first) in [
        ([20.0, 30.0, 25.0], 1.0, None, "timerfd"),
        ([20.0, 39.0, 21.0], 1.0, None, "timerfd"),
        ([20.0, 45.0, 21.0], 1.0, None, "io-uring-timeout"),
        ([20.0, 45.0, 19.0], 1.0, None, "io-uring-timeout"),
        ([20.0, 70.0, 60.0], 31.0, None, "timerfd"),
        ([20.0, 20.0, 30.0], 1.0, rust, "std-sleep"),
    ] {
        let ids = ["io-uring-timeout", "timerfd", "std-sleep"];
        let ids = ids.map(|id| {
            if language.is_none() {
                id.replace("std-sleep", "setitimer")
            } else {
                id.into()
            }
        });
        let mut all: Vec<RankedWait> = (ids.iter().zip(late_us))
            .map(|(id, late)| candidate(id, WaitActivity::Blocks, 1e3 * late, None))
            .collect();
        for one in &mut all {
            let late = one.figures.p50_ns.unwrap();
            one.figures.distance = Some(Interval::around(late, 1e3 * half_us));
        }
        let order = rank(all, language);
        assert_eq!(order[0].id, first, "{late_us:?}");
    }
}

/// A busy machine: the median of the wait that spins is short, its tail as long as that of the other.
#[test]
fn tail_decides_where_late_is_not_allowed() {
    let leaders = |spin_p99_ns: Option<f64>| -> Vec<String> {
        let all = vec![
            candidate("spin", WaitActivity::Spins, 50.0, spin_p99_ns),
            candidate("sleep", WaitActivity::Blocks, 6e4, Some(3.6e6)),
        ];
        let leading = rank(all, None).into_iter().filter(|one| one.figures.leads);
        leading.map(|one| one.id).collect()
    };
    assert_eq!(leaders(Some(3.5e6)), ["sleep"]);
    assert_eq!(leaders(Some(1e5)), ["sleep", "spin"]);
    assert_eq!(leaders(None), ["sleep"], "both were late by 4 ms at most");
}

/// Without timer slack nanosleep is less late; only code that can set the slack waits so.
#[test]
fn slack_is_that_of_code() {
    let mut report = Report::from_json(include_str!("../../../tests/data/xeon-2026-11-21.json"))
        .expect("it reads");
    let row = |(id, slack_ns, late_ns): (&str, u64, f64)| WaitRow {
        head: RowHead {
            id: id.into(),
            ..RowHead::default()
        },
        conditions: WaitConditions {
            slack_ns: Some(slack_ns),
            ..WaitConditions::default()
        },
        means: WaitActivity::Blocks,
        figures: Some(WaitFigures {
            lateness: vec![Lateness {
                p50_ns: Some(Interval::exact(late_ns)),
                ..lateness(&[(late_ns, 500)])
            }],
            ..WaitFigures::default()
        }),
    };
    let rows = [
        ("nanosleep", 50_000, 6e4),
        ("nanosleep", 1, 1.5e4),
        ("std-sleep", 1, 1.5e4),
        ("std-sleep", 50_000, 6e4),
    ];
    report.waits = rows.map(row).into();
    for (language, expected) in [
        (None, ("nanosleep", Some(1))),
        (Some(Language::C), ("nanosleep", Some(1))),
        (Some(Language::Rust), ("std-sleep", Some(50_000))),
    ] {
        let asked = WaitRequirement {
            every_ns: 1e6,
            once: false,
            language,
        };
        let choice = choose(&report, &asked).expect("it has waits of this length");
        let picked = choice.picked.expect("one suffices");
        assert_eq!((picked.id.as_str(), picked.figures.slack_ns), expected);
    }
}

#[test]
fn hybrid_that_only_spins_is_called_spinning() {
    let record = |cpu_ns| WaitRecord {
        length_ns: 50_000,
        cpu_ns: Some(cpu_ns),
        ..candidate("hybrid", WaitActivity::Hybrid, 50.0, None).figures
    };
    let words = [5e4, 2e4].map(|cpu_ns| record(cpu_ns).lateness());
    assert!(
        words[0].ends_with("it spins: 100 % of a CPU"),
        "{}",
        words[0]
    );
    assert!(words[1].ends_with("of CPU per wake-up"), "{}", words[1]);
}
