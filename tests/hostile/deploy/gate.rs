//! Tests the script `gate.sh`. A script in place of `timermeter` copies a stored report for each
//! `probe` and records the arguments of `gate`; only `gate_refuses_baseline_of_other_cpu` runs the
//! real `gate`.

use std::fs;
use std::process::{Output, Stdio};

use super::sandbox::{Sandbox, TIMERMETER, record_arguments, run_to_end};
use crate::stored::MBP53;

/// The folder of baselines. Its name begins like an option and contains a command, which must not
/// run.
const BASELINES: &str = "-kept $(touch PWNED)";

/// Runs `gate.sh` with [`MBP53`] as the result of each probe, and `gate_script` in place of
/// `gate`. Checks the exit status, and returns the output and the errors.
#[track_caller]
fn run_gate(
    sandbox: &Sandbox,
    gate_script: &str,
    conditions: &[&str],
    expected_status: i32,
) -> (String, String) {
    sandbox.add_program(
        TIMERMETER,
        &format!(
            r#"{record}
[ "$1" = probe ] || {gate_script}
mkdir -p "${{3#--save=}}/p/d" && cp '{MBP53}' "${{3#--save=}}/p/d/report.json"; echo 'a table'"#,
            record = record_arguments("timermeter"),
        ),
    );
    let args = [&[BASELINES][..], conditions].concat();
    let Output {
        status,
        stdout,
        stderr,
    } = sandbox
        .deploy_script("gate.sh", &args)
        .env("RUNS", "2")
        .output()
        .expect("the script starts");
    let [output, errors] =
        [stdout, stderr].map(|bytes| String::from_utf8(bytes).expect("the output is text"));
    assert_eq!(
        status.code(),
        Some(expected_status),
        "{conditions:?}: {output}{errors}"
    );
    sandbox.assert_nothing_injected();
    (output, errors)
}

#[test]
fn gate_creates_baseline_and_compares() {
    let sandbox = Sandbox::new();
    let arguments = || sandbox.arguments_of("timermeter");
    let (output, _) = run_gate(&sandbox, "exit 9", &[], 0);
    assert_eq!(output, "No baseline of p yet: it was made now.\n");
    // One probe determines the platform, two are the baseline (RUNS=2).
    assert_eq!(arguments().matches("<probe>").count(), 3, "{}", arguments());
    let stored = sandbox.file(BASELINES).join("p/d/report.json");
    assert_eq!(fs::read(&stored).unwrap(), fs::read(MBP53).unwrap());
    let (output, _) = run_gate(
        &sandbox,
        "{ echo 'gate: failed'; exit 3; }",
        &["cost[a *]>5%", "$(touch PWNED)"],
        3,
    );
    assert_eq!(output, "gate: failed\n");
    let expected_arguments = format!(
        "<gate>\n<--fail-if>\n<cost[a *]>5%>\n<--fail-if>\n<$(touch PWNED)>\n<./{BASELINES}/p>\n"
    );
    assert!(
        arguments().ends_with(&expected_arguments),
        "{}",
        arguments()
    );
    assert_eq!(arguments().matches("<probe>").count(), 4, "{}", arguments());
    assert_eq!(
        fs::read(&stored).unwrap(),
        fs::read(MBP53).unwrap(),
        "the baseline stays"
    );
}

#[test]
fn gate_refuses_baseline_of_other_cpu() {
    let sandbox = Sandbox::new();
    let program = format!("exec '{}' \"$@\"", env!("CARGO_BIN_EXE_timermeter"));
    let (output, _) = run_gate(&sandbox, &program, &[], 0);
    assert_eq!(output, "No baseline of p yet: it was made now.\n");
    let report = sandbox.file(BASELINES).join("p/d/report.json");
    // `gate` compares measured reports only.
    let text = fs::read_to_string(&report).unwrap();
    fs::write(&report, text.replace("\"published\"", "\"measured\"")).unwrap();
    let (output, _) = run_gate(&sandbox, &program, &[], 4);
    assert!(
        output.starts_with("gate: undecided: ") && output.contains("of another CPU"),
        "{output}"
    );
    let (_, errors) = run_gate(&sandbox, &program, &["cost<-200%"], 2);
    assert!(
        errors.contains("no limit that a change can exceed"),
        "{errors}"
    );
    // A damaged baseline fails the job until somebody removes it.
    fs::write(&report, &text[..text.len() / 2]).unwrap();
    let (output, errors) = run_gate(&sandbox, &program, &[], 1);
    assert!(
        output.is_empty() && errors.contains("is not a report"),
        "{output}{errors}"
    );
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
        command.spawn().expect("the script starts")
    });
    let mut ended = runs.map(|run| {
        let output = run.wait_with_output().expect("the script ends");
        let [stdout, stderr] = [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8(bytes).expect("the output is text"));
        (output.status.code(), stdout, stderr)
    });
    ended.sort();
    let made = "No baseline of p yet: it was made now.\n";
    assert_eq!(ended[0], (Some(0), made.to_owned(), String::new()));
    let (code, output, errors) = &ended[1];
    assert_eq!(
        (*code, output.as_str()),
        (Some(3), "gate: of d\n"),
        "{errors}"
    );
    assert!(
        errors.contains("another run has made the baseline"),
        "{errors}"
    );
    let names = |folder| {
        let entries = fs::read_dir(folder).expect("the folder is readable");
        entries
            .map(|entry| entry.expect("the entry is readable").file_name())
            .collect::<Vec<_>>()
    };
    let kept = sandbox.file(BASELINES);
    assert_eq!(
        (names(kept.join("p")), names(kept)),
        (vec!["d".into()], vec!["p".into()])
    );
}

#[test]
fn failed_probe_creates_no_baseline() {
    let sandbox = Sandbox::new();
    sandbox.add_program(TIMERMETER, "echo 'no clock' >&2; exit 1");
    let (code, output) = run_to_end(sandbox.deploy_script("gate.sh", &["baselines"]));
    assert_eq!((code, output.as_str()), (Some(1), "no clock\n"));
    assert!(!sandbox.file("baselines").exists());
    let (code, output) = run_to_end(sandbox.deploy_script("gate.sh", &[]));
    assert!(
        code == Some(2) && output.contains("usage: gate.sh FOLDER"),
        "{output}"
    );
}
