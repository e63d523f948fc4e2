//! Malicious or malformed output of nodes: it cannot control the terminal, and only a valid report
//! counts as one.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::sandbox::{Sandbox, TIMERMETER, run_to_end};
use crate::stored::MBP53;

/// Control characters for terminals: an OSC sequence, CSI in one byte and in UTF-8, an override of
/// the text direction, and a carriage return.
const CONTROL_SEQUENCES: &[u8] =
    b"\x1b]0;owned\x07 \x9b31m \xc2\x9b31m \xe2\x80\xaegnp.exe \rdone\tn9";

#[test]
fn node_output_cannot_control_terminal() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.file("sequences"), CONTROL_SEQUENCES).expect("the file is written");
    sandbox.add_program(TIMERMETER, r#"cat "$SANDBOX/sequences" >&2; exit 1"#);
    let (code, output) = run_to_end(sandbox.deploy_script("node.sh", &["run", "n1"]));
    assert!(
        code == Some(0) && output.starts_with("failed\tn1\t") && output.contains("owned"),
        "{output}"
    );
    // A node that wrote its own status, and a folder with control characters in its name.
    let name = [b"n2\x1b]0;owned\x07\n", CONTROL_SEQUENCES].concat();
    for folder in [Path::new("n3"), Path::new(OsStr::from_bytes(&name))] {
        let folder = sandbox.file("run").join(folder);
        fs::create_dir(&folder).expect("the folder is created");
        fs::write(
            folder.join("status"),
            [b"done\tn3\t", CONTROL_SEQUENCES, b"\n", CONTROL_SEQUENCES].concat(),
        )
        .expect("the file is written");
    }
    let (code, output) = run_to_end(sandbox.deploy_script("status.sh", &["run"]));
    assert_eq!((code, output.lines().count()), (Some(3), 4), "{output}");
    assert!(
        !output.lines().any(|line| line.starts_with("done")),
        "{output}"
    );
}

#[test]
fn rejects_reply_without_report() {
    let sandbox = Sandbox::new();
    sandbox.add_program("ssh", r#"echo '{"not":"a report"}'"#);
    let mut command = sandbox.deploy_script("node.sh", &["run", "n1"]);
    command.env("REMOTE", "ssh n1");
    let (_, output) = run_to_end(command);
    assert!(
        output.starts_with("failed\tn1\t") && output.contains("what came back is no report"),
        "{output}"
    );
    assert_eq!(
        fs::read_dir(sandbox.file("run/n1"))
            .expect("the folder is readable")
            .count(),
        1,
        "only the status is kept"
    );
    for (name, report) in [("n2", r#"{"not":"a report"}"#), ("n3", "")] {
        let folder = sandbox.file("run").join(name);
        fs::create_dir(&folder).expect("the folder is created");
        fs::write(
            folder.join("status"),
            format!("done\t{name}\th\t1\t2\t0\t-\n"),
        )
        .expect("the file is written");
        fs::write(folder.join("report.json"), report).expect("the file is written");
    }
    let (code, output) = run_to_end(sandbox.deploy_script("status.sh", &["run"]));
    assert_eq!(code, Some(3), "{output}");
    assert_eq!(
        output
            .lines()
            .filter(|line| line.starts_with("failed\t"))
            .count(),
        3,
        "{output}"
    );
}

/// Nodes may write into the folder of the run: pipes, a device and links in place of files.
#[test]
fn special_files_are_not_read() {
    let sandbox = Sandbox::new();
    let make_pipe = |name: &str| {
        let made = Command::new("mkfifo").arg(sandbox.file(name)).status();
        assert!(made.expect("mkfifo runs").success());
    };
    for node in ["n1", "n2", "n3", "n4"] {
        fs::create_dir_all(sandbox.file("run").join(node)).expect("the folder is created");
    }
    make_pipe("run/n1/status");
    symlink("../n1/status", sandbox.file("run/n2/status")).expect("the link is created");
    symlink("/dev/zero", sandbox.file("run/n3/status")).expect("the link is created");
    fs::write(sandbox.file("run/n4/status"), "done\tn4\th\t1\t2\t0\t-\n")
        .expect("the file is written");
    make_pipe("run/n4/report.json");
    symlink("/", sandbox.file("run/n5")).expect("the link is created");
    make_pipe("run/nodes");
    let (code, output) = run_to_end(sandbox.deploy_script("status.sh", &["run"]));
    assert_eq!(code, Some(3), "{output}");
    for row in ["lost\tn1", "lost\tn2", "lost\tn3", "failed\tn4", "lost\tn5"] {
        assert!(output.contains(&format!("\n{row}\t")), "{row}: {output}");
    }
}

/// `probe` exits with 3 if a timer that the user named failed; its report is complete.
#[test]
fn keeps_report_of_exit_3() {
    let sandbox = Sandbox::new();
    sandbox.add_program("ssh", &format!("cat '{MBP53}'; exit 3"));
    let mut command = sandbox.deploy_script("node.sh", &["run", "n1"]);
    command.env("REMOTE", "ssh n1");
    let (_, output) = run_to_end(command);
    assert!(
        output.starts_with("done\tn1\t") && sandbox.file("run/n1/report.json").exists(),
        "{output}"
    );
}

/// The number of processes that read files does not grow with the number of nodes.
#[test]
fn many_nodes_are_read_in_one_pass() {
    const NODES: usize = 90;
    let sandbox = Sandbox::new();
    let names = ["it's \"x\"", "-n", "a b", "$(touch PWNED)", "a=b", "\\t\\1"];
    let numbered = (names.len()..NODES).map(|number| format!("n{number}"));
    for name in names.map(str::to_owned).into_iter().chain(numbered) {
        let folder = sandbox.file("-run").join(&name);
        fs::create_dir_all(folder.join("p/d")).expect("the folder is created");
        fs::copy(MBP53, folder.join("p/d/report.json")).expect("the report is copied");
        let status = format!("done\t{name}\th\t1\t2\t0\t-\n");
        fs::write(folder.join("status"), status).expect("the file is written");
    }
    let count = |limit: usize| {
        let _ = fs::remove_file(sandbox.file("calls"));
        sandbox.add_program(
            "timeout",
            &format!(
                r#"echo >>"$SANDBOX/calls"; [ $# -le {limit} ] || exit 124; PATH=${{PATH#*:}}; exec timeout "$@""#
            ),
        );
        let (code, output) = run_to_end(sandbox.deploy_script("status.sh", &["-run"]));
        assert_eq!(
            (code, output.lines().count()),
            (Some(0), NODES + 1),
            "{output}"
        );
        assert!(
            output.contains("\ndone\t\\t\\1\t") && output.contains("\t-\t1\n"),
            "{output}"
        );
        sandbox.assert_nothing_injected();
        let calls = fs::read_to_string(sandbox.file("calls")).expect("files are read");
        calls.lines().count()
    };
    assert!(count(1_000) < NODES / 10);
    // If a file takes too long, the others are read nevertheless.
    assert!(count(4) > NODES);
}
