//! Nodes keep their names through every way of collecting that is documented, from run to run.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::duckdb::{self, Answer};
use super::{folder, program, timermeter};

const NODES: [&str; 3] = ["rack1-node1", "rack1-node2", "rack2-node1"];

/// Programs that stand in for those of the engines: each carries out what it is handed on the node that `NODE` names.
const STANDINS: [(&str, &str); 5] = [
    ("ssh", r#"while [ "$1" != -- ]; do shift; done; NODE=$2 exec sh -c "$3""#),
    (
        "srun",
        r#"while [ "$1" != sh ]; do shift; done
for node in rack1-node1 rack1-node2 rack2-node1; do SLURMD_NODENAME=$node "$@"; done"#,
    ),
    ("scontrol", "printf 'rack1-node1\nrack1-node2\nrack2-node1\n'"),
    (
        "mpirun",
        r#"while [ "$1" != sh ]; do shift; done
for NODE in rack1-node1 rack1-node2 rack2-node1; do export NODE; "$@"; done"#,
    ),
    ("uname", r#"if [ "$1" = -n ]; then echo "${NODE:-launcher}"; else exec /bin/uname "$@"; fi"#),
];

/// A way from nodes to a dataset: what is run in the folder, with `$deploy`, `$run` and `$seed`.
const WAYS: [(&str, &str); 5] = [
    (
        "node.sh",
        r#"for node in $(cat nodes); do "$deploy/node.sh" "$run" "$node" monotonic --quick --seed "$seed"; done"#,
    ),
    ("ssh", r#""$deploy/ssh/parallel.sh" "$run" nodes monotonic --quick --seed "$seed""#),
    (
        "Slurm",
        r#"TIMERMETER_DEPLOY=$deploy SLURM_JOB_NODELIST=all "$deploy/slurm/srun.sh" "$run" monotonic --quick --seed "$seed""#,
    ),
    ("MPI", r#""$deploy/mpi/mpirun.sh" "$run" - monotonic --quick --seed "$seed""#),
    (
        "pipe",
        r#"mkdir "$run"; for node in $(cat nodes); do "$TIMERMETER" probe --quiet --node "$node" --format json monotonic --quick --seed "$seed"; done |
           "$TIMERMETER" collect - --output fleet"#,
    ),
];

fn stage() -> tempfile::TempDir {
    let folder = folder();
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).expect("a folder");
    for (name, body) in STANDINS {
        let path = bin.join(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("there is room");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    fs::write(folder.path().join("nodes"), NODES.join("\n") + "\n").expect("there is room");
    folder
}

fn run(way: &str, run: &str, seed: &str, folder: &Path) {
    let mut path = folder.join("bin").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let deploy: PathBuf = [env!("CARGO_MANIFEST_DIR"), "deploy"].iter().collect();
    let mut command = Command::new("sh");
    command.args(["-c", way]).current_dir(folder).stdin(Stdio::null()).env("PATH", path);
    command.env("deploy", deploy).env("run", run).env("seed", seed).env("TIMERMETER", program());
    let done = command.output().expect("it runs");
    assert!(done.status.success(), "{way}: {done:?}");
}

/// Reports are dated to the second, and two of one name and second are of two machines.
fn next_second() {
    std::thread::sleep(std::time::Duration::from_secs(1));
}

#[test]
fn nodes_keep_their_names_through_every_documented_way() {
    if duckdb::is_missing() {
        return;
    }
    for (name, way) in WAYS {
        let folder = stage();
        // Two runs, so that all nodes have a later one.
        for (at, seed) in [("first", "1"), ("second", "2")] {
            run(way, at, seed, folder.path());
            next_second();
        }
        if name != "pipe" {
            let done = timermeter(folder.path(), &["collect", "first", "second", "-o", "fleet"]);
            assert!(done.status.success() && super::told(&done).is_empty(), "{name}: {done:?}");
        }
        let nodes: BTreeSet<String> = NODES.map(str::to_owned).into();
        for (view, rows) in [("fleet", 2 * NODES.len()), ("latest", NODES.len())] {
            let question = format!("SELECT node, seed FROM {view}");
            let answers = duckdb::asked(folder.path(), &[&question]);
            let answer: &Answer = &answers[0];
            let found = answer.texts("node");
            assert_eq!(found.len(), rows, "{name}, {view}: {found:?}");
            assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), nodes, "{name}, {view}");
        }
        assert!(duckdb::all_asked(folder.path()).len() == 10, "{name}");
    }
}
