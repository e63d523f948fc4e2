//! What all commands have: formats, output files, `--quiet`, `--node` and the characters of the
//! locale.

use std::fs;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use predicates::str::contains;
use serde_json::Value;

use super::folder::Folder;
use super::{json, printed, program, timermeter};

const CLOCKS: &str = "reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23/report.json";
const WAITS: &str = "reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23-3/report.json";

/// Commands that read reports or this machine, without their formats.
const SCREENS: [&[&str]; 9] = [
    &["--from", CLOCKS],
    &["check", "-v"],
    &["check", "--from", CLOCKS],
    &["probe", "rdtsc", "--from", CLOCKS, "-v"],
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
fn ascii_locale_prints_ascii() {
    for screen in SCREENS.into_iter().chain([
        &["probe", "--from", WAITS][..],
        &["probe", "--from", CLOCKS, "-v"],
    ]) {
        let text = printed(&in_locale(screen, "C"));
        let other = text.lines().find(|line| !line.is_ascii());
        assert_eq!(other, None, "{screen:?}");
        if screen.contains(&WAITS) {
            assert!(text.contains(" us ") && !text.contains(" ?"), "{text}");
        }
    }
    let other = printed(&in_locale(&["probe", "--from", WAITS], "en_US.UTF-8").success());
    assert!(other.contains(" µs "), "{other}");
    // Formats for programs and documents keep all characters.
    let markdown =
        printed(&in_locale(&["probe", "--from", WAITS, "-f", "markdown"], "C").success());
    assert!(markdown.contains(" µs "), "{markdown}");
    in_locale(&["probe", "--budget", "時"], "C")
        .code(2)
        .stderr(contains("'?'"));
}
