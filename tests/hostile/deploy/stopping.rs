//! Scripts of `deploy/` that receive a signal: they stop their processes and report `cancelled`.

use std::fs;

use rustix::process::Signal;

use super::sandbox::{Sandbox, TIMERMETER};
use crate::run::Run;

/// Slurm, MPI and Kubernetes stop jobs with one of these signals.
#[test]
fn stopped_node_stops_its_probe() {
    for (number, signal) in [Signal::TERM, Signal::INT, Signal::HUP]
        .into_iter()
        .enumerate()
    {
        let sandbox = Sandbox::new();
        sandbox.add_program(TIMERMETER, &format!("sleep 301{number} & wait"));
        let run = Run::spawn(sandbox.deploy_script("node.sh", &["run", "n1"]));
        run.until_it_runs(&format!("sleep 301{number}"));
        run.signal(signal);
        let (status, output) = run.end();
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            status.success() && output.starts_with("cancelled\tn1\t"),
            "{signal:?}: {output}"
        );
        assert_eq!(
            fs::read_to_string(sandbox.file("run/n1/status")).expect("the node has a status"),
            output
        );
    }
}

/// A process that was just forked loses a signal, which the script therefore sends again.
#[test]
fn repeats_signal_until_probe_stops() {
    let sandbox = Sandbox::new();
    sandbox.add_program(
        "timeout",
        "trap '' TERM\nsleep 1.25\ntrap - TERM\nexec sleep 3021",
    );
    let run = Run::spawn(sandbox.deploy_script("node.sh", &["run", "n1"]));
    run.until_it_runs("sleep 1.25");
    run.signal(Signal::TERM);
    let (status, output) = run.end();
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        status.success() && output.starts_with("cancelled\tn1\t"),
        "{output}"
    );
}

#[test]
fn stops_all_listed_nodes() {
    let sandbox = Sandbox::new();
    sandbox.add_program("ssh", "sleep 3020 & wait");
    fs::write(sandbox.file("nodes"), "n1\nn2\n").expect("the file is written");
    let run = Run::spawn(sandbox.deploy_script("ssh/parallel.sh", &["run", "nodes"]));
    run.until_it_runs("sleep 3020");
    run.signal(Signal::TERM);
    let (status, output) = run.end();
    assert_eq!(status.code(), Some(143), "{output:?}");
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    // One of the two nodes may not have started.
    assert!(
        output.contains("cancelled\t") && !output.contains("running\t"),
        "{output}"
    );
}
