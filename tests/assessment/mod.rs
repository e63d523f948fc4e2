//! Draws machines whose clocks are wrong in a known way, and asks all verbs about them: each gives the
//! same answer, and the right one. `TIMERMETER_DRAW_SEED=7` draws the same machines again.

mod forged;

use assert_cmd::assert::{Assert, OutputAssertExt};
use estimators::model::{Answer, Fit, Report};
use forged::{Machine, draw};
use judgement::assessment::assess;
use predicates::prelude::*;
use rand::SeedableRng;
use rand::rngs::StdRng;
use reporting::text::numbers::time;

use crate::program::{command, json, printed};

/// Reports of machines whose kernels take the time from the counter.
const BASES: [&str; 4] = [
    crate::stored::XEON,
    crate::stored::EPYC,
    "reports/amd-epyc-zen-4-kvm-debian-12/2026-11-28/report.json",
    "reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23-2/report.json",
];

/// The seed: another one in each run.
fn seed() -> u64 {
    let given = std::env::var("TIMERMETER_DRAW_SEED").ok();
    let now = || timers::kernel_time().unwrap_or_default();
    given.map_or_else(now, |text| text.parse().unwrap())
}

/// Draws machines; the seed of one that fails is printed.
fn for_each_machine(count: u64, mut test: impl FnMut(Machine)) {
    let first = seed();
    for seed in first..first + count {
        let mut random = StdRng::seed_from_u64(seed);
        let mut machine = draw(&mut random);
        assess(&mut machine.report);
        machine.truth = format!("TIMERMETER_DRAW_SEED={seed}: {}", machine.truth);
        test(machine);
    }
}

/// The ids of the clocks with this answer.
fn answered(report: &Report, answer: Answer) -> Vec<&String> {
    let rows = report.timers.iter();
    let has = rows.filter(|row| row.trust.as_ref().is_some_and(|it| it.answer == answer));
    let mut ids: Vec<&String> = has.map(|row| &row.id).collect();
    ids.sort();
    ids
}

#[test]
fn blames_what_is_wrong() {
    for_each_machine(40, |machine| {
        let Machine {
            report,
            truth,
            wrong,
            distrusted,
            open,
            busy,
        } = machine;
        let found = &report.assessment;
        let truth = format!("{truth}\n{:#?}", found.wrong);
        let may_be_fit = !distrusted.contains("monotonic");
        assert!(may_be_fit || found.fit == Fit::No, "{truth}");
        let wrong_ids = answered(&report, Answer::No);
        assert!(
            wrong_ids.iter().copied().eq(&distrusted),
            "{wrong_ids:?} {truth}"
        );
        let unsure = answered(&report, Answer::Open);
        assert!(
            open.iter().all(|id| unsure.contains(&id)),
            "{unsure:?} {truth}"
        );
        match (&found.wrong[..], wrong) {
            ([one], Some((part, defect))) => {
                assert_eq!(one.parts, [part.to_string()], "{truth}");
                assert_eq!(one.defect.kind, defect.kind, "{truth}");
                let [size, drawn] = [one.defect, defect].map(|it| it.size.unwrap());
                assert!((size / drawn - 1.0).abs() < 1e-6, "{size} {truth}");
                let mut witnesses = one.witnesses.iter();
                assert!(!witnesses.any(|id| distrusted.contains(id)), "{truth}");
            }
            // Two clocks disagree, and nothing shows which is wrong.
            ([one], None) => assert!(one.parts.len() > 1 && !distrusted.is_empty(), "{truth}"),
            ([], None) => assert!(distrusted.is_empty(), "{truth}"),
            _ => panic!("{truth}"),
        }
        assert_eq!(found.quiet, Some(!busy), "{truth}");
        let chosen = [&found.to_time, &found.cheapest].into_iter().flatten();
        let mut unfit = chosen
            .chain(&found.hosted)
            .filter(|id| distrusted.contains(*id));
        assert_eq!(unfit.next(), None, "{truth}");
    });
}

/// Runs the program, whose exit status must be one of those of an answer.
fn ask(line: &str) -> Assert {
    let ended = command(line).env("COLUMNS", "1000").assert();
    ended.code(predicate::in_iter([0, 3]))
}

/// Languages that `pick` knows.
const LANGUAGES: [&str; 6] = ["c", "cpp", "rust", "java", "python", "javascript"];

/// Each verb recommends and distrusts the same clocks, says what is wrong and what disturbed the
/// machine, and prints the same figures.
#[test]
fn verbs_agree() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json").display().to_string();
    for_each_machine(4, |machine| {
        let Machine {
            report,
            truth,
            distrusted,
            ..
        } = machine;
        let text = serde_json::to_string(&report).unwrap();
        std::fs::write(&path, text).unwrap();
        let found = &report.assessment;
        let asked = |line: &str| {
            let text = printed(&ask(&format!("{line} --from {path}")));
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let asked_json = |line: &str| json(&ask(&format!("{line} -f json --from {path}")));
        let first = found.to_time.as_deref();
        let some_id = report.timers[0].id.as_str();
        // The words.
        let busy: Vec<String> = found.busy.iter().map(|busy| busy.message()).collect();
        let probe = format!("probe {some_id}");
        for verb in ["", "probe", &probe, "check", "pick 250ns"] {
            let printed = asked(verb);
            let context = format!("{verb}: {printed}\n{truth}");
            for sentence in found.wrong_in_words() {
                let at = printed.find(&sentence);
                assert!(at.is_some_and(|at| at < 1_500), "{sentence}: {context}");
            }
            assert!(busy.iter().all(|it| printed.contains(it)), "{context}");
            let fit = format!("CLOCK_MONOTONIC: {}.", found.fit_in_words());
            assert!(verb != "check" || printed.contains(&fit), "{context}");
        }
        let page = asked("probe --format html");
        for sentence in found.wrong_in_words().iter().chain(&busy) {
            let escaped = sentence.replace('&', "&amp;").replace('\'', "&#39;");
            assert!(page.contains(&escaped), "{sentence}: {truth}");
        }
        // The recommended clock, and its figures.
        let answer = asked_json("");
        let picked = asked_json("pick 250ns");
        assert_eq!(answer["to_time"]["id"].as_str(), first, "{truth}");
        assert_eq!(picked["picked"]["id"].as_str(), first, "{truth}");
        let is_fit = found.wrong.is_empty() && found.busy.is_empty();
        assert_eq!(asked_json("check")["fit"], is_fit, "{truth}");
        if let Some(row) = report.timers.iter().find(|row| Some(&*row.id) == first) {
            let [cost, step] =
                [row.cost_ns, row.step_or_limit_ns()].map(|it| time(it.map(|it| it.value)));
            let figures = format!("{step} steps, {cost} a read");
            let (short, table) = (asked(""), asked("probe"));
            let use_it = format!("To time things, use {} ({figures}", row.id);
            assert!(
                short.contains(&figures) && table.contains(&use_it),
                "{figures}: {short}\n{table}\n{truth}"
            );
            let measured = asked("measure multiply --time 10ms");
            for words in [vec![format!("clock {}: ", row.id)], found.warnings()].concat() {
                assert!(measured.contains(&words), "{measured}\n{truth}");
            }
        }
        // The clocks that cannot be trusted.
        let table = json(&ask(&format!("table {path} --columns clock,trust -f json")));
        for (row, line) in report.timers.iter().zip(table.as_array().unwrap()) {
            let trust = row.trust.as_ref().map(|it| it.in_short());
            let found = [&line["timer"], &line["trust"]];
            assert_eq!(found, [&row.id, &trust.unwrap_or_default()], "{truth}");
        }
        for language in LANGUAGES {
            let line = format!("pick 250ns --for {language} --from {path} -f json");
            let ended = command(&line).assert();
            if ended.get_output().status.code() == Some(1) {
                continue; // The report has no clock of this language.
            }
            let choice = json(&ended);
            let picked = choice["picked"]["id"].as_str();
            let is_wrong = picked.is_some_and(|id| distrusted.contains(id));
            assert!(!is_wrong, "{language}: {choice}\n{truth}");
            ended.code(if picked.is_some() { 0 } else { 3 });
        }
        if let Some(id) = distrusted.iter().find(|id| timers::find(id).is_some()) {
            let line = format!("measure multiply --clock {id} --from {path}");
            command(&line).assert().code(1);
        }
    });
}
