//! Services of a common time, played by scripts on the path: the report has their answers, and nothing else that they do causes harm.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use predicates::prelude::*;
use serde_json::Value;

use super::{json, patience, printed, program};

const SLAVE: &str = include_str!("../../src/common_time/pmc/slave.txt");
const TRACKING: &str = "C0000201,192.0.2.1,2,1795359031.994311246,0.000012500,-0.000000025,0.000000592,-0.006,-0.001,0.041,0.000400000,0.000100000,1.0,Normal";

/// A path with these scripts, and the shell that carries them out.
fn path(scripts: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    for (name, script) in scripts {
        let file = folder.path().join(name);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("it can be written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    folder
}

#[track_caller]
fn run(path: &Path, args: &[&str]) -> Assert {
    let mut command = Command::new(program());
    let assert = command.args(args).env("PATH", path).timeout(patience()).assert();
    assert.stderr(predicate::str::contains("panicked").not())
}

/// What is said by whom.
fn told(answer: &Value, source: &str) -> Option<Value> {
    let all = answer["platform"]["common_time"].as_array().expect("everybody was asked");
    all.iter().find(|told| told["source"] == source).cloned()
}

#[test]
fn what_chrony_and_ptp4l_say_is_told_everywhere() {
    let answers = |text: &str| format!("while read line; do echo \"$line\"; done <<'END'\n{text}\nEND");
    // They are asked for what can be read by machines, and nothing is looked up in the network.
    let chronyc = format!("[ \"$*\" = '-n -c tracking' ] || exit 1\n{}", answers(TRACKING));
    let scripts = path(&[("chronyc", chronyc.as_str()), ("pmc", answers(SLAVE.trim_end()).as_str())]);
    let platform = json(&run(scripts.path(), &["platform", "--format", "json"]).code(0));
    let chrony = told(&platform, "chrony").expect("it is there");
    assert!((chrony["offset_ns"].as_f64().expect("told") + 12_500.0).abs() < 1e-3, "{chrony}");
    assert!((chrony["bound_ns"].as_f64().expect("told") - 312_500.0).abs() < 1e-3, "{chrony}");
    assert_eq!((&chrony["reference"], &chrony["stratum"]), (&Value::from("192.0.2.1"), &Value::from(2)));
    assert!(chrony["asked"].as_str().is_some_and(|asked| asked.ends_with('Z')), "{chrony}");
    let ptp4l = told(&platform, "ptp4l").expect("it is there");
    assert_eq!(
        (&ptp4l["offset_ns"], &ptp4l["bound_ns"]),
        (&Value::from(-260.0), &Value::from(2_443.0)),
        "{ptp4l}"
    );
    let shown = printed(&run(scripts.path(), &["platform"]).code(0));
    assert!(
        shown.contains("12.5 µs behind, at most 312.5 µs off, by chrony from 192.0.2.1 (stratum 2)"),
        "{shown}"
    );
    let checked = printed(&run(scripts.path(), &["check", "-v"]).code(predicate::in_iter([0, 3])));
    assert!(checked.contains("common-time"), "{checked}");
    let probe = ["probe", "--quick", "--format", "openmetrics", "monotonic"];
    let metrics = printed(&run(scripts.path(), &probe).code(predicate::in_iter([0, 3])));
    let line = "timermeter_common_time_offset_seconds{report=\"clocks\",source=\"chrony\",reference=\"192.0.2.1\",clock=\"system\"} -1.25";
    assert!(metrics.contains(line), "{metrics}");
}

#[test]
fn who_is_not_installed_is_not_mentioned() {
    let platform = json(&run(path(&[]).path(), &["platform", "--format", "json"]).code(0));
    assert_eq!((told(&platform, "chrony"), told(&platform, "ptp4l")), (None, None));
}

#[test]
fn who_fails_hangs_or_says_rubbish_is_told_with_the_reason() {
    for (script, reason) in [
        ("echo '506 Cannot talk to daemon'; exit 1", "506 Cannot talk to daemon"),
        ("exit 3", "without a word"),
        ("while :; do :; done", "did not end within"),
        ("while :; do echo yes; done", ""),
        ("printf '\\377\\000\\033[2J,,,,,,,,,,,,,'", "not known"),
        ("echo 'C0000201,x,2,0,inf,0,0,0,0,0,0,0,0,Normal'", "not known"),
        ("kill -9 $$", "without a word"),
        // Something stays behind that holds the pipe.
        ("/bin/sh -c 'trap \"\" TERM HUP; while :; do :; done' & exit 0", ""),
    ] {
        let scripts = path(&[("chronyc", script), ("pmc", script)]);
        let platform = json(&run(scripts.path(), &["platform", "--format", "json"]).code(0));
        for source in ["chrony", "ptp4l"] {
            let told = told(&platform, source).unwrap_or_else(|| panic!("{script}: {platform}"));
            assert_eq!(
                (&told["offset_ns"], &told["bound_ns"]),
                (&Value::Null, &Value::Null),
                "{script}: {told}"
            );
            let said = told["reason"].as_str().unwrap_or_else(|| panic!("{script}: {told}"));
            // pmc ends well with nothing to say.
            assert!(source == "ptp4l" || said.contains(reason), "{script}: {said}");
            assert!(!said.contains('\u{1b}'), "{said:?}");
        }
    }
}
