//! Tests which timers are punctual.

use super::*;
use estimators::model::{PeriodFigures, PeriodRow, WaitFigures, WaitRow};

const BLOCKS: WaitActivity = WaitActivity::Blocks;
const SPINS: WaitActivity = WaitActivity::Spins;

fn late(p50_ns: f64, max_ns: f64) -> Lateness {
    Lateness {
        request_ns: 1_000_000,
        waits: 400,
        p50_ns: Some(Estimate::around(p50_ns, 10.0)),
        max_ns,
        ..Lateness::default()
    }
}

fn head(id: &str) -> RowHead {
    RowHead {
        id: id.into(),
        ..RowHead::default()
    }
}

fn wait(id: &str, means: WaitActivity, late: Lateness) -> WaitRow {
    WaitRow {
        head: head(id),
        conditions: WaitConditions::default(),
        means,
        figures: Some(WaitFigures {
            lateness: vec![late],
            ..WaitFigures::default()
        }),
    }
}

fn report(waits: impl IntoIterator<Item = WaitRow>) -> Report {
    let text = include_str!("../../../tests/data/xeon-2026-11-21.json");
    let mut report = Report::from_json(text).unwrap();
    report.waits = waits.into_iter().collect();
    report
}

fn pick(report: &Report, once: bool, language: Option<Language>) -> Option<String> {
    let asked = WaitRequirement {
        every_ns: 1e6,
        once,
        language,
    };
    let choice = choose(report, &asked).unwrap();
    choice.picked.map(|one| one.id)
}

/// A loop of waits has no schedule: it is not recommended, but code that keeps one may wait so.
#[test]
fn periods_are_summed_up() {
    let row = |(id, means, late_ns): (&str, _, f64)| PeriodRow {
        head: head(id),
        conditions: WaitConditions::default(),
        period_ns: 1_000_000,
        means,
        figures: Some(PeriodFigures {
            lateness: Some(late(late_ns, if id == "spin" { 1e5 } else { 1e6 })),
            rate_error_ppm: Some(Estimate::exact(if id == "timerfd" { 2.0 } else { 2_500.0 })),
            is_loop: id == "std-sleep",
            ..PeriodFigures::default()
        }),
    };
    let loops = ("std-sleep", BLOCKS, 5_000.0);
    let drifts = ("setitimer", BLOCKS, 5_000.0);
    let timer = ("timerfd", BLOCKS, 20_000.0);
    let timer_text = "timerfd, late by 20.00 µs (median of 400 waits), 1.000 ms at worst";
    for (rows, headline, picked) in [
        (vec![loops], None, Some("std-sleep")),
        (vec![drifts], None, None),
        (vec![drifts, timer], Some(timer_text), Some("timerfd")),
        (vec![loops, timer], Some(timer_text), Some("std-sleep")),
    ] {
        let mut report = report([]);
        report.periods = rows.into_iter().map(row).collect();
        let expected =
            headline.map(|words| format!("To wake every 1 ms on this machine, use {words}."));
        assert_eq!(summarize_waits(&report), expected);
        assert_eq!(pick(&report, false, None).as_deref(), picked);
    }
}

/// The least late primitive waits by another clock or does not.
#[test]
fn waits_by_another_clock_are_not_proposed() {
    for (ppm, proposed) in [
        (-2_000.0, "sleep"),
        (40_000.0, "sleep"),
        (1_000.0, "first"),
        (-50.0, "first"),
    ] {
        let mut first = wait("first", BLOCKS, late(3e4, 1e6));
        let figures = first.figures.as_mut().unwrap();
        for length_ms in [10, 100] {
            figures.lateness.push(Lateness {
                request_ns: length_ms * 1_000_000,
                ..late(3e4 + ppm * (length_ms - 1) as f64, 1e6)
            });
        }
        figures.proportional_ppm = Some(Estimate::around(ppm, 5.0));
        let found = report([wait("sleep", BLOCKS, late(9e4, 1e6)), first]);
        assert_eq!(pick(&found, true, None).as_deref(), Some(proposed), "{ppm}");
    }
}

#[test]
fn wait_that_hardly_waits_is_not_picked() {
    let mostly = |late_ns| {
        pick(
            &report([wait("first", BLOCKS, late(late_ns, 1e3))]),
            true,
            None,
        )
    };
    assert_eq!([-9e5, -3e5].map(mostly), [None, Some("first".into())]);
}

/// Code decides between equals; a timer that is clearly better stays first, except in languages without
/// code for it.
#[test]
fn code_decides_between_equals() {
    for (late_us, language, first) in [
        ([20.0, 30.0, 25.0], None, "timerfd"),
        ([20.0, 39.0, 41.0], None, "timerfd"),
        ([20.0, 45.0, 41.0], None, "io-uring-timeout"),
        ([20.0, 45.0, 39.0], None, "std-sleep"),
        ([20.0, 20.0, 30.0], Some(Language::Rust), "std-sleep"),
    ] {
        let ids = ["io-uring-timeout", "timerfd", "std-sleep"];
        let rows = ids.into_iter().zip(late_us);
        let found = report(rows.map(|(id, us)| wait(id, BLOCKS, late(1e3 * us, 1e6))));
        let picked = pick(&found, true, language);
        assert_eq!(picked.as_deref(), Some(first), "{late_us:?}");
    }
}

/// A busy machine: the median of the wait that spins is short, its tail may be as long as that of the
/// other. In a loop, one that is later than the period does not serve.
#[test]
fn tail_decides_where_late_is_not_allowed() {
    for (blocking_ns, tail_ns, expected) in [
        (
            6e4,
            3.5e6,
            "timerfd, late by 60.00 µs (median of 400 waits), 4.000 ms at worst",
        ),
        (
            6e4,
            1e5,
            "timerfd, late by 60.00 µs (median of 400 waits), 4.000 ms at worst; or spin, where it must \
             not be late: late by 50.00 ns (median of 400 waits), 100.0 µs at worst; it spins: 100 % of a CPU",
        ),
    ] {
        let spin = Lateness {
            cpu_ns: Some(Estimate::exact(9e5)),
            ..late(50.0, tail_ns)
        };
        let found = report([
            wait("spin", SPINS, spin),
            wait("timerfd", BLOCKS, late(blocking_ns, 4e6)),
        ]);
        let sentence = summarize_waits(&found).unwrap();
        assert_eq!(
            sentence,
            format!("To wait 1 ms on this machine, use {expected}.")
        );
        assert_eq!(pick(&found, true, None).as_deref(), Some("timerfd"));
    }
    let bursts = report([
        wait("spin", SPINS, late(50.0, 1e6)),
        wait("timerfd", BLOCKS, late(1.1e6, 4e6)),
    ]);
    let picked = [true, false].map(|once| pick(&bursts, once, None));
    assert_eq!(picked.map(Option::unwrap), ["timerfd", "spin"]);
}

#[test]
fn hybrid_that_only_spins_is_called_spinning() {
    for (cpu_ns, words) in [
        (1e6, "it spins: 100 % of a CPU"),
        (2e4, "20.00 µs of CPU per wake-up"),
    ] {
        let record = WaitRecord {
            missed: 0.0,
            lateness: Lateness {
                cpu_ns: Some(Estimate::exact(cpu_ns)),
                ..late(50.0, 100.0)
            },
            conditions: WaitConditions::default(),
            means: WaitActivity::Hybrid,
        };
        assert!(record.in_words().ends_with(words), "{}", record.in_words());
    }
}
