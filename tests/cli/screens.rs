//! Output for people fits the width and height of a terminal.

use super::{command, printed};

#[test]
fn output_fits_terminal_width() {
    const SCREENS: &str = "list
        check -v
        measure
        table NEW
        table OLD NEW
        compare OLD NEW --all
        pick 250ns --error 1% --from NEW
        probe rdtsc --from NEW
        list *nanosleep* timerfd
        probe * --from WAITS
        pick --every 1ms --from WAITS
        compare WAITS WAITS --all
        table WAITS --all";
    let screens = SCREENS
        .replace("OLD", "tests/data/xeon-2026-11-21.json")
        .replace("NEW", "tests/data/epyc-2026-11-21.json")
        .replace("WAITS", "tests/fuzz/corpus/report/waits.json");
    for screen in screens.lines().map(str::trim) {
        // Code is not folded, and comparisons are wider than 40 columns.
        let is_wide = screen.starts_with("compare") || screen.starts_with("pick");
        let narrow = (!is_wide).then_some(40);
        for columns in narrow.into_iter().chain([80, 120]) {
            let shown = command(screen).env("COLUMNS", columns.to_string()).assert();
            let text = printed(&shown);
            let is_wide = |line: &&str| line.chars().count() > columns;
            assert_eq!(text.lines().find(is_wide), None, "{screen}: {columns}");
            assert!(text.lines().count() > 2, "it shows nothing: {shown}");
        }
    }
}
