//! Handmade reports of sleep primitives and of periodic timers.

use timermeter::model::{
    BackgroundLoad, Granularity, Interval, Lateness, LatenessHistogram, MissedPolicy,
    PeriodFigures, PeriodRow, Report, RowHead, Status, Steps, WaitActivity, WaitConditions,
    WaitFigures, WaitRow,
};
use timermeter::text::cleaned;

use super::warning;

const MS: u64 = 1_000_000;

/// A report of sleep primitives that are `ok`, unavailable or failed, one of them of a hostile
/// agent.
pub fn report_of_waits() -> Report {
    let mut early = wait("py:sleep", "time.sleep(s) | <b>`x`", 50_000, "other");
    let late = &mut early.figures.as_mut().expect("it has").lateness[1];
    (late.early, late.earliest_ns) = (0.25, 41_000.0);
    early.findings.push(warning(
        "returns-early",
        "25 % of waits of 1 ms returned before their time, by up to 41 µs",
        "After a wait, look at the clock, and wait for what is left.",
    ));
    let mut spin = wait("spin", "clock in a loop", 50_000, "other");
    spin.means = WaitActivity::Spins;
    let figures = spin.figures.as_mut().expect("it has");
    figures.steps[0] = Steps {
        up_to_ns: 3 * MS,
        rounding: Some(Granularity::AtMost(40.0)),
        grid: None,
    };
    for late in &mut figures.lateness {
        (late.p50_ns, late.p99_ns, late.timers_part_ns) = (figure(31.0), figure(95.0), None);
        late.cpu_ns = figure(late.request_ns as f64);
    }
    let mut refused = unmeasured(
        "nanosleep",
        Status::Unavailable,
        "sched_setscheduler(SCHED_FIFO, 80): Operation not permitted",
    );
    refused.remedy = Some("run as root, or raise the limit RLIMIT_RTPRIO".into());
    refused.conditions = conditions(None, "fifo:80");
    let waits = vec![
        wait("nanosleep", "nanosleep()", 50_000, "other"),
        wait("nanosleep", "nanosleep()", 1, "other"),
        spin,
        early,
        refused,
        unmeasured(
            "=evil:\u{1b}[31mred",
            Status::Failed,
            "@SUM(A1)\r\n\u{1b}]0;owned\u{7}# no *heading*",
        ),
    ];
    cleaned(Report {
        timers: Vec::new(),
        findings: Vec::new(),
        waits,
        ..super::report()
    })
}

/// A report of periodic timers.
pub fn report_of_periods() -> Report {
    let figures = PeriodFigures {
        rate_error_ppm: figure(-8.25),
        jitter_p50_ns: figure(7_616.0),
        jitter_p99_ns: figure(748_300.0),
        lateness_p50_ns: figure(52_000.0),
        lateness_p99_ns: None,
        max_ns: Some(1_906_000.0),
        expirations: 1_346,
        wakeups: 1_200,
        missed_reported: 145,
        missed: 146,
        lost: 1,
        stalls: 9,
        policy: Some(MissedPolicy::Skip),
        processes: 3,
    };
    let row = |id: &str, figures: Option<PeriodFigures>| PeriodRow {
        head: RowHead {
            id: id.into(),
            label: format!("{id}()"),
            runtime: "native".into(),
            status: if figures.is_some() {
                Status::Ok
            } else {
                Status::Failed
            },
            reason: figures
                .is_none()
                .then(|| "agent `py` ended with signal 9".into()),
            ..RowHead::default()
        },
        conditions: conditions(Some(50_000), "other"),
        period_ns: MS,
        figures,
    };
    let relative = PeriodFigures {
        policy: Some(MissedPolicy::Delay),
        missed: 0,
        missed_reported: 0,
        rate_error_ppm: figure(93_000.0),
        ..figures.clone()
    };
    let periods = vec![
        row("timerfd", Some(figures)),
        row("nanosleep", Some(relative)),
        row("unknown", Some(PeriodFigures::default())),
        row("py:lost", None),
    ];
    Report {
        waits: Vec::new(),
        periods,
        ..report_of_waits()
    }
}

/// A report of sleep primitives and periodic timers with figures that are not finite.
pub fn report_without_finite_waits() -> Report {
    let mut report = Report {
        periods: report_of_periods().periods,
        ..report_of_waits()
    };
    let none = Some(Interval {
        value: f64::NAN,
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    });
    for figures in report
        .waits
        .iter_mut()
        .filter_map(|row| row.figures.as_mut())
    {
        (figures.floor_ns, figures.cpu_slope) = (none, none);
        figures.steps[0].grid = Some(Granularity::AtMost(f64::INFINITY));
        (figures.lateness[0].max_ns, figures.lateness[1].p50_ns) = (f64::NEG_INFINITY, none);
    }
    for figures in report
        .periods
        .iter_mut()
        .filter_map(|row| row.figures.as_mut())
    {
        (figures.rate_error_ppm, figures.max_ns) = (none, Some(f64::NAN));
    }
    report
}

/// A figure whose interval ends 10 % below and above its value.
fn figure(value: f64) -> Option<Interval> {
    let half = value.abs() * 0.1;
    Some(Interval {
        value,
        low: value - half,
        high: value + half,
    })
}

fn conditions(slack_ns: Option<u64>, policy: &str) -> WaitConditions {
    WaitConditions {
        slack_ns,
        policy: policy.into(),
        load: BackgroundLoad::None,
        cpu: Some(1),
    }
}

/// A row with results. Lateness and floor grow with `slack_ns`.
fn wait(id: &str, label: &str, slack_ns: u64, policy: &str) -> WaitRow {
    let base = 12_000.0 + slack_ns as f64;
    let late = |request_ns: u64, waits: u64| Lateness {
        request_ns,
        waits,
        with_others: false,
        p50_ns: figure(base),
        p90_ns: figure(base * 1.2),
        p99_ns: figure(base * 1.5).filter(|_| waits >= 500),
        p999_ns: None,
        max_ns: base * 20.0,
        uncertainty_ns: 60.0,
        timers_part_ns: figure(base * 0.95),
        early: 0.0,
        earliest_ns: 0.0,
        cpu_ns: figure(21_500.0),
        cpu_cycles: Some(79_400.0),
        error_ns: base,
        spread: Some(0.97),
        quality: Some(0.0953),
        histogram: LatenessHistogram {
            bins: [(90, waits / 2), (96, waits - waits / 2 - 1), (110, 1)].into(),
        },
    };
    let step = Granularity::Step(Interval {
        value: 1e6,
        low: 0.999e6,
        high: 1.001e6,
    });
    let figures = WaitFigures {
        steps: vec![Steps {
            up_to_ns: 3 * MS,
            rounding: Some(step),
            grid: Some(Granularity::AtMost(52_000.0)),
        }],
        floor_ns: figure(base),
        zero_ns: figure(300.0),
        lateness: vec![late(100_000, 600), late(MS, 600), late(10 * MS, 33)],
        proportional_ppm: figure(1_000.0),
        cpu_slope: figure(0.001),
        arm_cancel_ns: None,
        staircase: (1..30_u32)
            .map(|at| {
                [
                    f64::from(at) * 1e5,
                    (f64::from(at) / 10.0).ceil() * 1e6 + base,
                ]
            })
            .collect(),
        processes: 3,
        waits: 1_233,
    };
    WaitRow {
        head: RowHead {
            id: id.into(),
            label: label.into(),
            runtime: id
                .split_once(':')
                .map_or("native", |(runtime, _)| runtime)
                .into(),
            status: Status::Ok,
            findings: vec![warning(
                "requests-rounded",
                "requests are rounded to steps of 1 ms",
                "Where shorter waits matter, take a timer whose requests are finer.",
            )],
            ..RowHead::default()
        },
        conditions: conditions(Some(slack_ns), policy),
        means: WaitActivity::Blocks,
        figures: Some(figures),
    }
}

/// A row without results.
fn unmeasured(id: &str, status: Status, reason: &str) -> WaitRow {
    let row = wait(id, "nanosleep()", 1, "");
    WaitRow {
        head: RowHead {
            status,
            reason: Some(reason.into()),
            findings: Vec::new(),
            ..row.head
        },
        conditions: WaitConditions::default(),
        figures: None,
        ..row
    }
}
