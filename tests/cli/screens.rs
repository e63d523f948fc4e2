//! Output for people fits the width and height of a terminal.

use std::fs;
use std::path::PathBuf;

use assert_cmd::Command;
use serde_json::Value;

use super::{printed, program, run};

#[test]
fn output_fits_terminal_width() {
    const OLD: &str = "tests/data/xeon-2026-11-21.json";
    const NEW: &str = "tests/data/epyc-2026-11-21.json";
    const WAITS: &str = "tests/fuzz/corpus/report/waits.json";
    let reading: [&[&str]; 13] = [
        &["list"],
        &["check", "-v"],
        &["measure"],
        &["table", NEW],
        &["table", OLD, NEW],
        &["compare", OLD, NEW, "--all"],
        &["pick", "250ns", "--error", "1%", "--from", NEW],
        &["inspect", "rdtsc", "--from", NEW],
        &["list", "*nanosleep*", "timerfd"],
        &["inspect", "*", "--from", WAITS],
        &["pick", "--every", "1ms", "--from", WAITS],
        &["compare", WAITS, WAITS, "--all"],
        &["table", WAITS, "--all"],
    ];
    let at_all_widths = [40, 80, 120]
        .into_iter()
        .flat_map(|columns| reading.map(|screen| (columns, screen)));
    for (columns, screen) in at_all_widths {
        // Code is not folded, and comparisons are wider than 40 columns.
        let is_wide = ["compare", "pick"].contains(&screen[0]);
        if columns < 80 && is_wide {
            continue;
        }
        let shown = Command::new(program())
            .args(screen)
            .env("COLUMNS", columns.to_string())
            .assert();
        let text = printed(&shown);
        assert!(
            text.lines().count() > 2,
            "{screen:?} shows nothing: {shown}"
        );
        let widest = text
            .lines()
            .max_by_key(|line| line.chars().count())
            .unwrap_or_default();
        assert!(
            widest.chars().count() <= columns,
            "{screen:?} at {columns}: {widest}"
        );
    }
}

/// The reports in `reports/` with more than 20 lines of clocks, each with the number of these
/// lines.
fn many_clocks() -> Vec<(String, usize)> {
    /// The width of the column of names at 80 columns.
    const NAME_COLUMNS: usize = 22;
    let within = |folder: PathBuf| {
        fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
    };
    let reports = within("reports".into())
        .flat_map(within)
        .map(|folder| folder.join("report.json"));
    let clocks = |file: PathBuf| {
        let report: Value =
            serde_json::from_slice(&fs::read(&file).ok()?).expect("a report is JSON");
        let listed = |row: &&Value| {
            ["ok", "unresolved"].contains(&row["status"].as_str().unwrap_or_default())
        };
        let ids = report["timers"]
            .as_array()?
            .iter()
            .filter(listed)
            .filter_map(|row| row["id"].as_str());
        // A name that is longer than its column, such as those of runtimes, takes a second line.
        let lines = ids.map(|id| 1 + usize::from(id.len() > NAME_COLUMNS)).sum();
        (lines > 20).then(|| (file.display().to_string(), lines))
    };
    reports.filter_map(clocks).collect()
}

#[test]
fn default_probe_prints_few_lines() {
    let reports = many_clocks();
    assert!(reports.len() >= 8, "{reports:?}");
    for (report, rows) in reports {
        let shown = |more: &[&str]| {
            let mut command = Command::new(program());
            command.args(["report", &report]).args(more);
            printed(&command.env("COLUMNS", "80").assert().success())
        };
        let text = shown(&[]);
        let lines = text.lines().count();
        // Besides the clocks there are 20 lines, or as many as make 51 if there are few clocks.
        assert!(
            lines <= 20 + rows.max(31),
            "{report}: {lines} lines of {rows} clocks\n{text}"
        );
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{report}: {text}");
        let footnotes = text
            .lines()
            .filter(|line| line.starts_with(' ') && line[1..].starts_with(['1', '2', '3', '4']));
        let footnotes = footnotes.filter(|line| line.contains(": ")).count();
        assert!(footnotes <= 3, "{text}");
        // -v prints everything.
        let all = shown(&["-v"]);
        assert!(
            all.contains("# CPU  ") && all.contains("# run  ") && all.contains("unavailable"),
            "{all}"
        );
    }
}

#[test]
fn table_marks_undecided_verdicts() {
    let report = "reports/intel-xeon-family-6-model-167-kvm-debian-12/2026-11-25/report.json";
    let text = printed(
        &Command::new(program())
            .args(["report", report])
            .env("COLUMNS", "80")
            .assert()
            .success(),
    );
    let row = text
        .lines()
        .find(|line| line.contains(" time  "))
        .expect("a row");
    assert!(row.contains('?'), "{row}");
}

#[test]
fn shared_core_note_precedes_figures() {
    let shown = run("report dev/emulated/machines/riscv/report.json").success();
    let text = printed(&shown);
    let at = |words: &str| {
        text.find(words)
            .unwrap_or_else(|| panic!("{words}: {text}"))
    };
    assert!(at("# caution") < at("# machine"), "{text}");
}
