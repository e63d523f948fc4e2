//! Tests what reports and `timermeter` without arguments recommend.

use assert_cmd::assert::OutputAssertExt;
use clap::ValueEnum;
use estimators::model::Nanos;
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
                    clocks: picked.id.rsplit(':').take(1).map(str::to_owned).collect(),
                    ..Requirement::new(Nanos(ns), 0.01)
                };
                let picked = choose(&report, &requirement).ok().and_then(|it| it.picked);
                let plan = picked.and_then(|it| it.figures.plan);
                plan.is_some_and(|plan| plan.method == RecipeMethod::Single)
            };
            let suffices = is_single(from_ns) && !is_single(0.8 * from_ns);
            assert!(suffices, "{}: {language:?} {from_ns}", file.display());
            count += 1;
        }
    }
    assert!(count >= 20, "only {count} languages have a clock");
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
    let clock = &answer["to_time"];
    let figures = ["cost_ns", "step_ns"].map(|key| clock[key].as_f64());
    assert!(
        clock.is_null() || figures.iter().all(|ns| *ns > Some(0.0)),
        "{answer}"
    );
}
