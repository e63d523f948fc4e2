//! Tests what reports and `timermeter` without arguments recommend.

use assert_cmd::assert::OutputAssertExt;
use clap::ValueEnum;
use estimators::model::{Estimate, Nanos};
use judgement::assessment::plan_alone;
use judgement::choice::{Language, RecipeMethod, Requirement, choose};

use super::program::{command, json, printed};
use super::published::kept;

/// The code on a page is for the shortest operation for which two reads suffice.
#[test]
fn two_reads_suffice_from_stated_duration() {
    let mut count = 0;
    for (file, report) in kept() {
        for language in Language::value_variants() {
            let Some((from_ns, picked)) = plan_alone(&report, *language) else {
                continue;
            };
            let is_single = |ns| {
                let requirement = Requirement {
                    runtime: language.runtime().map(str::to_owned),
                    clocks: picked
                        .id
                        .rsplit(':')
                        .next()
                        .map(str::to_owned)
                        .into_iter()
                        .collect(),
                    ..Requirement::new(Nanos(ns), 0.01)
                };
                let choice = choose(&report, &requirement);
                let plan = choice.ok().and_then(|choice| choice.picked?.figures.plan);
                plan.is_some_and(|plan| plan.method == RecipeMethod::Single)
            };
            let suffices = is_single(from_ns) && !is_single(0.8 * from_ns);
            assert!(suffices, "{}: {language:?} {from_ns}", file.display());
            count += 1;
        }
    }
    assert!(count >= 20, "only {count} languages have a clock");
}

#[test]
fn quantiles_of_kept_reports_ascend() {
    let mut count = 0;
    for (file, report) in kept() {
        let waits = report.waits.iter().filter_map(|row| row.figures.as_ref());
        let periods = report.periods.iter().filter_map(|row| row.figures.as_ref());
        let waits = waits.flat_map(|figures| &figures.lateness);
        for late in waits.chain(periods.filter_map(|figures| figures.lateness.as_ref())) {
            let row = [late.p50_ns, late.p99_ns, Some(Estimate::exact(late.max_ns))];
            let ascends = row.iter().flatten().is_sorted_by_key(|found| found.value);
            assert!(ascends, "{}: {row:?}", file.display());
            count += 1;
        }
    }
    assert!(count >= 100, "only {count} rows");
}

#[test]
fn summary_and_pick_agree_on_wait() {
    use judgement::choice::waits::{WaitRequirement, choose, summarize_waits};
    let asked = WaitRequirement {
        every_ns: 1e6,
        once: true,
        language: None,
    };
    let mut count = 0;
    for (file, report) in kept() {
        let Some(sentence) = summarize_waits(&report) else {
            continue;
        };
        let Ok(found) = choose(&report, &asked) else {
            continue;
        };
        let blocks = found.picked.expect("a sleep primitive suffices");
        let begins = format!("To wait 1 ms on this machine, use {}, late by ", blocks.id);
        let first = found.others.first().expect("other primitives are measured");
        let names = sentence.contains(&format!("; or {}, where it must not be late", first.id));
        assert!(
            sentence.starts_with(&begins) && names == first.reason.starts_with("where"),
            "{}: {sentence}",
            file.display()
        );
        count += 1;
    }
    assert!(count >= 2, "only {count} reports say how to wait");
}

/// The figures differ from run to run, so the test checks only the form of the answer.
#[test]
fn program_without_arguments_recommends_clock() {
    let answered = command("").env("COLUMNS", "80").assert();
    let text = printed(&answered.success());
    assert!((3..=14).contains(&text.lines().count()), "{text}");
    let mut lines = text.lines();
    assert!(lines.all(|line| line.chars().count() <= 80), "{text}");
    let answer = json(&command("--format json").assert());
    assert_eq!(answer["schema"], "timermeter.answer.v2");
    if let Some(clock) = answer["to_time"].as_object() {
        assert!(
            clock["cost_ns"].as_f64() > Some(0.0) && clock["step_ns"].as_f64() > Some(0.0),
            "{answer}"
        );
    }
}
