//! Output for people fits the width and height of a terminal.

use assert_cmd::Command;

use super::{printed, program};

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
        &["probe", "rdtsc", "--from", NEW],
        &["list", "*nanosleep*", "timerfd"],
        &["probe", "*", "--from", WAITS],
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
