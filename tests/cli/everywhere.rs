//! What all commands have: formats, output files, `--quiet`, `--node` and the characters of the
//! locale.

use std::collections::BTreeSet;
use std::fs;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use predicates::str::contains;
use serde_json::Value;

use super::folder::Folder;
use super::{json, printed, program, run, timermeter};

const CLOCKS: &str = "reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23/report.json";
const WAITS: &str = "reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23-3/report.json";

/// Commands that read reports or this machine, without their formats.
const SCREENS: [&[&str]; 9] = [
    &["--from", CLOCKS],
    &["check", "-v"],
    &["check", "--from", CLOCKS],
    &["inspect", "rdtsc", "--from", CLOCKS, "-v"],
    &["pick", "250ns", "--from", CLOCKS],
    &["compare", CLOCKS, CLOCKS],
    &["list"],
    &["table", CLOCKS],
    &["explain", "cost"],
];

fn in_locale(args: &[&str], locale: &str) -> Assert {
    let mut command = Command::new(program());
    command.args(args).env("LC_ALL", locale).assert()
}

#[test]
fn commands_share_their_flags() {
    let folder = Folder::new();
    for screen in SCREENS {
        let (text, data) = (folder.arg("a.txt"), folder.arg("a.json"));
        let flags = ["-f", "json", "-o", &text, "-o", &data, "--quiet"];
        let shown = timermeter(&[screen, &flags].concat());
        let document = json(&shown);
        assert!(document.is_object() || document.is_array(), "{screen:?}");
        assert!(!fs::read_to_string(&text).unwrap().is_empty(), "{screen:?}");
        let written: Value = serde_json::from_str(&fs::read_to_string(&data).unwrap()).unwrap();
        assert_eq!(written.is_array(), document.is_array(), "{screen:?}");
        timermeter(&[screen, &["-o", &folder.arg("a.what")]].concat())
            .code(2)
            .stderr(contains("end it in"));
    }
}

#[test]
fn node_is_named_with_its_platform() {
    let folder = Folder::new();
    let mut report: Value = serde_json::from_str(&fs::read_to_string(CLOCKS).unwrap()).unwrap();
    report["node"] = "web-17".into();
    let file = folder.arg("report.json");
    fs::write(&file, report.to_string()).unwrap();
    for (screen, words) in [
        (&["report", &file][..], "# machine  web-17 · AMD EPYC"),
        (
            &["inspect", "rdtsc", "--from", &file],
            "# machine  web-17 · ",
        ),
        (&["table", &file, CLOCKS], "web-17 · amd-epyc"),
        (&["compare", &file, CLOCKS], "node  web-17 → not reported"),
        (&["--from", &file], "# node  web-17"),
        (&["check", "--node", "db 3"], "# node  db 3"),
    ] {
        let shown = timermeter(screen).get_output().stdout.clone();
        let shown = String::from_utf8(shown).unwrap();
        assert!(shown.contains(words), "{screen:?}: {words}\n{shown}");
    }
    let checked = json(&timermeter(&["check", "--node", "db 3", "-f", "json"]));
    assert_eq!(checked["node"], "db 3");
    assert!(json(&run("check -f json")).get("node").is_none());
}

#[test]
fn ascii_locale_prints_ascii() {
    for screen in SCREENS
        .into_iter()
        .chain([&["report", WAITS][..], &["report", CLOCKS, "-v"]])
    {
        let text = printed(&in_locale(screen, "C"));
        let other = text.lines().find(|line| !line.is_ascii());
        assert_eq!(other, None, "{screen:?}");
        if screen.contains(&WAITS) {
            assert!(text.contains(" us ") && !text.contains(" ?"), "{text}");
        }
    }
    let other = printed(&in_locale(&["report", WAITS], "en_US.UTF-8").success());
    assert!(other.contains(" µs "), "{other}");
    // Formats for programs and documents keep all characters.
    let markdown = printed(&in_locale(&["report", WAITS, "-f", "markdown"], "C").success());
    assert!(markdown.contains(" µs "), "{markdown}");
    in_locale(&["probe", "--budget", "時"], "C")
        .code(2)
        .stderr(contains("'?'"));
}

#[test]
fn quiet_omits_suggestions() {
    let hint = "-v: ";
    let loud = printed(&run(&format!("report {CLOCKS}")).success());
    let quiet = printed(&run(&format!("report {CLOCKS} --quiet")).success());
    assert!(loud.contains(hint) && !quiet.contains(hint), "{quiet}");
    for (value, is_quiet) in [("1", true), ("true", true), ("0", false), ("", false)] {
        let shown = Command::new(program())
            .args(["report", CLOCKS])
            .env("TIMERMETER_QUIET", value)
            .assert();
        let text = printed(&shown.success());
        assert_eq!(text.contains(hint), !is_quiet, "{value}: {text}");
    }
}

#[test]
fn watch_writes_files() {
    let folder = Folder::new();
    let (text, data) = (folder.arg("w.txt"), folder.arg("w.json"));
    let watch = ["watch", "300ms", "-o", &text, "-o", &data, "-f", "json"];
    let shown = printed(&timermeter(&watch).success());
    assert_eq!(fs::read_to_string(&data).unwrap(), shown);
    let text = fs::read_to_string(&text).unwrap();
    assert!(
        text.contains("  begins: ") && text.contains("  ends: "),
        "{text}"
    );
}

#[test]
fn common_notes_need_verbose() {
    let text = printed(&run(&format!("report {CLOCKS}")).success());
    let (_, notes) = text.split_once("\nnotes\n").unwrap();
    assert!(!notes.contains("unit-finer-than-step"), "{text}");
    let all = printed(&run(&format!("report {CLOCKS} -v")).success());
    let (_, all_notes) = all.split_once("\nnotes\n").unwrap();
    assert!(all_notes.contains("unit-finer-than-step"), "{all}");
    // The tables cite the notes that are printed, and no others.
    for text in [&text, &all] {
        let (table, notes) = text.split_once("\nnotes\n").unwrap();
        let notes = notes.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            ["note", "warning"].contains(&words.next()?).then_some(())?;
            words.next()?.parse().ok()
        });
        let notes: Vec<usize> = notes.collect();
        let rows = table.lines().filter(|line| line.contains(" yes  "));
        let cited = rows.flat_map(|row| row.split_whitespace().last().unwrap().split(','));
        let cited: BTreeSet<usize> = cited.filter_map(|number| number.parse().ok()).collect();
        assert!(
            !cited.is_empty() && cited.iter().all(|number| notes.contains(number)),
            "{text}"
        );
        assert_eq!(notes, Vec::from_iter(1..=notes.len()), "{text}");
    }
    // With few timers, every note is printed.
    let folder = Folder::new();
    let mut report: Value = serde_json::from_str(&fs::read_to_string(CLOCKS).unwrap()).unwrap();
    report["timers"].as_array_mut().unwrap().truncate(3);
    fs::write(folder.file("few.json"), report.to_string()).unwrap();
    let few = printed(&timermeter(&["report", &folder.arg("few.json")]).success());
    assert!(few.contains("unit-finer-than-step"), "{few}");
}
