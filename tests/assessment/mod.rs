//! Draws machines whose clocks are wrong in a known way, and asks all verbs about them: each gives the
//! same answer, and the right one. `TIMERMETER_DRAW_SEED=7` draws the same machines again.

mod forged;

use std::collections::BTreeSet;
use std::process::Command;

use forged::{Machine, draw};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::Value;
use timermeter::assessment::assess;
use timermeter::model::{Answer, Report};
use timermeter::text::numbers::time;

use crate::program::program;

/// Reports of machines whose kernels take the time from the counter.
const BASES: [&str; 4] = [
    crate::stored::XEON,
    crate::stored::EPYC,
    concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/reports/amd-epyc-zen-4-kvm-debian-12/2026-11-28/report.json"
    ),
    concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23-2/report.json"
    ),
];

/// The seed: another one in each run.
fn seed() -> u64 {
    let given = std::env::var("TIMERMETER_DRAW_SEED").ok();
    let now = || timers::kernel_time().unwrap_or_default();
    given.map_or_else(now, |text| text.parse().expect("the seed is a number"))
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
            ..
        } = machine;
        let found = &report.assessment;
        let truth = format!("{truth}\n{:#?}", found.wrong);
        let unlike: Vec<&String> = report
            .timers
            .iter()
            .filter(|row| {
                let answer = row.trust.as_ref().map(|it| it.answer);
                (answer == Some(Answer::No)) != distrusted.contains(&row.id)
            })
            .map(|row| &row.id)
            .collect();
        assert!(unlike.is_empty(), "{unlike:?} {truth}");
        let unsure = answered(&report, Answer::Open);
        assert!(
            open.iter().all(|id| unsure.contains(&id)),
            "{open:?} {unsure:?} {truth}"
        );
        match (&found.wrong[..], wrong) {
            ([one], Some((part, defect))) => {
                assert_eq!(one.parts, [part.to_string()], "{truth}");
                assert_eq!(one.defect.kind, defect.kind, "{truth}");
                let is_equal = one
                    .defect
                    .size
                    .zip(defect.size)
                    .is_some_and(|(a, b)| (a / b - 1.0).abs() < 1e-6);
                assert!(is_equal, "{truth}");
                let is_right = |id: &String| !distrusted.contains(id);
                assert!(one.witnesses.iter().all(is_right), "{truth}");
            }
            // Two clocks disagree, and nothing shows which is wrong.
            ([one], None) => assert!(one.parts.len() > 1 && !distrusted.is_empty(), "{truth}"),
            ([], None) => assert!(distrusted.is_empty(), "{truth}"),
            _ => panic!("{truth}"),
        }
        assert_eq!(found.quiet, Some(!busy), "{truth}");
        let chosen = found
            .to_time
            .iter()
            .chain(&found.cheapest)
            .chain(&found.hosted);
        let mut unfit = chosen.filter(|id| distrusted.contains(*id));
        assert_eq!(unfit.next(), None, "{truth}");
    });
}

/// What the program prints; its exit status must be one of those of an answer.
fn ask(args: &[&str]) -> String {
    let mut command = Command::new(program());
    let output = command.args(args).env("COLUMNS", "1000").output();
    let output = output.expect("the program starts");
    let is_answer = matches!(output.status.code(), Some(0 | 3));
    assert!(is_answer, "{args:?}: {output:?}");
    let printed = String::from_utf8(output.stdout).expect("it prints UTF-8");
    printed.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn ask_json(args: &[&str]) -> Value {
    let printed = ask(&[args, &["--format", "json"]].concat());
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{args:?}: {error}"))
}

/// The languages that `pick` knows, except C, which it prints by default.
const LANGUAGES: [&str; 6] = ["c", "cpp", "rust", "java", "python", "javascript"];

/// Each verb recommends and distrusts the same clocks, says what is wrong and what disturbed the
/// machine, and prints the same figures.
#[test]
fn verbs_agree() {
    let folder = tempfile::tempdir().expect("the folder is created");
    let [path, other] =
        ["report.json", "before.json"].map(|name| folder.path().join(name).display().to_string());
    for_each_machine(4, |machine| {
        let Machine {
            report,
            truth,
            distrusted,
            mut before,
            ..
        } = machine;
        let text = serde_json::to_string(&report).expect("a report is JSON");
        std::fs::write(&path, text).expect("the file is written");
        let found = &report.assessment;
        let asked = |args: &[&str]| ask(&[args, &["--from", &path]].concat());
        let asked_json = |args: &[&str]| ask_json(&[args, &["--from", &path]].concat());
        let first = found.to_time.as_deref();
        let some_id = report.timers[0].id.as_str();
        // The words.
        for verb in [
            &[][..],
            &["probe"],
            &["probe", some_id],
            &["check"],
            &["pick", "250ns"],
        ] {
            let printed = asked(verb);
            for sentence in found.wrong_in_words() {
                let at = printed
                    .find(&sentence)
                    .unwrap_or_else(|| panic!("{verb:?}: no {sentence}\n{printed}\n{truth}"));
                assert!(at < 1_500, "{verb:?}: {printed}");
            }
            for busy in &found.busy {
                assert!(
                    printed.contains(&busy.message()),
                    "{verb:?}: {printed}\n{truth}"
                );
            }
            assert!(
                found.wrong.is_empty()
                    || !(printed.contains(": good") || printed.contains("is good")),
                "{verb:?}: {printed}\n{truth}"
            );
        }
        let page = asked(&["probe", "--format", "html"]);
        let is_escaped =
            |text: &str| page.contains(&text.replace('&', "&amp;").replace('\'', "&#39;"));
        assert!(
            found.wrong_in_words().iter().all(|one| is_escaped(one)),
            "{truth}"
        );
        assert!(
            found.busy.iter().all(|one| is_escaped(&one.message())),
            "{truth}"
        );
        // The recommended clock, and its figures.
        let answer = asked_json(&[]);
        let picked = asked_json(&["pick", "250ns"]);
        assert_eq!(answer["to_time"]["id"].as_str(), first, "{truth}");
        assert_eq!(picked["picked"]["id"].as_str(), first, "{truth}");
        assert_eq!(
            asked_json(&["check"])["fit"],
            found.wrong.is_empty() && found.busy.is_empty(),
            "{truth}"
        );
        if let Some(row) = report.timers.iter().find(|row| Some(&*row.id) == first) {
            let [cost, step] =
                [row.cost_ns, row.step_or_limit_ns()].map(|it| time(it.map(|it| it.value)));
            let figures = format!("{step} steps, {cost} a read");
            let (short, table) = (asked(&[]), asked(&["probe"]));
            let use_it = format!("To time things, use {} ({figures}", row.id);
            assert!(
                short.contains(&figures) && table.contains(&use_it),
                "{figures}: {short}\n{table}\n{truth}"
            );
            let measured = asked(&["measure", "multiply", "--time", "10ms"]);
            assert!(
                measured.contains(&format!("clock {}: ", row.id)),
                "{measured}\n{truth}"
            );
            assert!(
                found.warnings().iter().all(|one| measured.contains(one)),
                "{measured}\n{truth}"
            );
        }
        // The clocks that cannot be trusted.
        for verb in [
            &["probe", "--from", &path][..],
            &["table", "--columns", "all", &path],
        ] {
            let output = Command::new(program())
                .args(verb)
                .args(["--format", "csv"])
                .output();
            let csv = output.expect("it starts").stdout;
            let mut table = csv::Reader::from_reader(&csv[..]);
            let names = table.headers().expect("it has names").clone();
            let [id, trust] =
                ["timer", "trust"].map(|name| names.iter().position(|one| one == name));
            for line in table.records() {
                let line = line.expect("a row");
                let [id, trust] = [id, trust].map(|at| &line[at.expect("the column")]);
                let row = report
                    .timers
                    .iter()
                    .find(|row| row.id == id)
                    .expect("a row");
                let expected = row
                    .trust
                    .as_ref()
                    .map_or_else(String::new, |it| it.in_short());
                assert_eq!(trust, expected, "{verb:?} {id}: {truth}");
            }
        }
        // What was not tested in one of two runs is no change; what is wrong in the second is one.
        before.created = "2026-01-01T00:00:00Z".to_owned();
        std::fs::write(&other, serde_json::to_string(&before).expect("JSON")).expect("written");
        let compared = ask_json(&["compare", &other, &path]);
        let changed: BTreeSet<&str> = compared["answers"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|one| one["timer"].as_str())
            .collect();
        assert_eq!(
            changed,
            distrusted.iter().map(String::as_str).collect(),
            "{truth}"
        );
        for language in LANGUAGES {
            let args = [
                "pick", "250ns", "--for", language, "--from", &path, "--format", "json",
            ];
            let output = Command::new(program())
                .args(args)
                .output()
                .expect("it starts");
            let Ok(choice) = serde_json::from_slice::<Value>(&output.stdout) else {
                // The report has no clock of this language.
                assert_eq!(output.status.code(), Some(1), "{output:?}");
                continue;
            };
            let picked = choice["picked"]["id"].as_str();
            assert!(
                picked.is_none_or(|id| !distrusted.contains(id)),
                "{language}: {choice}\n{truth}"
            );
            assert_eq!(
                output.status.code(),
                Some(if picked.is_some() { 0 } else { 3 }),
                "{truth}"
            );
        }
        if let Some(id) = distrusted.iter().find(|id| timers::find(id).is_some()) {
            let args = ["measure", "multiply", "--clock", id, "--from", &path];
            let output = Command::new(program())
                .args(args)
                .output()
                .expect("it starts");
            assert_eq!(output.status.code(), Some(1), "{id}: {output:?}\n{truth}");
        }
    });
}
