//! What all commands have: formats, output files, `--quiet`, `--node` and the characters of the
//! locale.

use std::fs;

use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use super::folder::Folder;
use super::{assert_fails, command, json, printed, run};

const CLOCKS: &str = "reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23/report.json";
const WAITS: &str = "probe --from reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23-3/report.json";

/// Commands that read reports or this machine, without their formats.
const SCREENS: [&str; 9] = [
    "--from CLOCKS",
    "check -v",
    "check --from CLOCKS",
    "probe rdtsc --from CLOCKS -v",
    "pick 250ns --from CLOCKS",
    "compare CLOCKS CLOCKS",
    "list",
    "table CLOCKS",
    "explain cost",
];

fn in_locale(line: &str, locale: &str) -> Assert {
    command(line).env("LC_ALL", locale).assert()
}

#[test]
fn commands_share_their_flags() {
    let folder = Folder::new();
    for screen in SCREENS {
        let screen = screen.replace("CLOCKS", CLOCKS);
        let file = folder.arg("a");
        let flags = format!("-f json -o {file}.txt -o {file}.json --quiet");
        let document = json(&run(&format!("{screen} {flags}")));
        assert!(document.is_object() || document.is_array(), "{screen}");
        let [text, data] =
            ["txt", "json"].map(|end| fs::read_to_string(format!("{file}.{end}")).unwrap());
        assert!(!text.is_empty(), "{screen}");
        let written: Value = serde_json::from_str(&data).unwrap();
        assert_eq!(written.is_array(), document.is_array(), "{screen}");
        assert_fails(&format!("{screen} -o {file}.what"), 2, "end it in");
    }
}

#[test]
fn ascii_locale_prints_ascii() {
    for screen in SCREENS.into_iter().chain([WAITS, "probe --from CLOCKS -v"]) {
        let text = printed(&in_locale(&screen.replace("CLOCKS", CLOCKS), "C"));
        let other = text.lines().find(|line| !line.is_ascii());
        assert_eq!(other, None, "{screen}");
    }
    let ascii = in_locale(WAITS, "C").success();
    ascii.stdout(contains(" us ").and(contains(" ?").not()));
    let other = in_locale(WAITS, "en_US.UTF-8").success();
    other.stdout(contains(" µs "));
    // Formats for programs and documents keep all characters.
    let markdown = in_locale(&format!("{WAITS} -f markdown"), "C").success();
    markdown.stdout(contains(" µs "));
    in_locale("probe --budget 時", "C")
        .code(2)
        .stderr(contains("'?'"));
}

/// Output for people fits the width of a terminal.
#[test]
fn output_fits_terminal_width() {
    let more = [
        "measure",
        "table OLD CLOCKS",
        "compare OLD CLOCKS --all",
        "probe * --from WAITS",
        "pick --every 1ms --from WAITS",
        "compare WAITS WAITS --all",
        "table WAITS --all",
    ];
    for screen in SCREENS.into_iter().chain(more) {
        let screen = screen
            .replace("OLD", "tests/data/xeon-2026-11-21.json")
            .replace("CLOCKS", CLOCKS)
            .replace("WAITS", "tests/fuzz/corpus/report/waits.json");
        // Code is not folded, and comparisons are wider than 40 columns.
        let is_wide = screen.starts_with("compare") || screen.starts_with("pick");
        let narrow = (!is_wide).then_some(40);
        for columns in narrow.into_iter().chain([80, 120]) {
            let shown = command(&screen)
                .env("COLUMNS", columns.to_string())
                .assert();
            let text = printed(&shown);
            let is_wide = |line: &&str| line.chars().count() > columns;
            assert_eq!(text.lines().find(is_wide), None, "{screen}: {columns}");
            assert!(text.lines().count() > 2, "it shows nothing: {shown}");
        }
    }
}
