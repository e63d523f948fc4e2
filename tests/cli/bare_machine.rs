//! The program without `/proc` and `/sys`, and with little memory, if the kernel lets a test set
//! this up. Wrong contents of these files are tested in tests/suitability.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::program;
use crate::skipping::{emulated, skipped};

/// The requirements of the tests: they hide files from a program and limit its memory.
const REQUIREMENTS: &str = "it takes util-linux, and a kernel that lets users make namespaces";

/// Commands that work on any machine, with their possible exit statuses. `check` may find a problem
/// even without these files: a large correction of the clock.
const COMMANDS: [(&[&str], &[i32]); 5] = [
    (&["platform", "--format", "json"], &[0]),
    (&["check", "--format", "json"], &[0, 3]),
    (&["list", "--format", "json"], &[0]),
    (
        &["probe", "--quick", "--format", "json", "monotonic"],
        &[0, 3],
    ),
    (
        &["measure", "pow", "--samples", "2", "--format", "json"],
        &[0, 3],
    ),
];

/// Runs the program with the command `wrapper` in front. It must print JSON and must not panic.
#[track_caller]
fn run_wrapped(wrapper: &[&str], args: &[&str], statuses: &[i32]) -> Value {
    let (first, rest) = wrapper.split_first().expect("a wrapper");
    let ended = Command::new(first)
        .args(rest)
        .arg(program())
        .args(args)
        .output()
        .expect("it starts");
    let reported = String::from_utf8_lossy(&ended.stderr);
    assert!(
        ended
            .status
            .code()
            .is_some_and(|code| statuses.contains(&code)),
        "{args:?}: {ended:?}"
    );
    assert!(!reported.contains("panicked"), "{args:?}: {reported}");
    serde_json::from_slice(&ended.stdout)
        .unwrap_or_else(|error| panic!("{args:?}: {error}: {ended:?}"))
}

/// Whether this machine can run a program with a wrapper; if not, the test is reported as skipped.
fn is_usable(wrapper: &[&str]) -> bool {
    let (first, rest) = wrapper.split_first().expect("a wrapper");
    let tried: std::io::Result<Output> = Command::new(first)
        .args(rest)
        .arg("true")
        .stdin(Stdio::null())
        .output();
    match tried {
        Ok(ended) if ended.status.success() => true,
        Ok(ended) => {
            let reported = String::from_utf8_lossy(&ended.stderr);
            skipped(
                format!("{wrapper:?} cannot run a program: {reported}"),
                REQUIREMENTS,
            );
            false
        }
        Err(error) => {
            skipped(format!("{first} cannot be started: {error}"), REQUIREMENTS);
            false
        }
    }
}

/// Checks that the timer was measured. On a busy machine its resolution may be unknown.
#[track_caller]
fn assert_measured(report: &Value) {
    let row = &report["timers"][0];
    assert!(
        row["status"] == "ok" || row["status"] == "unresolved",
        "{row}"
    );
    assert!(row["cost_ns"]["value"].is_number(), "{row}");
}

/// A wrapper that runs `script` in a namespace, in which it can cover `/proc` and `/sys` with an
/// empty file system.
fn namespace_wrapper(script: &'static str) -> [&'static str; 7] {
    [
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        script,
    ]
}

const WITHOUT_BOTH: &str =
    "mount -t tmpfs none /sys && mount -t tmpfs none /proc && exec \"$0\" \"$@\"";
const WITHOUT_PROC: &str = "mount -t tmpfs none /proc && exec \"$0\" \"$@\"";
const WITHOUT_SYS: &str = "mount -t tmpfs none /sys && exec \"$0\" \"$@\"";

/// The wrappers that hide both folders, `/proc` only, and `/sys` only. Root needs no user
/// namespace; in some containers the kernel lets other users cover nothing.
fn namespaces() -> [Vec<&'static str>; 3] {
    [WITHOUT_BOTH, WITHOUT_PROC, WITHOUT_SYS].map(|script| {
        let wrapper = namespace_wrapper(script);
        if rustix::process::geteuid().is_root() {
            wrapper
                .iter()
                .copied()
                .filter(|word| !["--user", "--map-root-user"].contains(word))
                .collect()
        } else {
            wrapper.to_vec()
        }
    })
}

#[test]
fn runs_without_proc_and_sys() {
    for wrapper in namespaces() {
        let script = *wrapper.last().expect("a script");
        // Emulated programs find themselves only through /proc.
        let is_unsupported =
            script != WITHOUT_SYS && emulated("no worker can be started without /proc");
        if is_unsupported || !is_usable(&wrapper) {
            continue;
        }
        for (args, statuses) in COMMANDS {
            let reported = run_wrapped(&wrapper, args, statuses);
            if args[0] == "list" {
                let shown = reported
                    .as_array()
                    .expect("a list")
                    .iter()
                    .any(|timer| timer["available"] == true);
                assert!(shown, "{reported}");
            }
            if args[0] == "probe" {
                assert_measured(&reported);
            }
        }
        let checked = run_wrapped(&wrapper, COMMANDS[1].0, COMMANDS[1].1);
        let severity = |code: &str| {
            let findings = checked["findings"].as_array().expect("findings");
            let found = findings
                .iter()
                .find(|finding| finding["code"] == code)
                .expect("it is judged");
            found["severity"].as_str().expect("a word").to_owned()
        };
        if script != WITHOUT_PROC {
            assert_eq!(severity("clock-source"), "unknown");
            assert!(checked["platform"]["clocksource"]["current"].is_null());
        }
        if script != WITHOUT_SYS {
            assert_eq!(
                (severity("load"), severity("steal")),
                ("unknown".into(), "unknown".into())
            );
            assert!(checked["platform"]["load"].is_null());
        }
    }
}

#[test]
fn runs_in_128_megabytes() {
    if emulated("the emulator alone takes more than 128 MiB") {
        return;
    }
    // The limit is on address space, of which a program needs more than of memory.
    let wrapper = ["prlimit", "--as=134217728"];
    if !is_usable(&wrapper) {
        return;
    }
    for (args, statuses) in COMMANDS {
        let reported = run_wrapped(&wrapper, args, statuses);
        if args[0] == "probe" {
            assert_measured(&reported);
        }
    }
    // All timers; their processes run until the end.
    let reported = run_wrapped(&wrapper, &["probe", "--quick", "--format", "json"], &[0]);
    let failed = reported["timers"]
        .as_array()
        .expect("timers")
        .iter()
        .filter(|row| row["status"] == "failed");
    let reasons: Vec<&Value> = failed.map(|row| &row["reason"]).collect();
    assert!(
        !reasons
            .iter()
            .any(|why| why.to_string().contains("cannot start")),
        "{reasons:?}"
    );
}

/// On any machine, problems come first, and the exit status follows from them.
#[test]
fn check_status_follows_findings() {
    let ended = Command::new(program())
        .args(["check", "--format", "json"])
        .output()
        .expect("it starts");
    let reported: Value = serde_json::from_slice(&ended.stdout).expect("it prints JSON");
    let findings = reported["findings"].as_array().expect("findings");
    let problems = findings
        .iter()
        .filter(|finding| finding["severity"] == "problem")
        .count();
    assert!(
        findings
            .iter()
            .take(problems)
            .all(|finding| finding["severity"] == "problem"),
        "{reported}"
    );
    assert_eq!(reported["fit"], problems == 0);
    assert_eq!(ended.status.code(), Some(if problems == 0 { 0 } else { 3 }));
    for finding in findings {
        assert!(
            finding["code"].is_string() && finding["severity"].is_string(),
            "{finding}"
        );
    }
    assert!(
        reported["platform"]["cpu"]["allowed"]
            .as_u64()
            .is_some_and(|cpus| cpus > 0),
        "{reported}"
    );
}
