//! `table` and `compare` with files of reports.

use std::fs;

use predicates::prelude::*;
use predicates::str::contains;

use super::folder::Folder;
use super::{json, run, timermeter};
use crate::stored::{EPYC, MBP53, XEON};

const MBP62: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/reports/icpe2011-mbp62/2011-03-14/report.json"
);

/// Writes a copy of the report MBP53 with some replacements, and returns its path.
fn write_changed(folder: &Folder, name: &str, changes: &[(&str, &str)]) -> String {
    let mut text = fs::read_to_string(MBP53).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    fs::write(folder.file(name), text).unwrap();
    folder.arg(name)
}

#[test]
fn table_skips_unreadable_reports() {
    let folder = Folder::new();
    write_changed(&folder, "good.json", &[]);
    fs::write(folder.file("cut.json"), &fs::read(MBP53).unwrap()[..900]).unwrap();
    fs::create_dir(folder.file("empty")).unwrap();
    let (all, empty) = (folder.arg("."), folder.arg("empty"));
    run(&format!("table {all} {empty}"))
        .code(3)
        .stdout(contains("HRC").and(contains("Quality %")))
        .stderr(contains("cut.json").and(contains("line ")))
        .stderr(contains("there is no report in the folder").and(contains("empty")));
    run(&format!("table {empty}")).code(1).stdout("");
}

#[test]
fn comparison_names_changes() {
    let folder = Folder::new();
    let lost = write_changed(
        &folder,
        "lost.json",
        &[("\"id\": \"PCT\"", "\"id\": \"PCT2\"")],
    );
    run(&format!("compare {MBP53} {lost}")).success().stdout(
        contains("only in the old report  PCT\n").and(contains("only in the new report  PCT2")),
    );
    run(&format!("compare {MBP53} {lost} --fail-if lost>0"))
        .code(3)
        .stdout(contains("a timer lost its figures: PCT"));
    // Published figures have no intervals; their differences count as they are.
    run(&format!(
        "compare {MBP53} {MBP62} --fail-if cost[NANO]<-20%"
    ))
    .code(3);
    let value = json(&run(&format!("compare {MBP53} {MBP62} --format json")).success());
    assert!(
        value["figures"]
            .as_array()
            .is_some_and(|figures| figures.len() == 32),
        "{value}"
    );
    assert_eq!(value["platform"][0]["what"], "CPU", "{value}");
}

#[test]
fn folder_needs_two_sides() {
    let folder = Folder::new();
    write_changed(&folder, "a.json", &[]);
    let runs = folder.arg(".");
    for args in [
        &[runs.as_str(), MBP62][..],
        &[MBP62, &runs],
        &[&runs, &runs],
        &[&runs],
    ] {
        timermeter(&[&["compare"], args].concat())
            .code(2)
            .stderr(contains("is a folder").and(contains("compare OLD... -- NEW...")));
    }
    run(&format!("compare {runs} -- {runs}")).success();
}

#[test]
fn undecided_comparison_has_own_status() {
    let folder = Folder::new();
    fs::write(folder.file("cut.json"), &fs::read(MBP53).unwrap()[..900]).unwrap();
    timermeter(&["compare", MBP53, &folder.arg("cut.json")])
        .code(4)
        .stderr(contains("line "));
    // Published reports answer no question of trust, so the condition cannot be decided.
    let result = run(&format!(
        "compare {MBP53} {MBP53} --fail-if trust<0 --format json"
    ))
    .code(4);
    let value = json(&result.stderr(contains("not everything could be decided")));
    assert_eq!(
        (
            &value["exit_status"],
            value["open"].as_array().map(Vec::len)
        ),
        (&4.into(), Some(1)),
        "{value}"
    );
    // A condition that holds determines the status, even if another one is undecided.
    run(&format!(
        "compare {MBP53} {MBP62} --fail-if trust<0 --fail-if cost[NANO]<-20%"
    ))
    .code(3)
    .stdout(contains(
        "a read of NANO costs more than 20 % less: NANO (-",
    ));
}

#[test]
fn compares_several_runs_per_side() {
    let folder = Folder::new();
    let text = fs::read_to_string(EPYC).unwrap();
    let at = text.find("\"created\"").expect("it says when it was made");
    let at = at + text[at..].find("20").expect("a year");
    for side in ["old", "new"] {
        fs::create_dir(folder.file(side)).unwrap();
        for (number, name) in ["a", "b", "c"].into_iter().enumerate() {
            let text = format!("{}{}{}", &text[..at], 2030 + number, &text[at + 4..]);
            fs::write(folder.file(&format!("{side}/{name}.json")), text).unwrap();
        }
    }
    let [old, new, one] = ["old", "new", "new/b.json"].map(|name| folder.arg(name));
    let args = ["compare", &old, "--", &new];
    timermeter(&args)
        .success()
        .stdout(predicate::str::starts_with("costs unchanged (").and(contains("and 3 new runs")));
    let value = json(&run(&format!("compare --format json {old} -- {one}")).success());
    assert_eq!(
        (&value["runs"][0], &value["runs"][1]),
        (&3.into(), &1.into()),
        "{value}"
    );
    run(&format!("compare {old} -- {one} {one}"))
        .code(2)
        .stderr(contains("each run counts once"));
    run(&format!("compare {EPYC} {XEON} -- {new}"))
        .code(2)
        .stderr(contains("not of the same machine"));
    fs::write(folder.file("new/d.json"), "{}").unwrap();
    timermeter(&args)
        .code(4)
        .stdout(predicate::str::starts_with("costs unchanged ("))
        .stderr(contains("d.json"));
}
