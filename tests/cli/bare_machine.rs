//! Machines that show nothing of themselves, and machines without room: real ones, where the kernel
//! lets a test have one. What the files hold when they are there but wrong is tested over made-up
//! ones (tests/suitability).

use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::program;
use crate::skipping::{emulated, skipped};

/// What lets an ordinary user hide files from a program, and limit it.
const NAMESPACES: &str = "it takes util-linux, and a kernel that lets users make namespaces";

/// What has to work on any machine, and the exit statuses it may have there. Nothing can be a
/// problem, where nothing is shown, but the clock may be steered hard.
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

/// Runs the program behind `wrapper`; what it says is JSON, and it did not panic.
#[track_caller]
fn answer(wrapper: &[&str], args: &[&str], statuses: &[i32]) -> Value {
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

/// Whether a wrapper can be had here; says aloud where not.
fn works(wrapper: &[&str]) -> bool {
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
            skipped(format!("{wrapper:?} does not work: {reported}"), NAMESPACES);
            false
        }
        Err(error) => {
            skipped(format!("{first} cannot be started: {error}"), NAMESPACES);
            false
        }
    }
}

/// The timer could be asked. Whether a step was found depends on who else was busy.
#[track_caller]
fn characterised(report: &Value) {
    let row = &report["timers"][0];
    assert!(
        row["status"] == "ok" || row["status"] == "unresolved",
        "{row}"
    );
    assert!(row["cost_ns"]["value"].is_number(), "{row}");
}

/// A namespace in which nothing lies under `/proc` and `/sys`: a file system without files is put
/// over them.
fn hidden(script: &'static str) -> [&'static str; 7] {
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

/// Without privileges the kernel does not let `/proc` be covered in some containers; as root it
/// needs no user namespace.
fn namespaces() -> [Vec<&'static str>; 3] {
    [WITHOUT_BOTH, WITHOUT_PROC, WITHOUT_SYS].map(|script| {
        let wrapper = hidden(script);
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
fn without_proc_and_sys() {
    for wrapper in namespaces() {
        let script = *wrapper.last().expect("a script");
        // Nothing else tells that there is one.
        let unseen = script != WITHOUT_SYS && emulated("no worker can be started without /proc");
        if unseen || !works(&wrapper) {
            continue;
        }
        for (args, statuses) in COMMANDS {
            let reported = answer(&wrapper, args, statuses);
            if args[0] == "list" {
                let shown = reported
                    .as_array()
                    .expect("a list")
                    .iter()
                    .any(|timer| timer["available"] == true);
                assert!(shown, "{reported}");
            }
            if args[0] == "probe" {
                characterised(&reported);
            }
        }
        let checked = answer(&wrapper, COMMANDS[1].0, COMMANDS[1].1);
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
fn with_128_megabytes() {
    if emulated("the emulator alone takes more than 128 MiB") {
        return;
    }
    // Of address space, which is more than what the program may touch.
    let wrapper = ["prlimit", "--as=134217728"];
    if !works(&wrapper) {
        return;
    }
    for (args, statuses) in COMMANDS {
        let reported = answer(&wrapper, args, statuses);
        if args[0] == "probe" {
            characterised(&reported);
        }
    }
    // All timers, whose processes all live until the end.
    let reported = answer(&wrapper, &["probe", "--quick", "--format", "json"], &[0]);
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

/// The invariants of any machine: problems come first, and the exit status follows from them.
#[test]
fn check_of_this_machine() {
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
