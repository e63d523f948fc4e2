//! Tests that one command answers each common question on one screen, which is at most 24 lines of
//! 80 columns. The commands use stored reports.

use std::process::Command;

use super::cli::folder::Folder;
use super::program::program;

const CLOCKS: &str = "reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23/report.json";
/// The same machine some minutes later, with the clocks of Java, Python and Node.
const WITH_RUNTIMES: &str = "reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23-2/report.json";
const WAITS: &str = "reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23-3/report.json";
const OTHER: &str = "reports/amd-epyc-zen-4-kvm-debian-12/2026-11-26/report.json";
/// A log of `watch` on an emulated machine on which a program set the clock.
const WATCHED: &str = "dev/emulated/machines/clock-set/watch.jsonl";
/// A report from QEMU with TCG; the kernel has the parameters `vdso=0 tsc=reliable`.
const NO_VDSO: &str = "tests/data/no-vdso-2026-11-24.json";

const LINES: usize = 24;
const COLUMNS: usize = 80;

/// The output of a command. A table in a document format may have longer lines, because it goes to
/// a file.
fn screen(words: &[&str], is_document: bool) -> String {
    let mut command = Command::new(program());
    command
        .args(words)
        .env("COLUMNS", COLUMNS.to_string())
        .env_remove("CLICOLOR_FORCE");
    let output = command.output().expect("the program starts");
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{words:?}: {output:?}"
    );
    let text = String::from_utf8(output.stdout).expect("the output is text");
    assert!(
        text.lines().count() <= LINES,
        "{words:?} takes {} lines:\n{text}",
        text.lines().count()
    );
    let widest = text
        .lines()
        .map(|line| line.chars().count())
        .max()
        .unwrap_or(0);
    assert!(
        is_document || widest <= COLUMNS,
        "{words:?} is {widest} wide:\n{text}"
    );
    format!("$ timermeter {}\n{text}", words.join(" "))
}

#[test]
fn which_clock_in_cpp() {
    insta::assert_snapshot!(screen(
        &["pick", "250ns", "--for", "cpp", "--from", CLOCKS],
        false
    ));
}

#[test]
fn which_clock_in_python() {
    insta::assert_snapshot!(screen(
        &["pick", "250ns", "--for", "python", "--from", WITH_RUNTIMES],
        false
    ));
}

#[test]
fn task_clock_of_machine_is_good() {
    insta::assert_snapshot!(screen(&["check", "--from", CLOCKS], false));
}

#[test]
fn did_reads_get_slower() {
    insta::assert_snapshot!(screen(&["compare", CLOCKS, WITH_RUNTIMES], false));
}

#[test]
fn prints_table_for_paper() {
    insta::assert_snapshot!(screen(
        &["table", CLOCKS, "--top", "10", "--format", "latex"],
        true
    ));
}

#[test]
fn prints_table_for_blog() {
    insta::assert_snapshot!(screen(
        &["table", CLOCKS, "--top", "10", "--format", "markdown"],
        true
    ));
}

#[test]
fn how_good_is_nano_time() {
    insta::assert_snapshot!(screen(
        &["inspect", "java:nanoTime", "--from", WITH_RUNTIMES],
        false
    ));
}

#[test]
fn task_sleep_a_millisecond() {
    insta::assert_snapshot!(screen(&["pick", "--every", "1ms", "--from", WAITS], false));
}

#[test]
fn what_does_measuring_cost() {
    let shown = screen(&["pick", "250ns", "--from", CLOCKS], false);
    assert!(shown.contains("measuring costs"), "{shown}");
    insta::assert_snapshot!(shown);
}

#[test]
fn why_is_clock_gettime_slow() {
    let shown = screen(&["inspect", "monotonic", "--from", NO_VDSO], false);
    let text = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("because the kernel maps"), "{shown}");
    insta::assert_snapshot!(shown);
}

#[test]
fn two_machines_side_by_side() {
    let words = ["table", CLOCKS, OTHER, "--layout", "side-by-side"];
    let columns = ["--top", "8", "--columns", "cost,trust"];
    insta::assert_snapshot!(screen(&[&words[..], &columns].concat(), false));
}

#[test]
fn what_happened_overnight() {
    insta::assert_snapshot!(screen(&["watch", "--from", WATCHED], true));
}

#[test]
fn saved_watch_is_read_or_refused() {
    let watch = |words: &[&str]| {
        let mut command = Command::new(program());
        let output = command.args(words).output().expect("the program starts");
        let text = |bytes| String::from_utf8(bytes).expect("the output is text");
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    // In JSON, the output has each line of the file.
    let (code, json, _) = watch(&["watch", "--from", WATCHED, "--format", "json"]);
    let file = std::fs::read_to_string(WATCHED).expect("the log is readable");
    let lines: Vec<&str> = file.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!((code, json.lines().count()), (Some(0), lines.len()));
    // The output shows the last watch of the file, although the file has a damaged line.
    let folder = Folder::new();
    let damaged = folder.arg("night.jsonl");
    let text = format!("{file}\n{{\"schema\":\n{file}");
    std::fs::write(&damaged, text).expect("the file is written");
    let (code, events, messages) = watch(&["watch", "--from", &damaged]);
    assert_eq!((code, events.matches(" begins: ").count()), (Some(0), 1));
    assert!(messages.contains("is damaged"), "{messages}");
    for (words, status, why) in [
        (&["watch", "--from", "README.md"][..], 1, "holds no watch"),
        (&["watch", "--from", "no-such-file"], 1, "cannot read"),
        (
            &["watch", "1s", "--from", WATCHED],
            2,
            "cannot be used with",
        ),
        (&["watch"], 2, "required"),
    ] {
        let (code, _, messages) = watch(words);
        assert!(
            code == Some(status) && messages.contains(why),
            "{words:?}: {messages}"
        );
    }
}

#[test]
fn task_summary_of_machine() {
    let shown = screen(&["--from", CLOCKS, "--from", WAITS], false);
    assert!(shown.lines().count() <= 1 + 14, "{shown}");
    insta::assert_snapshot!(shown);
}
