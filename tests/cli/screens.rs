//! What people read fits their terminal.

use assert_cmd::Command;

use super::{printed, program};

#[test]
fn screens_are_no_wider_than_the_terminal() {
    const OLD: &str = "tests/data/xeon-2026-11-21.json";
    const NEW: &str = "tests/data/epyc-2026-11-21.json";
    const WAITS: &str = "tests/fuzz/corpus/report/waits.json";
    let screens: [&[&str]; 19] = [
        &["list"],
        &["platform"],
        &["check"],
        &["measure"],
        &["table", NEW],
        &["table", OLD, NEW],
        &["compare", OLD, NEW, "--all"],
        &["pick", "--duration", "250ns", "--error", "1%", "--from", NEW],
        &["inspect", "rdtsc", "--from", NEW],
        &["list", "*nanosleep*", "timerfd"],
        &["wait", "*nanosleep*", "spin", "--quick", "--durations", "1ms", "--for", "10ms", "--notes", "full"],
        &["period", "nanosleep", "timerfd", "--quick"],
        &["inspect", "*", "--from", WAITS],
        &["pick", "--every", "1ms", "--within", "50us", "--from", WAITS],
        &["compare", WAITS, WAITS, "--all"],
        &["table", WAITS],
        &["table", WAITS, "--kind", "periods", "--all"],
        &["selftest", "--count", "4", "--quick"],
        &["selftest", "--waits", "--count", "4", "--quick"],
    ];
    for (columns, screen) in [80, 120].into_iter().flat_map(|columns| screens.map(|screen| (columns, screen)))
    {
        let shown = Command::new(program()).args(screen).env("COLUMNS", columns.to_string()).assert();
        let text = printed(&shown);
        assert!(text.lines().count() > 2, "{screen:?} shows nothing: {shown}");
        let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap_or_default();
        assert!(widest.chars().count() <= columns, "{screen:?} at {columns}: {widest}");
    }
}
