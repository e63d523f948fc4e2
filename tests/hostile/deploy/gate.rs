//! The script `gate.sh`, which compares a new report with a baseline, with stored reports in place
//! of a probe.

use std::fs;
use std::process::Output;

use super::sandbox::{Sandbox, TIMERMETER, record_arguments, run_to_end};

/// A report of a machine with another CPU than [`BASELINE`].
const OTHER_CPU: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/reports/intel-xeon-family-6-model-167-kvm-debian-12/2026-11-25/report.json"
);
/// A report that becomes the baseline.
const BASELINE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23/report.json"
);
/// A later report of the same machine.
const CURRENT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23-2/report.json"
);

/// The folder of baselines.
const BASELINES: &str = "-kept $(touch PWNED)";

/// Runs `gate.sh` with `report` as the result of the probe; the real program compares. Checks the
/// exit code, and returns the output and the errors.
#[track_caller]
fn run_gate(sandbox: &Sandbox, report: &str, conditions: &[&str], code: i32) -> (String, String) {
    sandbox.add_program(
        TIMERMETER,
        &format!(
            r#"{record}
[ "$1" = probe ] || exec '{program}' "$@"
mkdir -p "${{3#--save=}}/p/d" && cp '{report}' "${{3#--save=}}/p/d/report.json"; echo 'a table'"#,
            record = record_arguments("timermeter"),
            program = env!("CARGO_BIN_EXE_timermeter"),
        ),
    );
    let args = [&[BASELINES][..], conditions].concat();
    let Output {
        status,
        stdout,
        stderr,
    } = sandbox
        .deploy_script("gate.sh", &args)
        .env("RUNS", "1")
        .output()
        .expect("the script starts");
    let [output, errors] =
        [stdout, stderr].map(|bytes| String::from_utf8(bytes).expect("the output is text"));
    assert_eq!(
        status.code(),
        Some(code),
        "{conditions:?}: {output}{errors}"
    );
    sandbox.assert_nothing_injected();
    (output, errors)
}

#[test]
fn gate_refuses_baseline_of_other_cpu() {
    let sandbox = Sandbox::new();
    let (output, _) = run_gate(&sandbox, BASELINE, &[], 0);
    assert_eq!(output, "No baseline of p yet: it was made now.\n");
    let stored = sandbox.file(BASELINES).join("p/d/report.json");
    assert_eq!(fs::read(&stored).unwrap(), fs::read(BASELINE).unwrap());
    let (output, _) = run_gate(&sandbox, CURRENT, &["quality<-50", "lost>0"], 0);
    assert!(output.starts_with("**Clock reads: "), "{output}");
    let (output, _) = run_gate(&sandbox, CURRENT, &["lost>=0"], 3);
    assert!(output.contains("condition holds: lost"), "{output}");
    let (output, errors) = run_gate(&sandbox, OTHER_CPU, &["quality<-50"], 4);
    assert_eq!(output, "");
    assert!(
        errors.contains("the baseline is of another CPU: AMD EPYC → Intel(R) Xeon(R)"),
        "{errors}"
    );
    assert_eq!(
        fs::read(&stored).unwrap(),
        fs::read(BASELINE).unwrap(),
        "the baseline stays"
    );
    let (_, errors) = run_gate(&sandbox, CURRENT, &["cost<-200%"], 2);
    assert!(errors.contains("never holds"), "{errors}");
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
