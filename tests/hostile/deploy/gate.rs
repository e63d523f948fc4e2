//! Tests the script `gate.sh`. A script in place of `timermeter` copies a stored report for each
//! `probe` and records the arguments of `gate`.

use std::fs;
use std::process::Stdio;

use assert_cmd::assert::OutputAssertExt;
use predicates::str::contains;

use super::sandbox::{Sandbox, TIMERMETER};
use crate::program::printed;
use crate::stored::MBP53;

/// The folder of baselines. Its name begins like an option and contains a command, which must not
/// run.
const BASELINES: &str = "-kept $(touch PWNED)";

/// Runs `gate.sh` with [`MBP53`] as the result of each probe, and `gate_script` in place of
/// `gate`. Checks the exit status, and returns the output.
#[track_caller]
fn run_gate(sandbox: &Sandbox, gate_script: &str, conditions: &[&str], status: i32) -> String {
    sandbox.add_timermeter(gate_script);
    let args = [&[BASELINES][..], conditions].concat();
    let mut script = sandbox.deploy_script("gate.sh", &args);
    let ended = script.env("RUNS", "2").assert().code(status);
    sandbox.assert_nothing_injected();
    printed(&ended)
}

#[test]
fn gate_creates_baseline_and_compares() {
    let sandbox = Sandbox::new();
    let arguments = || sandbox.arguments_of("timermeter");
    let output = run_gate(&sandbox, "exit 9", &[], 0);
    assert_eq!(output, "No baseline of p yet: it was made now.\n");
    // One probe determines the platform, two are the baseline (RUNS=2).
    assert_eq!(arguments().matches("<probe>").count(), 3, "{}", arguments());
    let stored = sandbox.file(BASELINES).join("p/d/report.json");
    assert_eq!(fs::read(&stored).unwrap(), fs::read(MBP53).unwrap());
    let conditions = ["cost[a *]>5%", "$(touch PWNED)"];
    let output = run_gate(&sandbox, "{ echo 'gate: failed'; exit 3; }", &conditions, 3);
    assert_eq!(output, "gate: failed\n");
    let expected_arguments = format!(
        "<gate>\n<--fail-if>\n<cost[a *]>5%>\n<--fail-if>\n<$(touch PWNED)>\n<./{BASELINES}/p>\n"
    );
    let asked = arguments();
    assert!(asked.ends_with(&expected_arguments), "{asked}");
    assert_eq!(asked.matches("<probe>").count(), 4, "{asked}");
    // The baseline stays.
    assert_eq!(fs::read(&stored).unwrap(), fs::read(MBP53).unwrap());
}

/// Neither run finds a baseline, because each probe waits until both runs have started.
#[test]
fn concurrent_first_runs_share_one_baseline() {
    let sandbox = Sandbox::new();
    sandbox.add_program(
        TIMERMETER,
        &format!(
            r#"[ "$1" = probe ] || {{ echo "gate: of $(ls -A "$2")"; exit 3; }}
case $3 in */runs)
    : >"$SANDBOX/begun.$PPID"
    tries=0
    until [ "$(ls -d "$SANDBOX"/begun.* | wc -l)" = 2 ] || [ "$tries" -ge 1000 ]; do tries=$((tries + 1)) && sleep 0.05; done ;;
esac
mkdir -p "${{3#--save=}}/p/d" && cp '{MBP53}' "${{3#--save=}}/p/d/report.json""#,
        ),
    );
    let runs = [(); 2].map(|()| {
        let mut command = sandbox.deploy_script("gate.sh", &[BASELINES]);
        let command = command.env("RUNS", "1");
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    });
    let mut ended = runs.map(|run| {
        let output = run.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    });
    ended.sort();
    let made = "No baseline of p yet: it was made now.\n";
    assert_eq!(ended[0], (Some(0), made.to_owned(), String::new()));
    let (code, output, errors) = &ended[1];
    assert_eq!((*code, &**output), (Some(3), "gate: of d\n"), "{errors}");
    let why = "another run has made the baseline";
    assert!(errors.contains(why), "{errors}");
    let kept = sandbox.file(BASELINES);
    for (folder, name) in [(kept.join("p"), "d"), (kept, "p")] {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), [name]);
    }
}

#[test]
fn failed_probe_creates_no_baseline() {
    let sandbox = Sandbox::new();
    sandbox.add_program(TIMERMETER, "echo 'no clock' >&2; exit 1");
    let failed = sandbox.deploy_script("gate.sh", &["baselines"]).assert();
    failed.code(1).stdout("").stderr("no clock\n");
    assert!(!sandbox.file("baselines").exists());
    let wrong = sandbox.deploy_script("gate.sh", &[]).assert();
    wrong.code(2).stderr(contains("usage: gate.sh FOLDER"));
}
