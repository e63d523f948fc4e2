//! Wrong usage: reported on standard error with a remedy, before anything is measured.

use predicates::prelude::*;
use predicates::str::contains;

use super::folder::Folder;
use super::run;

#[test]
fn unknown_timers_and_cpus_are_refused() {
    for (line, words) in [
        (
            "probe monotonc",
            &["`monotonc`", "did you mean `monotonic`"][..],
        ),
        ("probe --quick monotonic rdtcs", &["`rdtcs`", "`rdtsc`"]),
        ("list monotonc", &["`monotonc`", "`monotonic`"]),
        ("probe nothing*", &["no timer matches `nothing*`"]),
        ("probe cobol:*", &["no timer matches `cobol:*`"]),
        ("probe mono[tonic", &["`mono[tonic`"]),
        ("probe --quick --cpu 4096 monotonic", &["--cpu 4096"]),
        ("check --cpu 4096", &["--cpu 4096"]),
        ("agent monotonc", &["`monotonc`; did you mean `monotonic`"]),
        ("wait --quick nanosleap", &["did you mean `nanosleep`"]),
        ("wait --quick nothing*", &["no timer matches `nothing*`"]),
        ("wait --quick monotonic", &["timermeter probe monotonic"]),
        ("probe --quick nanosleep", &["timermeter wait nanosleep"]),
        ("pick --for rust", &["pick 250ns --for rust", "library"]),
    ] {
        let mut refused = run(line).code(2).stdout("");
        for word in words {
            refused = refused.stderr(contains(*word));
        }
    }
}

/// Characters that reorder text or control the terminal.
#[test]
fn arguments_reach_no_terminal_unchanged() {
    for line in [
        "'--\u{202e}x'",
        "probe --from '\u{1b}[31mred'",
        "pick '\u{202e}\u{1b}[31mred'",
    ] {
        let is_clean = contains("\u{202e}").not().and(contains("\u{1b}").not());
        run(line).failure().stderr(is_clean);
    }
}

#[test]
fn refuses_output_in_missing_folder() {
    let folder = Folder::new();
    let good = folder.arg("good.json");
    let bad = folder.arg("missing/report.json");
    // A thorough run of all timers: if the program measured first, the test would time out.
    run(&format!("probe --thorough --output {good} --output {bad}"))
        .code(1)
        .stdout("")
        .stderr(contains("there is no folder").and(contains("missing")));
    assert!(folder.names().is_empty(), "{:?}", folder.names());
    run(&format!(
        "wait --quick --trace={}",
        folder.arg("missing/h.txt")
    ))
    .code(1)
    .stderr(contains("missing"));
}
