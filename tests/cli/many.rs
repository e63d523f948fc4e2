//! `table` and `compare` with files of reports.

use std::fs;

use predicates::prelude::*;
use predicates::str::contains;

use super::folder::Folder;
use super::{json, printed, timermeter};

const MBP53: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/reports/icpe2011-mbp53/2011-03-14/report.json"
);
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
    write_changed(
        &folder,
        "other.json",
        &[("timermeter.report.v2", "timermeter.report.v7")],
    );
    write_changed(
        &folder,
        "twice.json",
        &[("\"id\": \"CTM\"", "\"id\": \"NANO\"")],
    );
    fs::write(folder.file("cut.json"), &fs::read(MBP53).unwrap()[..900]).unwrap();
    fs::create_dir(folder.file("empty")).unwrap();
    let (all, empty) = (folder.arg("."), folder.arg("empty"));
    timermeter(&["table", &all, &empty])
        .code(3)
        .stdout(contains("HRC").and(contains("Quality %")))
        .stderr(contains("other.json").and(contains("report.v7")))
        .stderr(contains("two clocks are 'NANO'"))
        .stderr(contains("cut.json").and(contains("line ")))
        .stderr(contains("there is no report in the folder").and(contains("empty")));
    timermeter(&["table", &empty])
        .code(1)
        .stdout(predicate::str::is_empty())
        .stderr(contains("no report"));
    timermeter(&["table", MBP53, "--columns", "speed"])
        .code(2)
        .stderr(contains("speed").and(contains("quality")));
}

#[test]
fn platforms_side_by_side() {
    let text = printed(&timermeter(&["table", MBP53, MBP62, "--layout", "side-by-side"]).success());
    let row = text
        .lines()
        .find(|line| line.starts_with("NANO"))
        .unwrap_or_else(|| panic!("{text}"));
    assert_eq!(
        row.split_whitespace().collect::<Vec<_>>(),
        ["NANO", "25.82", "26.95"]
    );
    assert!(
        text.starts_with("# [1]") && text.contains("[2] Quality %"),
        "{text}"
    );
    let printed_column = [
        "table",
        MBP53,
        "--columns",
        "timer,quality,printed",
        "--format",
        "csv",
    ];
    assert!(printed(&timermeter(&printed_column).success()).contains(",0.434"));
}

#[test]
fn comparison_names_changes() {
    let folder = Folder::new();
    let lost = write_changed(
        &folder,
        "lost.json",
        &[("\"id\": \"PCT\"", "\"id\": \"PCT2\"")],
    );
    timermeter(&["compare", MBP53, &lost]).success().stdout(
        contains("only in the old report  PCT\n").and(contains("only in the new report  PCT2")),
    );
    timermeter(&["compare", MBP53, &lost, "--fail-if", "lost>0"])
        .code(3)
        .stdout(contains("lost>0 holds (PCT)"));
    timermeter(&["compare", MBP53, MBP62, "--fail-if", "quality<-50"]).success();
    // Published figures have no intervals; their differences count as they are.
    timermeter(&["compare", MBP53, MBP62, "--fail-if", "cost[NANO]<-20%"]).code(3);
    let value = json(&timermeter(&["compare", MBP53, MBP62, "--format", "json"]).success());
    assert!(
        value["figures"]
            .as_array()
            .is_some_and(|figures| figures.len() == 32),
        "{value}"
    );
    assert_eq!(value["platform"][0]["what"], "CPU", "{value}");
    timermeter(&["compare", MBP53, MBP62, "--format", "markdown"])
        .success()
        .stdout(contains("| NANO | cost |"));
}

#[test]
fn changed_clock_source_comes_first() {
    let folder = Folder::new();
    let with = |name: &str, source: &str| {
        write_changed(
            &folder,
            name,
            &[("\"current\": null", &format!("\"current\": \"{source}\""))],
        )
    };
    let (old, new) = (with("old.json", "tsc"), with("new.json", "hpet"));
    for format in ["table", "markdown"] {
        let text = printed(&timermeter(&["compare", &old, &new, "--format", format]).success());
        assert!(
            text.lines()
                .next()
                .is_some_and(|line| line.contains("tsc → hpet")),
            "{text}"
        );
    }
}

#[test]
fn compares_across_clock_source_change() {
    let folder = Folder::new();
    let old = write_changed(
        &folder,
        "old.json",
        &[("\"current\": null", "\"current\": \"tsc\"")],
    );
    // The keys of all figures are renamed, so the new report has none.
    let text = fs::read_to_string(MBP53)
        .unwrap()
        .replace("\"status\": \"ok\"", "\"status\": \"failed\"");
    let text = text
        .replace("\"current\": null", "\"current\": \"hpet\"")
        .replace("\"quality\":", "\"was\":");
    let text = text
        .replace("\"resolution\":", "\"was2\":")
        .replace("\"cost\":", "\"was3\":");
    let text = text.replace("\"spread\":", "\"was4\":");
    fs::write(folder.file("new.json"), text).unwrap();
    let new = folder.arg("new.json");
    timermeter(&["compare", &old, &new, "--fail-if", "lost>0"])
        .code(3)
        .stdout(predicate::str::starts_with(
            "clock source: tsc → hpet (reads through the kernel",
        ))
        .stdout(contains("lost>0 holds (").and(contains("lost figures")));
}

#[test]
fn refuses_reports_without_common_timer() {
    let folder = Folder::new();
    let changes = ["CTCT", "CTM", "CTUT", "HRC", "NANO", "PCT", ".DAT", ".STO"]
        .map(|id| (format!("\"id\": \"{id}\""), format!("\"id\": \"x{id}\"")));
    let changes: Vec<(&str, &str)> = changes
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let other = write_changed(&folder, "b.json", &changes);
    timermeter(&["compare", &other, MBP62])
        .code(4)
        .stderr(contains("b.json").and(contains("no timer is in both")));
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
    timermeter(&["compare", &runs, "--", &runs]).success();
}

#[test]
fn rejects_invalid_condition() {
    for condition in ["speed<1", "cost>10", "quality", "-1"] {
        timermeter(&["compare", MBP53, MBP62, "--fail-if", condition])
            .code(2)
            .stderr(contains("FIELD OPERATOR NUMBER"));
    }
}

#[test]
fn condition_on_unknown_timer_is_refused() {
    for (condition, words) in [
        ("cost[NANOO]>5%", "did you mean `NANO`"),
        ("cost[x*]>5%", "no timer in it matches `x*`"),
    ] {
        timermeter(&["compare", MBP53, MBP62, "--fail-if", condition])
            .code(2)
            .stdout(predicate::str::is_empty())
            .stderr(contains(words).and(contains(condition)));
    }
}

#[test]
fn undecided_comparison_has_own_status() {
    let folder = Folder::new();
    fs::write(folder.file("cut.json"), &fs::read(MBP53).unwrap()[..900]).unwrap();
    timermeter(&["compare", MBP53, &folder.arg("cut.json")])
        .code(4)
        .stderr(contains("line "));
    timermeter(&["compare", &folder.arg("none.json"), MBP53]).code(4);
    // Reports of clocks have no lateness, so the condition cannot be decided.
    let result = timermeter(&[
        "compare",
        MBP53,
        MBP53,
        "--fail-if",
        "lateness>5%",
        "--format",
        "json",
    ])
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
    assert!(
        value["sentences"][0].as_str().is_some_and(
            |reason| reason.starts_with("costs unknown, because no figure has an interval")
        ),
        "{value}"
    );
    // An unreadable report is reported in JSON, too.
    let cut = timermeter(&[
        "compare",
        MBP53,
        &folder.arg("cut.json"),
        "--format",
        "json",
    ])
    .code(4);
    let value = json(&cut);
    assert_eq!(value["exit_status"], 4, "{value}");
    assert!(
        value["open"][0]
            .as_str()
            .is_some_and(|why| why.contains("cut.json")),
        "{value}"
    );
    // A condition that holds determines the status, even if another one is undecided.
    timermeter(&[
        "compare",
        MBP53,
        MBP62,
        "--fail-if",
        "lateness>5%",
        "--fail-if",
        "cost[NANO]<-20%",
    ])
    .code(3)
    .stdout(contains("cost[NANO]<-20% holds (-"));
}

#[test]
fn same_cpu_rejects_other_cpu() {
    let refused = "the baseline is of another CPU: Intel Core 2 Duo T9600";
    timermeter(&["compare", MBP53, MBP62]).success();
    timermeter(&["compare", MBP53, MBP53, "--same-cpu"]).success();
    let of_other: [&[&str]; 2] = [
        &[MBP53, MBP62, "--same-cpu"],
        &[MBP53, "--same-cpu", "--", MBP62],
    ];
    for args in of_other {
        timermeter(&[&["compare"], args].concat())
            .code(4)
            .stdout(predicate::str::is_empty())
            .stderr(contains(refused));
    }
}

#[test]
fn compares_several_runs_per_side() {
    const KEPT: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/epyc-2026-11-21.json"
    );
    const OTHER: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/xeon-2026-11-21.json"
    );
    let folder = Folder::new();
    let text = fs::read_to_string(KEPT).unwrap();
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
    let value = json(&timermeter(&["compare", "--format", "json", &old, "--", &one]).success());
    assert_eq!(
        (&value["runs"][0], &value["runs"][1]),
        (&3.into(), &1.into()),
        "{value}"
    );
    timermeter(&["compare", &old, "--", &one, &one])
        .code(2)
        .stderr(contains("each run counts once"));
    timermeter(&["compare", KEPT, OTHER, "--", &new])
        .code(2)
        .stderr(contains("not of the same machine"));
    timermeter(&["compare", KEPT, OTHER, &one])
        .code(2)
        .stderr(contains("compare OLD... -- NEW..."));
    timermeter(&["compare", KEPT, "--", &folder.arg("nothing.json")]).code(4);
    fs::write(folder.file("new/d.json"), "{}").unwrap();
    timermeter(&args)
        .code(4)
        .stdout(predicate::str::starts_with("costs unchanged ("))
        .stderr(contains("d.json"));
}

#[test]
fn missing_timer_error_lists_present_ones() {
    timermeter(&["inspect", "nosuch", "--from", MBP53])
        .code(2)
        .stderr(
            contains("no timer in it is called `nosuch`")
                .and(contains("NANO"))
                .and(contains("timermeter list").not()),
        );
    timermeter(&["inspect", "NANOO", "--from", MBP53])
        .code(2)
        .stderr(contains("did you mean `NANO`"));
}

#[test]
fn default_columns_include_trust() {
    let text = printed(&timermeter(&["table", MBP53]).success());
    assert!(
        text.lines()
            .next()
            .is_some_and(|line| line.trim_end().ends_with("trust")),
        "{text}"
    );
}
