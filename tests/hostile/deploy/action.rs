//! Tests `action.yml` and the scripts of its steps with the files and variables of a GitHub runner,
//! and with hostile conditions and results.

use std::fs;

use assert_cmd::assert::OutputAssertExt;

use super::sandbox::{Sandbox, record_arguments};
use crate::skipping::lacks;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Expressions in scripts would execute what an input contains; variables do not.
#[test]
fn inputs_reach_scripts_as_variables_only() {
    let action = fs::read_to_string(format!("{ROOT}/action.yml")).unwrap();
    let steps = action.split_once("steps:\n").unwrap().1;
    for name in ["baselines", "fail-if", "undecided"] {
        assert!(action.contains(&format!("\n  {name}:\n")));
        assert!(steps.contains(&format!(": ${{{{ inputs.{name} }}}}\n")));
    }
    let runs = steps.split("run: '\"$GITHUB_ACTION_PATH/").skip(1);
    let scripts = runs.map(|run| run.split_once("\"'\n").unwrap().0);
    let read = |script| fs::read_to_string(format!("{ROOT}/{script}")).expect(script);
    let scripts: Vec<String> = scripts.map(read).collect();
    assert_eq!((scripts.len(), steps.matches("run: ").count()), (2, 2));
    // A step sets every variable that the scripts read.
    for variable in ["BASELINES", "FAIL_IF", "UNDECIDED", "TIMERMETER"] {
        assert!(scripts[1].contains(&format!("${{{variable}:-")));
        assert!(steps.contains(&format!("        {variable}: ")));
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
    fs::write(sandbox.file("line"), line).unwrap();
    fs::create_dir_all(sandbox.file("kept/p")).unwrap();
    sandbox.add_timermeter(&format!("cat \"$SANDBOX/line\"; exit {code}"));
    let before = "kept: yes\n";
    for name in ["output", "summary"] {
        fs::write(sandbox.file(name), before).unwrap();
    }
    let mut script = sandbox.deploy_script("github/gate.sh", &[]);
    script
        .env("BASELINES", "kept")
        .env("FAIL_IF", "\n  cost[a *]>5%\n$(touch PWNED)\n\n")
        .env("UNDECIDED", undecided)
        .env("GITHUB_OUTPUT", sandbox.file("output"))
        .env("GITHUB_STEP_SUMMARY", sandbox.file("summary"));
    let output = script.output().unwrap();
    sandbox.assert_nothing_injected();
    let arguments = sandbox.arguments_of("timermeter");
    let asked = "<gate>\n<--fail-if>\n<cost[a *]>5%>\n<--fail-if>\n<$(touch PWNED)>\n<./kept/p>\n";
    assert!(arguments.contains(asked), "{arguments}");
    let appended = |name| {
        let text = fs::read_to_string(sandbox.file(name)).unwrap();
        text.strip_prefix(before).unwrap().to_owned()
    };
    let stdout = String::from_utf8(output.stdout).unwrap();
    let texts = [stdout, appended("output"), appended("summary")];
    (output.status.code(), texts)
}

#[test]
fn gate_step_writes_summary_and_outputs() {
    if lacks("awk", "mawk") || lacks("sed", "sed") {
        return;
    }
    let line = "gate: failed: cost[mono*]>10% holds (+12 %); trust<0 does not hold; 1 run, 2 s";
    let annotated = "title=clocks failed::gate: failed: cost[mono*]>10%25 holds (+12 %25); trust<0 does not hold; 1 run, 2 s\n";
    for (code, undecided, ends, kind, heading) in [
        (0, "pass", 0, "", "passed"),
        (3, "pass", 3, "::error ", "failed"),
        (4, "pass", 0, "::warning ", "undecided"),
        (4, "fail", 4, "::warning ", "undecided"),
        (1, "pass", 1, "::error ", "not measured"),
    ] {
        let (status, [stdout, outputs, summary]) = run_gate(&format!("{line}\n"), code, undecided);
        assert_eq!(status, Some(ends), "{code} {undecided}");
        let annotation = match kind {
            "" => String::new(),
            _ => kind.to_owned() + &annotated.replacen("failed", heading, 1),
        };
        assert_eq!(stdout, format!("{line}\n{annotation}"));
        assert_eq!(outputs, format!("status={code}\nresult={line}\n"));
        let rest = summary.strip_prefix(&format!("## Clocks of this runner: {heading}\n"));
        insta::assert_snapshot!("summary", rest.expect(&summary));
    }
}
