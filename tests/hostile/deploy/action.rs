//! Tests `action.yml` and the scripts of its steps with the files and variables of a GitHub runner,
//! and with hostile conditions and results.

use std::fs;
use std::path::Path;

use assert_cmd::assert::OutputAssertExt;
use predicates::str::starts_with;

use super::sandbox::{Sandbox, TIMERMETER, record_arguments};
use crate::skipping::lacks;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn action() -> String {
    fs::read_to_string(Path::new(ROOT).join("action.yml")).expect("the action is readable")
}

#[test]
fn inputs_reach_scripts_as_variables_only() {
    let action = action();
    let (inputs, rest) = action
        .split_once("outputs:\n")
        .expect("the action has outputs");
    let steps = rest.split_once("steps:\n").expect("the action has steps").1;
    let (_, inputs) = inputs
        .split_once("inputs:\n")
        .expect("the action has inputs");
    let names = inputs.lines().filter_map(|line| {
        let name = line.strip_prefix("  ")?.strip_suffix(':')?;
        (!name.starts_with(' ')).then_some(name)
    });
    let names: Vec<&str> = names.collect();
    assert_eq!(names, ["baselines", "fail-if", "undecided"]);
    for name in names {
        assert!(steps.contains(&format!(": ${{{{ inputs.{name} }}}}\n")));
    }
    let runs: Vec<&str> = steps
        .lines()
        .filter_map(|line| line.trim().strip_prefix("run: "))
        .collect();
    assert_eq!(runs.len(), 2, "{steps}");
    for run in runs {
        let script = run
            .strip_prefix(r#"'"$GITHUB_ACTION_PATH/"#)
            .and_then(|rest| rest.strip_suffix(r#""'"#))
            .unwrap_or_else(|| {
                panic!("the step has to run one script, without expressions: {run}")
            });
        let path = Path::new(ROOT).join(script);
        assert!(path.is_file(), "{script}");
        // The step sets every variable that the script reads.
        let text = fs::read_to_string(path).expect("the script is readable");
        for variable in ["BASELINES", "FAIL_IF", "UNDECIDED", "TIMERMETER"] {
            let is_read = text.contains(&format!("${{{variable}:-"));
            assert!(!is_read || steps.contains(&format!("        {variable}: ")));
        }
    }
}

#[test]
fn build_step_builds_its_own_checkout() {
    let sandbox = Sandbox::new();
    let record = record_arguments("cargo");
    sandbox.add_program("cargo", &format!("{record}\npwd >\"$SANDBOX/pwd\""));
    let build = |output: &str| {
        let mut script = sandbox.deploy_script("github/build.sh", &[]);
        script.env("GITHUB_OUTPUT", sandbox.file(output)).assert()
    };
    build("output").success();
    let read = |name| fs::read_to_string(sandbox.file(name)).expect(name);
    assert_eq!(read("pwd"), format!("{ROOT}\n"));
    let arguments = sandbox.arguments_of("cargo");
    let flags = "<build>\n<--release>\n<--locked>\n";
    assert!(arguments.starts_with(flags), "{arguments}");
    let built = format!("program={ROOT}/target/release/timermeter\n");
    assert_eq!(read("output"), built);
    // If the build fails, the step fails and outputs no program.
    sandbox.add_program("cargo", "exit 101");
    build("none").code(101);
    assert!(!sandbox.file("none").exists());
}

/// Runs the last step with a `gate` that prints this line and exits with this status. Returns the
/// exit status, standard output, and the text that the step appended to outputs and summary.
fn run_gate(line: &str, code: i32, undecided: &str) -> (Option<i32>, [String; 3]) {
    let sandbox = Sandbox::new();
    fs::write(sandbox.file("line"), line).expect("the file is written");
    let gate = format!("cat \"$SANDBOX/line\"; exit {code}");
    let conditions = "\n  cost[a *]>5%\n$(touch PWNED)\n\n";
    let ended = run_step(&sandbox, &gate, conditions, undecided);
    let arguments = sandbox.arguments_of("timermeter");
    let asked = "<gate>\n<--fail-if>\n<cost[a *]>5%>\n<--fail-if>\n<$(touch PWNED)>\n<./kept/p>\n";
    assert!(arguments.contains(asked), "{arguments}");
    ended
}

/// Runs the last step with `gate_script` in place of `gate` and with an existing folder `kept/p` of
/// baselines. Returns the same as [`run_gate`].
fn run_step(
    sandbox: &Sandbox,
    gate_script: &str,
    conditions: &str,
    undecided: &str,
) -> (Option<i32>, [String; 3]) {
    let report = crate::stored::MBP53;
    sandbox.add_program(
        TIMERMETER,
        &format!(
            r#"{}
case ${{1-}} in
probe) mkdir -p "${{3#--save=}}/p/d" && cp '{report}' "${{3#--save=}}/p/d/report.json" ;;
gate) {gate_script} ;;
'') printf 'clock source tsc\n# no heading\n' ;;
esac"#,
            record_arguments("timermeter")
        ),
    );
    fs::create_dir_all(sandbox.file("kept/p")).expect("the folder is created");
    let before = "kept: yes\n";
    for name in ["output", "summary"] {
        fs::write(sandbox.file(name), before).expect("the file is written");
    }
    let output = sandbox
        .deploy_script("github/gate.sh", &[])
        .env("BASELINES", "kept")
        .env("FAIL_IF", conditions)
        .env("UNDECIDED", undecided)
        .env("GITHUB_OUTPUT", sandbox.file("output"))
        .env("GITHUB_STEP_SUMMARY", sandbox.file("summary"))
        .output()
        .expect("the script starts");
    sandbox.assert_nothing_injected();
    let appended = |name| {
        let text = fs::read_to_string(sandbox.file(name)).expect(name);
        text.strip_prefix(before)
            .expect("the step keeps existing text")
            .to_owned()
    };
    let stdout = String::from_utf8(output.stdout).expect("the output is text");
    let texts = [stdout, appended("output"), appended("summary")];
    (output.status.code(), texts)
}

#[test]
fn gate_step_writes_summary_and_outputs() {
    if lacks("awk", "mawk") || lacks("sed", "sed") {
        return;
    }
    let line =
        "gate: passed: cost[mono*]>10% does not hold (-1 %); trust<0 does not hold; 1 run, 2 s";
    let (code, [stdout, outputs, summary]) = run_gate(&format!("{line}\n"), 0, "pass");
    assert_eq!((code, stdout), (Some(0), format!("{line}\n")));
    assert_eq!(outputs, format!("status=0\nresult={line}\n"));
    insta::assert_snapshot!(summary);
}

#[test]
fn gate_step_fails_or_warns() {
    if lacks("awk", "mawk") || lacks("sed", "sed") {
        return;
    }
    let line = "gate: failed: cost>10% holds (+12 %)";
    let annotated = "title=clocks failed::gate: failed: cost>10%25 holds (+12 %25)\n";
    for (code, undecided, ends, kind, heading) in [
        (3, "pass", 3, "::error ", "failed"),
        (4, "pass", 0, "::warning ", "undecided"),
        (4, "fail", 4, "::warning ", "undecided"),
        (1, "pass", 1, "::error ", "not measured"),
    ] {
        let (status, [stdout, outputs, summary]) = run_gate(&format!("{line}\n"), code, undecided);
        assert_eq!(status, Some(ends), "{code} {undecided}");
        let annotation = kind.to_owned() + &annotated.replacen("failed", heading, 1);
        assert_eq!(stdout, format!("{line}\n{annotation}"));
        assert_eq!(outputs, format!("status={code}\nresult={line}\n"));
        let first = format!("## Clocks of this runner: {heading}\n\n    gate: failed: ");
        assert!(summary.starts_with(&first), "{summary}");
    }
}

/// Runs the last step with the real program. The first run creates a baseline, the second compares.
#[test]
#[ignore = "long"]
fn gate_step_creates_then_uses_baseline() {
    let sandbox = Sandbox::new();
    let run = || {
        let mut command = sandbox.deploy_script("github/gate.sh", &[]);
        command
            .env("TIMERMETER", env!("CARGO_BIN_EXE_timermeter"))
            .env("RUNS", "1")
            .env("PROBE", "--quick\nmonotoni?")
            .env("BASELINES", "kept")
            .env("FAIL_IF", "cost>100000%")
            .env("GITHUB_OUTPUT", sandbox.file("output"))
            .env("GITHUB_STEP_SUMMARY", sandbox.file("summary"));
        command.assert().success()
    };
    run().stdout(starts_with("No baseline of "));
    let passed = "gate: passed: no read costs more than 100000 % more";
    run().stdout(starts_with(passed));
    let summary = fs::read_to_string(sandbox.file("summary")).expect("the step writes a summary");
    for text in ["## Clocks of this runner: passed\n", "\n    to time things"] {
        assert_eq!(summary.matches(text).count(), 2, "{summary}");
    }
}
