use proptest::prelude::*;

use super::Remark;
use super::{
    Comparison, Condition, Fate, NothingInCommon, Quantity, Unit, Untold, Verdict, document,
    sentences,
};
use crate::document::Render;
use crate::model::{
    Cost, Finding, Following, Interval, Observations, Outcome, Properties, Question, ReadsBy,
    Report, Resolution, ResolutionKind, Severity, Status, TimerRow, Values, Verdicts,
};
use crate::table::{Format, Style};

const EMPTY: &str = r#"{"schema":"timermeter.report.v2","tool":{"name":"timermeter","version":"0.1.0"},
    "created":"2026-11-20T12:00:00Z",
    "platform":{"cpu":{"architecture":"x86_64","microcode":"0x1"},"os":{"family":"linux"},"kernel":{"release":"6.1"},
        "clocksource":{"current":"tsc","available":["tsc","hpet"]}},
    "frequency":{"cycles_from":"effective","cycles_hz":{"value":3e9,"low":null,"high":null}},
    "settings":{"profile":"quick","cpu":null,"seed":1,"processes":1,"timeout_seconds":5},
    "warnings":[],"timers":[]}"#;

/// A timer with a Quality in percent and a cost in nanoseconds, ± a tenth of a point and 1 %.
fn timer(id: &str, quality: f64, cost: f64) -> TimerRow {
    let mut row = TimerRow::unmeasured(id, id, "native", Status::Ok);
    let quality = [quality, quality - 0.1, quality + 0.1].map(|percent| percent / 100.0);
    row.quality = Some(Interval::with_ends(
        quality[0],
        Some((quality[1], quality[2])),
    ));
    row.cost_ns = Some(Interval::with_ends(cost, Some((cost * 0.99, cost * 1.01))));
    row.cost = Some(Cost {
        median_cycles: None,
        amortised_ns: None,
        single_median_ns: None,
        p99_ns: None,
        follows: None,
        adds: None,
        reference: "rdtsc".into(),
    });
    row.resolution = Some(Resolution {
        ticks: 10.0,
        cycles: None,
        kind: ResolutionKind::Resolved,
    });
    row.resolution_ns = Some(Interval::with_ends(10.0, Some((9.9, 10.1))));
    row.spread = Some(Interval::unbounded(0.99));
    row.properties = Some(Properties {
        reads_by: Some(ReadsBy::Vdso),
        ..Properties::default()
    });
    row.observations = Some(Observations {
        processes: 25,
        disturbed_processes: 0,
        discarded_processes: 0,
        dropped_windows: std::collections::BTreeMap::new(),
        intervals: 0,
        batched_calls: 0,
        single_calls: 0,
        backward_steps: 0,
        reference_resolution_ns: None,
        resolution_rule: None,
    });
    row
}

fn render(comparison: &Comparison, format: Format, style: Style) -> String {
    let mut text = Vec::new();
    let document = document(comparison, false, ());
    document.write(format, style, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn render_table(comparison: &Comparison, style: Style) -> String {
    render(comparison, Format::Table, style)
}

fn render_markdown(comparison: &Comparison) -> String {
    render(comparison, Format::Markdown, Style::default())
}

fn report(timers: Vec<TimerRow>) -> Report {
    Report {
        timers,
        ..crate::report::parse(EMPTY, "empty").unwrap()
    }
}

fn compared(old: &Report, new: &Report) -> Result<Comparison, NothingInCommon> {
    Comparison::of(old, new)
}

fn failed(id: &str) -> TimerRow {
    let mut row = TimerRow::unmeasured(id, id, "native", Status::Failed);
    row.reason = Some("it crashed".into());
    row
}

fn sample() -> Comparison {
    let old = report(vec![
        timer("a", 45.0, 20.0),
        timer("b", 40.0, 50.0),
        timer("c", 30.0, 99.0),
        timer("gone", 9.0, 9.0),
    ]);
    let new = report(vec![
        timer("a", 45.05, 20.1),
        timer("b", 35.0, 75.0),
        failed("c"),
        timer("new", 9.0, 9.0),
    ]);
    compared(&old, &new).unwrap()
}

fn holds(condition: &str) -> Option<String> {
    condition
        .parse::<Condition>()
        .unwrap_or_else(|error| panic!("{error}"))
        .holds(&sample())
}

#[test]
fn noise_is_told_from_change() {
    let comparison = sample();
    let verdict = |timer: &str, quantity| {
        let found = comparison
            .figures
            .iter()
            .find(|c| c.timer == timer && c.quantity == quantity);
        found.unwrap_or_else(|| panic!("no {timer}")).verdict
    };
    assert_eq!(verdict("a", Quantity::QUALITY), Verdict::Noise);
    assert_eq!(verdict("a", Quantity::COST), Verdict::Noise);
    assert_eq!(verdict("b", Quantity::QUALITY), Verdict::Worse);
    assert_eq!(verdict("b", Quantity::COST), Verdict::Worse);
    assert_eq!(verdict("b", Quantity::RESOLUTION), Verdict::Noise);
    assert_eq!(verdict("b", Quantity::SPREAD), Verdict::Unjudged);
    let fates: Vec<(&str, Fate)> = comparison
        .one_sided
        .iter()
        .map(|one| (one.timer.as_str(), one.fate))
        .collect();
    assert_eq!(
        fates,
        [
            ("c", Fate::Lost),
            ("new", Fate::Added),
            ("gone", Fate::Gone)
        ]
    );
    let table = render_table(&comparison, Style::default());
    assert!(
        table.starts_with("Clock reads: slower: b by 50 % ["),
        "{table}"
    );
    assert!(
        table.contains("; worse: Quality of b; lost: c, gone\n"),
        "{table}"
    );
    assert!(
        table.contains("same platform") && table.contains("c (it crashed)"),
        "{table}"
    );
    assert!(
        table.contains("-5.00 points [-") && table.contains("+50.0 % [+"),
        "{table}"
    );
    assert!(!table.contains("20.00 ns"), "noise is not shown: {table}");
}

#[test]
fn a_fallen_clock_source_stands_in_the_first_line() {
    let old = report(vec![timer("a", 45.0, 20.0)]);
    let mut new = old.clone();
    new.platform.clocksource.current = Some("hpet".into());
    new.platform.kernel.release = Some("6.2".into());
    new.platform.cpu.microcode = None;
    let comparison = compared(&old, &new).unwrap();
    let names: Vec<&str> = comparison
        .platform
        .iter()
        .map(|change| change.what)
        .collect();
    assert_eq!(names, ["clock source", "kernel", "microcode"]);
    for text in [
        render_table(&comparison, Style::default()),
        render_markdown(&comparison),
    ] {
        let first = text.lines().next().unwrap();
        assert!(
            first.contains("clock source") && first.contains("tsc → hpet (it fell"),
            "{text}"
        );
    }
    let back = compared(&new, &old).unwrap();
    assert!(
        !back.platform[0].is_fallen_clock_source() && back.platform[0].remark == Some(Remark::Rose)
    );
}

#[test]
fn a_clock_source_that_takes_all_figures_with_it_is_told() {
    let old = report(vec![timer("a", 45.0, 20.0), timer("b", 40.0, 20.0)]);
    let mut new = report(vec![failed("a"), failed("b")]);
    new.platform.clocksource.current = Some("hpet".into());
    let comparison = compared(&old, &new).unwrap();
    assert!(comparison.figures.is_empty());
    let text = render_table(&comparison, Style::default());
    assert!(
        text.starts_with("clock source: tsc → hpet (it fell"),
        "{text}"
    );
    let condition: Condition = "lost>0".parse().unwrap();
    assert_eq!(condition.holds(&comparison).as_deref(), Some("a, b"));
}

/// Verdicts that all pass but some.
fn trusted(mut row: TimerRow, failing: &[&str]) -> TimerRow {
    let mut verdicts: Verdicts = serde_json::from_str(ALL_PASS).unwrap();
    for (name, outcome, finding) in [
        (
            "monotonic",
            &mut verdicts.monotonic.outcome,
            &mut verdicts.monotonic.finding,
        ),
        (
            "read path",
            &mut verdicts.read_path.outcome,
            &mut verdicts.read_path.finding,
        ),
    ] {
        if failing.contains(&name) {
            (*outcome, *finding) = (Outcome::Fail, format!("what {name} found"));
        }
    }
    row.verdicts = Some(verdicts);
    row
}

const ALL_PASS: &str = r#"{
    "monotonic":{"outcome":"pass","finding":"","readings":9,"backward_steps":0,"moves":1},
    "thread_safe":{"outcome":"pass","finding":"","handoffs":9,"backward_steps":0,"rounds":1,"pairs":1,
        "pairs_possible":1,"offsets":[]},
    "stable":{"outcome":"pass","finding":"","allan":[],"jumps":0,"freezes":0},
    "counts":{"outcome":"pass","finding":""},
    "declared":{"outcome":"pass","finding":""},
    "read_path":{"outcome":"pass","finding":""}}"#;

#[test]
fn answers_to_questions_of_trust_are_compared() {
    let old = report(vec![
        trusted(timer("a", 45.0, 20.0), &["monotonic"]),
        trusted(timer("b", 40.0, 20.0), &[]),
    ]);
    let new = report(vec![
        trusted(timer("a", 45.0, 20.0), &[]),
        trusted(timer("b", 40.0, 20.0), &["monotonic", "read path"]),
    ]);
    let comparison = compared(&old, &new).unwrap();
    let found: Vec<(&str, Question, Verdict)> = comparison
        .answers
        .iter()
        .map(|answer| (answer.timer.as_str(), answer.question, answer.verdict))
        .collect();
    assert_eq!(
        found,
        [
            ("a", Question::Monotonic, Verdict::Better),
            ("b", Question::Monotonic, Verdict::Worse),
            ("b", Question::ReadPath, Verdict::Worse),
        ]
    );
    for text in [
        render_table(&comparison, Style::default()),
        render_markdown(&comparison),
    ] {
        assert!(
            text.contains("pass → fail") && text.contains("what read path found"),
            "{text}"
        );
    }
    for (condition, holds) in [
        ("trust<0", Some("b monotonic, b read path")),
        ("trust[a]<0", None),
        ("trust[a]>0", Some("a monotonic")),
    ] {
        let condition: Condition = condition.parse().unwrap();
        assert_eq!(
            condition.holds(&comparison).as_deref(),
            holds,
            "{}",
            condition.text()
        );
    }
    assert_eq!(untold("trust[a]<0", &comparison), None);
    let older = report(vec![timer("a", 45.0, 20.0)]);
    let unasked = compared(&older, &new).unwrap();
    assert_eq!(
        untold("trust<0", &unasked),
        Some(Untold::Unasked),
        "it could not hold, whatever happened"
    );
    assert!(
        compared(&older, &new).unwrap().answers.is_empty(),
        "who did not ask says nothing"
    );
}

#[test]
fn reports_without_a_common_timer_cannot_be_compared() {
    let (old, new) = (
        report(vec![timer("a", 45.0, 20.0)]),
        report(vec![timer("b", 45.0, 20.0)]),
    );
    assert!(
        compared(&old, &new)
            .unwrap_err()
            .to_string()
            .contains("cannot be compared")
    );
    assert!(compared(&report(vec![]), &report(vec![])).is_err());
}

#[test]
fn conditions_hold_for_what_is_more_than_noise() {
    for (condition, timers) in [
        ("quality<-1", Some("b")),
        ("quality < -1 points", Some("b")),
        ("Quality<=-4.9", Some("b")),
        ("quality<-6", None),
        ("quality>0", None),
        ("cost>10%", Some("b")),
        ("cost>+24.9ns", Some("b")),
        ("cost>0.03us", None),
        ("cost[a*]>0%", None),
        ("cost[{a,b}]>0%", Some("b")),
        ("resolution>0ns", None),
        ("spread<0.01", None),
        ("lost>0", Some("c, gone")),
        ("lost>=3", None),
    ] {
        assert_eq!(holds(condition).as_deref(), timers, "{condition}");
    }
}

/// With an interval of ± `half`.
fn spread(mut row: TimerRow, spread: f64, half: Option<f64>) -> TimerRow {
    let ends = half.map(|half| (spread - half, spread + half));
    row.spread = Some(Interval::with_ends(spread, ends));
    row
}

fn verdict_of(comparison: &Comparison, quantity: Quantity) -> Verdict {
    let found = comparison
        .figures
        .iter()
        .find(|compared| compared.quantity == quantity);
    found.expect("both have it").verdict
}

fn untold(condition: &str, comparison: &Comparison) -> Option<Untold> {
    condition
        .parse::<Condition>()
        .expect("a condition")
        .untold(comparison)
}

fn met(condition: &str, comparison: &Comparison) -> bool {
    condition
        .parse::<Condition>()
        .expect("a condition")
        .holds(comparison)
        .is_some()
}

#[test]
fn spreads_with_intervals_are_judged() {
    let of = |new: f64, half: Option<f64>| {
        let old = report(vec![spread(timer("a", 45.0, 20.0), 0.9, half)]);
        compared(
            &old,
            &report(vec![spread(timer("a", 45.0, 20.0), new, half)]),
        )
        .unwrap()
    };
    for (new, half, verdict, holds) in [
        (0.2, Some(0.01), Verdict::Worse, true),
        (0.8, Some(0.01), Verdict::Noise, false),
        (0.2, Some(0.4), Verdict::Noise, false),
        (0.8, None, Verdict::Unjudged, true),
    ] {
        let comparison = of(new, half);
        assert_eq!(
            verdict_of(&comparison, Quantity::SPREAD),
            verdict,
            "{new} {half:?}"
        );
        assert_eq!(met("spread<-0.05", &comparison), holds, "{new} {half:?}");
    }
    let table = render_table(&of(0.2, Some(0.01)), Style::default());
    assert!(table.contains("-0.700 [-"), "{table}");
}

/// One process has no interval: nothing is claimed, whichever report it stands in, and no condition
/// holds.
#[test]
fn a_single_process_claims_nothing() {
    let many = spread(timer("a", 45.0, 20.0), 0.9, Some(0.01));
    let mut one = spread(timer("a", 20.0, 90.0), 0.5, None);
    one.quality = Some(Interval::unbounded(0.2));
    one.cost_ns = Some(Interval::unbounded(90.0));
    one.warnings.push(Finding {
        code: "single-process".into(),
        severity: Severity::Note,
        values: Values::new(),
    });
    for (old, new) in [(&many, &one), (&one, &many)] {
        let comparison = compared(&report(vec![old.clone()]), &report(vec![new.clone()])).unwrap();
        for quantity in [Quantity::QUALITY, Quantity::COST, Quantity::SPREAD] {
            assert_eq!(
                verdict_of(&comparison, quantity),
                Verdict::Unjudged,
                "{quantity:?}"
            );
        }
        for condition in [
            "quality<0",
            "quality>0",
            "cost>0%",
            "cost<0%",
            "spread<0",
            "spread>0",
        ] {
            assert!(!met(condition, &comparison), "{condition}");
            assert_eq!(
                untold(condition, &comparison),
                Some(Untold::Single("a".into())),
                "{condition}"
            );
        }
        assert!(
            sentences(&comparison)[0]
                .contains("could not be told: a report rests on a single process")
        );
    }
}

/// As between two CPUs of which one declares its rate a little otherwise.
#[test]
fn what_is_too_small_to_matter_is_no_change() {
    let surely = |ns: f64| {
        let mut row = timer("a", 45.0, 20.0);
        row.resolution_ns = Some(Interval::with_ends(ns, Some((ns * 0.9999, ns * 1.0001))));
        row
    };
    let of = |old: f64, new: f64| {
        compared(&report(vec![surely(old)]), &report(vec![surely(new)])).unwrap()
    };
    for (new, verdict) in [
        (10.02, Verdict::Noise),
        (9.98, Verdict::Noise),
        (10.2, Verdict::Worse),
    ] {
        let comparison = of(10.0, new);
        assert_eq!(
            verdict_of(&comparison, Quantity::RESOLUTION),
            verdict,
            "{new}"
        );
        assert_eq!(
            met("resolution>0ns", &comparison),
            verdict == Verdict::Worse,
            "{new}"
        );
    }
    let comparison = of(10.0, 10.02);
    for text in [
        render_table(&comparison, Style::default()),
        render_markdown(&comparison),
    ] {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("below 0.5 % of a cost or a resolution, or 0.1 % of a Quality"),
            "{text}"
        );
        assert!(!text.contains("10.02"), "{text}");
    }
}

/// A report whose core ran at a given frequency in GHz, and whose reads take a given number of
/// cycles.
fn at_frequency(ghz: f64, cycles: f64, follows: Option<Following>) -> Report {
    let mut row = timer("a", 45.0 * ghz.powf(-0.1), cycles / ghz);
    row.cost = row.cost.map(|cost| Cost { follows, ..cost });
    let mut report = report(vec![row]);
    (report.frequency.effective_hz, report.frequency.cycles_hz) = (
        Some(Interval::unbounded(ghz * 1e9)),
        Some(Interval::unbounded(ghz * 1e9)),
    );
    report
}

fn cost_of(comparison: &Comparison) -> &super::Compared {
    comparison
        .figures
        .iter()
        .find(|compared| compared.quantity == Quantity::COST)
        .expect("both have it")
}

/// A core that ran twice as fast halves what calls take, and no clock changed; where it is unknown
/// what a cost follows, it has to change both ways.
#[test]
fn what_follows_the_core_is_compared_in_cycles() {
    for (follows, unit, percent) in [
        (Some(Following::Core), Unit::Cycles, 0.0),
        (Some(Following::Device), Unit::Time, -50.0),
        (Some(Following::Unknown), Unit::Both, 0.0),
        (None, Unit::Both, 0.0),
    ] {
        let compared = compared(
            &at_frequency(2.0, 60.0, follows),
            &at_frequency(4.0, 60.0, follows),
        )
        .unwrap();
        let cost = cost_of(&compared);
        assert_eq!(cost.unit, Some(unit), "{follows:?}");
        assert!(
            (cost.difference.percent.unwrap() - percent).abs() < 1e-9,
            "{follows:?}: {cost:?}"
        );
        if percent == 0.0 {
            let changed = compared.count(Verdict::Better) + compared.count(Verdict::Worse);
            assert_eq!(changed, 0, "{follows:?}: {:?}", compared.figures);
            assert!(sentences(&compared)[0].starts_with("Clock reads: unchanged (a change by "));
        }
    }
    // Half as many cycles at twice the frequency: a change of both; twice as many: of neither to
    // the same side.
    let of = |cycles| {
        compared(
            &at_frequency(2.0, 60.0, None),
            &at_frequency(4.0, cycles, None),
        )
        .unwrap()
    };
    assert_eq!(cost_of(&of(30.0)).verdict, Verdict::Better);
    assert!((cost_of(&of(30.0)).difference.percent.unwrap() + 50.0).abs() < 1e-9);
    assert_eq!(cost_of(&of(90.0)).verdict, Verdict::Noise);
}

#[test]
fn several_runs_find_what_one_cannot() {
    let runs = |cost: f64| -> Vec<Report> {
        [-0.002, 0.001, 0.0, 0.002, -0.001]
            .map(|by| {
                report(vec![
                    timer("a", 45.0, cost * (1.0 + by)),
                    timer("b", 45.0, 50.0 * (1.0 - by)),
                ])
            })
            .to_vec()
    };
    let (old, new) = (runs(20.0), runs(20.8));
    let single = compared(&old[0], &new[0]).unwrap();
    assert_eq!(cost_of(&single).verdict, Verdict::Noise);
    let [before, after] = [&old, &new].map(|side| side.iter().collect::<Vec<&Report>>());
    let several = Comparison::of_runs(&before, &after, &[]).unwrap();
    assert_eq!(
        cost_of(&several).verdict,
        Verdict::Worse,
        "{:?}",
        cost_of(&several)
    );
    assert!(cost_of(&several).detectable < cost_of(&single).detectable);
    let table = render_table(&several, Style::default());
    assert!(
        table.starts_with("Clock reads: slower: a by 4.0 % [3.")
            && table.contains("5 old and 5 new runs"),
        "{table}"
    );
    let single = render_table(&single, Style::default());
    assert!(
        single.contains("one run a side") && single.contains("reads in user mode 2.5 %"),
        "{single}"
    );
}

#[test]
fn whether_a_condition_holds_is_told_or_not() {
    let of = |new: f64| {
        compared(
            &report(vec![timer("a", 45.0, 20.0)]),
            &report(vec![timer("a", 45.0, new)]),
        )
        .unwrap()
    };
    let unchanged = of(20.0);
    for (condition, told) in [
        ("cost>50%", true),
        ("cost>5%", false),
        ("cost>1ns", false),
        ("cost<-1ns", false),
        // Whatever can be found.
        ("cost>0%", true),
        ("resolution>0ns", true),
        // No change would meet it.
        ("cost<5%", true),
        ("lateness>5%", false),
        ("cost[b]>5%", false),
        ("lost>0", true),
    ] {
        assert_eq!(untold(condition, &unchanged).is_none(), told, "{condition}");
        assert!(!met(condition, &unchanged), "{condition}");
    }
    let condition: Condition = "cost[monotnic]>5%".parse().unwrap();
    assert_eq!(
        condition.meets_none(unchanged.timers.iter().map(String::as_str)),
        Some("monotnic")
    );
    let condition: Condition = "cost[a*]>5%".parse().unwrap();
    assert_eq!(
        condition.meets_none(unchanged.timers.iter().map(String::as_str)),
        None
    );
}

#[test]
fn what_could_not_be_tested_again_is_no_change() {
    let with = |outcome: Outcome| {
        let mut row = trusted(timer("a", 45.0, 20.0), &[]);
        if let Some(verdicts) = &mut row.verdicts {
            verdicts.stable.outcome = outcome;
        }
        report(vec![row])
    };
    let changed = |old, new| compared(&with(old), &with(new)).unwrap().answers.len();
    assert_eq!(changed(Outcome::Pass, Outcome::NotTested), 0);
    assert_eq!(changed(Outcome::NotTested, Outcome::Pass), 0);
    assert_eq!(changed(Outcome::NotTested, Outcome::Fail), 1);
    assert_eq!(changed(Outcome::Fail, Outcome::NotTested), 1);
    let runs = |outcomes: [Outcome; 3]| outcomes.map(with);
    let (old, new) = (
        runs([Outcome::Pass; 3]),
        runs([Outcome::Fail, Outcome::Pass, Outcome::NotTested]),
    );
    let [before, after] = [&old, &new].map(|side| side.iter().collect::<Vec<&Report>>());
    let comparison = Comparison::of_runs(&before, &after, &[]).unwrap();
    assert_eq!(
        comparison.answers.len(),
        1,
        "of two that are as many, the graver one"
    );
}

#[test]
fn another_cpu_is_told_loudly_and_once() {
    let named = |model: &str, family: u32| {
        let mut report = report(vec![timer("a", 45.0, 20.0)]);
        (report.platform.cpu.model, report.platform.cpu.family) =
            (Some(model.into()), Some(family));
        report
    };
    let comparison = compared(&named("AMD EPYC", 25), &named("Intel Xeon", 6)).unwrap();
    let table = render_table(
        &comparison,
        Style {
            width: None,
            colour: true,
        },
    );
    assert!(
        table.starts_with("\u{1b}[31;1mCPU: AMD EPYC → Intel Xeon (another CPU"),
        "{table}"
    );
    assert_eq!(table.matches("another CPU").count(), 1, "{table}");
    assert!(render_markdown(&comparison).starts_with("**CPU: AMD EPYC → Intel Xeon"));
    let family = compared(&named("AMD EPYC", 25), &named("AMD EPYC", 26)).unwrap();
    let table = render_table(&family, Style::default());
    assert!(
        table.starts_with("CPU family: 25 → 26 (another CPU"),
        "{table}"
    );
    let mut unnamed = named("AMD EPYC", 25);
    unnamed.platform.cpu.model = None;
    let silent = compared(&named("AMD EPYC", 25), &unnamed).unwrap();
    assert!(!render_table(&silent, Style::default()).contains("another CPU"));
}

#[test]
fn bad_conditions_are_told_with_the_grammar() {
    for (text, words) in [
        ("", "no operator"),
        ("quality", "no operator"),
        ("quality=1", "no operator"),
        ("speed<1", "`speed` is no field"),
        ("quality<", "no number"),
        ("quality<NaN", "no number"),
        ("quality<1e400", "no number"),
        ("quality<-1%", "points"),
        ("cost>10", "has no unit"),
        ("cost>10parsecs", "no unit of time"),
        ("spread<1%", "is a share"),
        ("cost[a>1%", "does not close"),
        ("lost[a]>1", "counts all"),
        ("trust<1%", "no unit"),
        (
            "trust<-1",
            "never holds: an answer about trust changes from -1 to 1",
        ),
        ("trust>=2", "never holds"),
        (
            "lost<0",
            "never holds: the number of timers that were lost goes from 0 up",
        ),
        ("lost<=-1", "never holds"),
        (
            "cost<-200%",
            "never holds: a time changes, in percent, from -100 up",
        ),
        ("cost<=-100%", "never holds"),
        (
            "quality>100",
            "never holds: it changes, in points, from -100 to 100",
        ),
        ("spread<-1", "never holds"),
        ("quality<<1", "no number"),
    ] {
        let told = text.parse::<Condition>().expect_err(text).to_string();
        assert!(
            told.contains(words) && told.contains("FIELD OPERATOR NUMBER"),
            "{text}: {told}"
        );
    }
}

proptest! {
    #[test]
    fn no_condition_panics(text in "(quality|cost|lost|[a-z]{0,4})(\\[[^<>]{0,6}\\]?)?[<>=]{0,3}\\PC{0,8}", any in any::<String>()) {
        let _ = text.parse::<Condition>();
        let _ = any.parse::<Condition>();
    }

    #[test]
    fn a_report_is_as_itself(quality in 1.0f64..99.0, cost in 0.0f64..1e9) {
        let report = report(vec![timer("a", quality, cost)]);
        let comparison = compared(&report, &report).unwrap();
        prop_assert!(comparison.platform.is_empty() && comparison.one_sided.is_empty());
        prop_assert_eq!(comparison.count(Verdict::Better) + comparison.count(Verdict::Worse), 0);
    }
}
