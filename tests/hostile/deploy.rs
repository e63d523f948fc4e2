//! The scripts of `deploy/`: names that a shell could take for words of its own, nodes that lie or
//! steer terminals, and being told to stop.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::process::Signal;

use super::folder::Folder;
use super::run::Run;
use super::skipping::skipped;

const REPORT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/reports/icpe2011-mbp53/2011-03-14/report.json"
);
/// Commands that must not be executed: each would make a file whose name begins so.
const MADE: &str = "PWNED";
const NAMES: [&str; 6] = [
    "a b",
    "it's \"quoted\"",
    "x;touch PWNED1;",
    "$(touch PWNED2)`touch PWNED3`",
    "-oProxyCommand=touch PWNED4",
    "'; touch PWNED5 #",
];
/// The same as arguments of `probe`, and what tools take for places to put something.
const ARGUMENTS: [&str; 8] = [
    "--only",
    "a b",
    "it's \"quoted\"",
    "x;touch PWNED6;",
    "$(touch PWNED7)`touch PWNED8`",
    "'; touch PWNED9 #",
    "{} {.} {#} * ~",
    "",
];

/// A place where programs that are none stand in for those of the scripts.
struct Stage(Folder);

impl Stage {
    fn new() -> Self {
        let stage = Self(Folder::new());
        fs::create_dir(stage.0.file("bin")).expect("a folder");
        stage.program(
            "it's a \"meter\"",
            &format!(
                r#"{said}
case $3 in --save=*) mkdir -p "${{3#*=}}/p/d" && cp '{REPORT}' "${{3#*=}}/p/d/report.json" ;; *) cat '{REPORT}' ;; esac"#,
                said = said("meter")
            ),
        );
        stage.program(
            "ssh",
            &format!(
                "{}\nfor line; do :; done\nexec sh -c \"$line\"",
                said("ssh")
            ),
        );
        stage
    }

    fn program(&self, name: &str, body: &str) {
        let path = self.0.file("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }

    fn meter(&self) -> PathBuf {
        self.0.file("bin").join("it's a \"meter\"")
    }

    /// A script of `deploy/`, in this place.
    fn script(&self, name: &str, args: &[&str]) -> Command {
        let mut path = self.0.file("bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        // A shell goes on ignoring what is ignored when it starts, as under nohup.
        let mut command = Command::new("env");
        command.arg("--default-signal=INT,TERM,HUP");
        command.arg(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("deploy")
                .join(name),
        );
        command
            .args(args)
            .current_dir(self.0.file(""))
            .env("PATH", path)
            .env("STAGE", self.0.file(""));
        command.env("TIMERMETER", self.meter()).stdin(Stdio::null());
        command
    }

    /// What a program was handed, in all its calls.
    fn said(&self, program: &str) -> String {
        fs::read_to_string(self.0.file(&format!("{program}.said"))).unwrap_or_default()
    }

    /// Nothing that stood in a name or an argument was carried out.
    #[track_caller]
    fn is_sound(&self) {
        let mut made = self.0.names();
        made.retain(|name| name.as_bytes().starts_with(MADE.as_bytes()));
        assert!(made.is_empty(), "carried out: {made:?}");
    }
}

/// A line of a script that writes down what it was handed, at once: several run side by side.
fn said(program: &str) -> String {
    format!(r#"printf '<%s>\n' "$@" >>"$STAGE/{program}.said""#)
}

#[track_caller]
fn ended(mut command: Command) -> (Option<i32>, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("it starts");
    let reported = [stdout, stderr].concat();
    let steers = |byte: &u8| !matches!(byte, b'\n' | b'\t' | b' '..=b'~');
    assert!(
        !reported.iter().any(steers),
        "{:?}",
        String::from_utf8_lossy(&reported)
    );
    (
        status.code(),
        String::from_utf8(reported).expect("it is ASCII"),
    )
}

/// A name as reports and folders have it.
fn fit(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    name.bytes()
        .map(|byte| if plain(byte) { char::from(byte) } else { '_' })
        .collect()
}

/// The arguments of `probe` as each program should have been handed them.
fn words(of: &[&str]) -> String {
    of.iter().map(|word| format!("<{word}>\n")).collect()
}

#[test]
fn node_names_cannot_inject_commands() {
    for run in ["a run; touch PWNED;", "-run", "it's $(touch PWNED)"] {
        let stage = Stage::new();
        fs::write(stage.0.file("-no des"), NAMES.join("\n") + "\n\n").expect("there is room");
        let args = [&[run, "-no des"][..], &ARGUMENTS].concat();
        let (code, reported) = ended(stage.script("ssh/parallel.sh", &args));
        stage.is_sound();
        assert_eq!(code, Some(0), "{run}: {reported}");
        assert_eq!(
            reported
                .lines()
                .filter(|line| line.starts_with("done\t"))
                .count(),
            2 * NAMES.len(),
            "{reported}"
        );
        let handed = stage.said("ssh");
        for name in NAMES {
            assert!(
                handed.contains(&format!("<-->\n<{name}>\n")),
                "{name}: {handed}"
            );
        }
        for name in NAMES {
            let name = fit(name);
            let handed = ["probe", "--quiet", "--format", "json", "--node", &name];
            let each = words(&[&handed[..], &ARGUMENTS].concat());
            assert_eq!(
                stage.said("meter").matches(&each).count(),
                1,
                "{name}: {}",
                stage.said("meter")
            );
        }
        assert!(stage.0.file(run).join("nodes").exists());
    }
}

#[test]
fn node_does_not_evaluate_names() {
    for run in ["a run; touch PWNED;", "-run"] {
        let stage = Stage::new();
        for name in NAMES {
            let args = [&[run, name][..], &ARGUMENTS].concat();
            let (code, reported) = ended(stage.script("node.sh", &args));
            assert!(
                code == Some(0) && reported.starts_with("done\t"),
                "{name}: {reported}"
            );
        }
        stage.is_sound();
        let (code, reported) = ended(stage.script("status.sh", &[run]));
        assert_eq!(
            (code, reported.lines().count()),
            (Some(0), 1 + NAMES.len()),
            "{reported}"
        );
    }
}

/// Programs that do no more than start what they are handed behind their options.
#[test]
fn launchers_pass_names_unchanged() {
    let run = "a run; touch PWNED;";
    let stage = Stage::new();
    let launch = r#"while [ "$1" != sh ]; do shift; done; exec "$@""#;
    stage.program("mpirun", &format!("{}\n{launch}", said("mpirun")));
    stage.program("srun", launch);
    stage.program("scontrol", "printf 'n1\\n'");
    fs::write(stage.0.file("-host file"), "n1 slots=1\n").expect("there is room");
    let (code, reported) = ended(stage.script(
        "mpi/mpirun.sh",
        &[&[run, "-host file"][..], &ARGUMENTS].concat(),
    ));
    let host = rustix::system::uname();
    let host = fit(&host.nodename().to_string_lossy());
    assert!(
        stage
            .said("meter")
            .contains(&format!("<--node>\n<{host}>\n")),
        "{}",
        stage.said("meter")
    );
    assert_eq!(code, Some(0), "{reported}");
    assert!(
        stage
            .said("mpirun")
            .contains("<--hostfile>\n<./-host file>\n"),
        "{}",
        stage.said("mpirun")
    );
    let handed_on = |stage: &Stage| stage.said("meter").matches("<--node>\n<n1>\n").count();
    for (task, handed) in [("", 1), ("3", 2), ("4", 3)] {
        let deploy = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy");
        let mut command = stage.script(
            "slurm/srun.sh",
            &[&["a run of slurm"][..], &ARGUMENTS].concat(),
        );
        command
            .env("SLURM_JOB_NODELIST", "n1")
            .env("SLURMD_NODENAME", "n1")
            .env("SLURM_ARRAY_TASK_ID", task);
        command.env("TIMERMETER_DEPLOY", deploy);
        let (code, reported) = ended(command);
        assert_eq!(
            (code, handed_on(&stage)),
            (Some(0), handed),
            "{task}: {reported}"
        );
    }
    // Tasks of one node have folders of their own, and one name.
    for folder in ["n1", "n1.2", "n1.3"] {
        assert!(
            stage
                .0
                .file("a run of slurm")
                .join(folder)
                .join("status")
                .exists(),
            "{folder}"
        );
    }
    stage.is_sound();
}

/// Slurm, MPI and Kubernetes send just that.
#[test]
fn stopped_node_stops_its_probe() {
    for (number, signal) in [Signal::TERM, Signal::INT, Signal::HUP]
        .into_iter()
        .enumerate()
    {
        let stage = Stage::new();
        stage.program("it's a \"meter\"", &format!("sleep 301{number} & wait"));
        let run = Run::spawn(stage.script("node.sh", &["run", "n1"]));
        run.until_it_runs(&format!("sleep 301{number}"));
        run.signal(signal);
        let (status, output) = run.end();
        let reported = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            status.success() && reported.starts_with("cancelled\tn1\t"),
            "{signal:?}: {reported}"
        );
        assert_eq!(
            fs::read_to_string(stage.0.file("run/n1/status")).expect("it is told"),
            reported
        );
    }
}

/// As between the fork of a shell and what it starts, where a signal is lost.
#[test]
fn repeats_signal_to_deaf_probe() {
    let stage = Stage::new();
    stage.program(
        "timeout",
        "trap '' TERM\nsleep 1.25\ntrap - TERM\nexec sleep 3021",
    );
    let run = Run::spawn(stage.script("node.sh", &["run", "n1"]));
    run.until_it_runs("sleep 1.25");
    run.signal(Signal::TERM);
    let (status, output) = run.end();
    let reported = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        status.success() && reported.starts_with("cancelled\tn1\t"),
        "{reported}"
    );
}

#[test]
fn stops_all_listed_nodes() {
    let stage = Stage::new();
    stage.program("ssh", "sleep 3020 & wait");
    fs::write(stage.0.file("nodes"), "n1\nn2\n").expect("there is room");
    let run = Run::spawn(stage.script("ssh/parallel.sh", &["run", "nodes"]));
    run.until_it_runs("sleep 3020");
    run.signal(Signal::TERM);
    let (status, output) = run.end();
    assert_eq!(status.code(), Some(143), "{output:?}");
    let reported = String::from_utf8_lossy(&output.stdout).into_owned();
    // One of them may not have begun.
    assert!(
        reported.contains("cancelled\t") && !reported.contains("running\t"),
        "{reported}"
    );
}

/// OSC, CSI of one byte, the same in UTF-8, an override of direction, a carriage return.
const STEERING: &[u8] = b"\x1b]0;owned\x07 \x9b31m \xc2\x9b31m \xe2\x80\xaegnp.exe \rdone\tn9";

#[test]
fn node_output_cannot_control_terminal() {
    let stage = Stage::new();
    fs::write(stage.0.file("words"), STEERING).expect("there is room");
    stage.program("it's a \"meter\"", r#"cat "$STAGE/words" >&2; exit 1"#);
    let (code, reported) = ended(stage.script("node.sh", &["run", "n1"]));
    assert!(
        code == Some(0) && reported.starts_with("failed\tn1\t") && reported.contains("owned"),
        "{reported}"
    );
    // One that writes its status by itself, and one whose folder is called so.
    let name = [b"n2\x1b]0;owned\x07\n", STEERING].concat();
    for folder in [
        Path::new("n3"),
        Path::new(std::ffi::OsStr::from_bytes(&name)),
    ] {
        let folder = stage.0.file("run").join(folder);
        fs::create_dir(&folder).expect("a folder");
        fs::write(
            folder.join("status"),
            [b"done\tn3\t", STEERING, b"\n", STEERING].concat(),
        )
        .expect("there is room");
    }
    let (code, reported) = ended(stage.script("status.sh", &["run"]));
    assert_eq!((code, reported.lines().count()), (Some(3), 4), "{reported}");
    assert!(
        !reported.lines().any(|line| line.starts_with("done")),
        "{reported}"
    );
}

#[test]
fn what_is_no_report_is_none() {
    let stage = Stage::new();
    stage.program("ssh", r#"echo '{"not":"a report"}'"#);
    let mut command = stage.script("node.sh", &["run", "n1"]);
    command.env("REMOTE", "ssh n1");
    let (_, reported) = ended(command);
    assert!(
        reported.starts_with("failed\tn1\t") && reported.contains("what came back is no report"),
        "{reported}"
    );
    assert_eq!(
        fs::read_dir(stage.0.file("run/n1"))
            .expect("it is there")
            .count(),
        1,
        "nothing is kept of it"
    );
    for (name, report) in [("n2", r#"{"not":"a report"}"#), ("n3", "")] {
        let folder = stage.0.file("run").join(name);
        fs::create_dir(&folder).expect("a folder");
        fs::write(
            folder.join("status"),
            format!("done\t{name}\th\t1\t2\t0\t-\n"),
        )
        .expect("there is room");
        fs::write(folder.join("report.json"), report).expect("there is room");
    }
    let (code, reported) = ended(stage.script("status.sh", &["run"]));
    assert_eq!(code, Some(3), "{reported}");
    assert_eq!(
        reported
            .lines()
            .filter(|line| line.starts_with("failed\t"))
            .count(),
        3,
        "{reported}"
    );
}

/// A probe that is done but for a timer that was asked for by name brings its report back, too.
#[test]
fn keeps_report_of_exit_3() {
    let stage = Stage::new();
    stage.program("ssh", &format!("cat '{REPORT}'; exit 3"));
    let mut command = stage.script("node.sh", &["run", "n1"]);
    command.env("REMOTE", "ssh n1");
    let (_, reported) = ended(command);
    assert!(
        reported.starts_with("done\tn1\t") && stage.0.file("run/n1/report.json").exists(),
        "{reported}"
    );
}

#[test]
fn the_playbook_keeps_to_the_same() {
    let stage = Stage::new();
    if Command::new("ansible-playbook")
        .arg("--version")
        .output()
        .is_err()
    {
        skipped("there is no ansible-playbook", "install ansible-core");
        return;
    }
    fs::write(stage.0.file("words"), STEERING).expect("there is room");
    stage.program("steering", r#"cat "$STAGE/words" >&2; exit 1"#);
    stage.program("lying", r#"echo '{"not":"a report"}'"#);
    stage.program("honest", &format!("{}\ncat '{REPORT}'", said("meter")));
    let hosts: String = ["steering", "lying", "honest"]
        .map(|name| {
            format!(
                "{name} ansible_connection=local ansible_python_interpreter='{{{{ ansible_playbook_python }}}}' timermeter={}\n",
                stage.0.file("bin").join(name).display()
            )
        })
        .concat();
    fs::write(stage.0.file("hosts"), hosts).expect("there is room");
    let run = stage.0.arg("a run; touch PWNED;");
    let extra = serde_json::json!({ "run": run }).to_string();
    let play = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/ansible/probe.yml");
    let played = Command::new("ansible-playbook")
        .args(["-i", &stage.0.arg("hosts"), play, "-e", &extra])
        .env("STAGE", stage.0.file(""))
        .current_dir(stage.0.file(""))
        .output()
        .expect("it starts");
    let (code, reported) = ended(stage.script("status.sh", &[&run]));
    assert_eq!(code, Some(3), "{reported}: {played:?}");
    for (state, name) in [
        ("failed", "steering"),
        ("failed", "lying"),
        ("done", "honest"),
    ] {
        assert!(
            reported.contains(&format!("{state}\t{name}\t")),
            "{reported}: {played:?}"
        );
    }
    assert!(
        stage.said("meter").contains("<--node>\n<honest>\n"),
        "{}",
        stage.said("meter")
    );
    let kept = fs::read(stage.0.file("a run; touch PWNED;/steering/status")).expect("it is kept");
    assert!(
        kept.iter()
            .all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~')),
        "{kept:?}"
    );
    stage.is_sound();
}

const OTHER_CPU: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/reports/intel-xeon-family-6-model-167-kvm-debian-12/2026-11-25/report.json"
);
const BEFORE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23/report.json"
);
const AFTER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23-2/report.json"
);

/// A gate whose machine gives kept reports; what is compared, the program compares itself.
#[track_caller]
fn gate(stage: &Stage, report: &str, conditions: &[&str], code: i32) -> (String, String) {
    stage.program(
        "it's a \"meter\"",
        &format!(
            r#"{said}
[ "$1" = probe ] || exec '{program}' "$@"
mkdir -p "${{3#--save=}}/p/d" && cp '{report}' "${{3#--save=}}/p/d/report.json"; echo 'a table'"#,
            said = said("meter"),
            program = env!("CARGO_BIN_EXE_timermeter"),
        ),
    );
    let args = [&["-kept $(touch PWNED)"][..], conditions].concat();
    let Output {
        status,
        stdout,
        stderr,
    } = stage
        .script("gate.sh", &args)
        .env("RUNS", "1")
        .output()
        .expect("it starts");
    let [reported, errors] =
        [stdout, stderr].map(|bytes| String::from_utf8(bytes).expect("it is text"));
    assert_eq!(
        status.code(),
        Some(code),
        "{conditions:?}: {reported}{errors}"
    );
    stage.is_sound();
    (reported, errors)
}

#[test]
fn gate_refuses_baseline_of_other_cpu() {
    let stage = Stage::new();
    let (reported, _) = gate(&stage, BEFORE, &[], 0);
    assert_eq!(reported, "No baseline of p yet: it was made now.\n");
    let kept = stage.0.file("-kept $(touch PWNED)/p/d/report.json");
    assert_eq!(fs::read(&kept).unwrap(), fs::read(BEFORE).unwrap());
    let (reported, _) = gate(&stage, AFTER, &["quality<-50", "lost>0"], 0);
    assert!(reported.starts_with("**Clock reads: "), "{reported}");
    let (reported, _) = gate(&stage, AFTER, &["lost>=0"], 3);
    assert!(reported.contains("condition holds: lost"), "{reported}");
    let (reported, errors) = gate(&stage, OTHER_CPU, &["quality<-50"], 4);
    assert_eq!(reported, "");
    assert!(
        errors.contains("the baseline is of another CPU: AMD EPYC → Intel(R) Xeon(R)"),
        "{errors}"
    );
    assert_eq!(
        fs::read(&kept).unwrap(),
        fs::read(BEFORE).unwrap(),
        "the baseline stays"
    );
    let (_, errors) = gate(&stage, AFTER, &["cost<-200%"], 2);
    assert!(errors.contains("never holds"), "{errors}");
}

#[test]
fn failed_gate_keeps_nothing() {
    let stage = Stage::new();
    stage.program("it's a \"meter\"", "echo 'no clock' >&2; exit 1");
    let (code, reported) = ended(stage.script("gate.sh", &["kept"]));
    assert_eq!((code, reported.as_str()), (Some(1), "no clock\n"));
    assert!(!stage.0.file("kept").exists());
    let (code, reported) = ended(stage.script("gate.sh", &[]));
    assert!(
        code == Some(2) && reported.contains("usage: gate.sh FOLDER"),
        "{reported}"
    );
}
