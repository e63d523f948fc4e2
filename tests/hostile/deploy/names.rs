//! Names of nodes and of runs, and arguments, that a shell would interpret: no script of `deploy/`
//! executes them, and all scripts pass them on unchanged.

use std::fs;

use super::sandbox::{Sandbox, node_name, record_arguments, run_to_end};

/// Names of nodes. An injected command would create a file that the sandbox finds.
const NAMES: [&str; 6] = [
    "a b",
    "it's \"quoted\"",
    "x;touch PWNED1;",
    "$(touch PWNED2)`touch PWNED3`",
    "-oProxyCommand=touch PWNED4",
    "'; touch PWNED5 #",
];
/// Arguments of `probe`. `{}`, `{.}` and `{#}` are placeholders of GNU parallel.
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

/// Arguments as the sandbox records them.
fn recorded_lines(arguments: &[&str]) -> String {
    let lines = arguments.iter().map(|argument| format!("<{argument}>\n"));
    lines.collect()
}

#[test]
fn node_names_cannot_inject_commands() {
    for run in ["a run; touch PWNED;", "-run", "it's $(touch PWNED)"] {
        let sandbox = Sandbox::new();
        fs::write(sandbox.file("-no des"), NAMES.join("\n") + "\n\n").expect("the file is written");
        let args = [&[run, "-no des"][..], &ARGUMENTS].concat();
        let (code, output) = run_to_end(sandbox.deploy_script("ssh/parallel.sh", &args));
        sandbox.assert_nothing_injected();
        assert_eq!(code, Some(0), "{run}: {output}");
        assert_eq!(
            output
                .lines()
                .filter(|line| line.starts_with("done\t"))
                .count(),
            2 * NAMES.len(),
            "{output}"
        );
        let ssh = sandbox.arguments_of("ssh");
        let timermeter = sandbox.arguments_of("timermeter");
        for name in NAMES {
            assert!(ssh.contains(&format!("<-->\n<{name}>\n")), "{name}: {ssh}");
            let name = node_name(name);
            let options = ["probe", "--quiet", "--format", "json", "--node", &name];
            let expected = recorded_lines(&[&options[..], &ARGUMENTS].concat());
            assert_eq!(
                timermeter.matches(&expected).count(),
                1,
                "{name}: {timermeter}"
            );
        }
        assert!(sandbox.file(run).join("nodes").exists());
    }
}

/// `mpirun` and `srun` run the command that follows their own options.
#[test]
fn launchers_pass_names_unchanged() {
    let run = "a run; touch PWNED;";
    let sandbox = Sandbox::new();
    let run_command = r#"while [ "$1" != sh ]; do shift; done; exec "$@""#;
    sandbox.add_program(
        "mpirun",
        &format!("{}\n{run_command}", record_arguments("mpirun")),
    );
    sandbox.add_program("srun", run_command);
    sandbox.add_program("scontrol", "printf 'n1\\n'");
    fs::write(sandbox.file("-host file"), "n1 slots=1\n").expect("the file is written");
    let (code, output) = run_to_end(sandbox.deploy_script(
        "mpi/mpirun.sh",
        &[&[run, "-host file"][..], &ARGUMENTS].concat(),
    ));
    let system = rustix::system::uname();
    let host = node_name(&system.nodename().to_string_lossy());
    assert!(
        sandbox
            .arguments_of("timermeter")
            .contains(&format!("<--node>\n<{host}>\n")),
        "{}",
        sandbox.arguments_of("timermeter")
    );
    assert_eq!(code, Some(0), "{output}");
    assert!(
        sandbox
            .arguments_of("mpirun")
            .contains("<--hostfile>\n<./-host file>\n"),
        "{}",
        sandbox.arguments_of("mpirun")
    );
    let count_probes = |sandbox: &Sandbox| {
        sandbox
            .arguments_of("timermeter")
            .matches("<--node>\n<n1>\n")
            .count()
    };
    for (task, probes) in [("", 1), ("3", 2), ("4", 3)] {
        let deploy = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy");
        let mut command = sandbox.deploy_script(
            "slurm/srun.sh",
            &[&["a run of slurm"][..], &ARGUMENTS].concat(),
        );
        command
            .env("SLURM_JOB_NODELIST", "n1")
            .env("SLURMD_NODENAME", "n1")
            .env("SLURM_ARRAY_TASK_ID", task);
        command.env("TIMERMETER_DEPLOY", deploy);
        let (code, output) = run_to_end(command);
        assert_eq!(
            (code, count_probes(&sandbox)),
            (Some(0), probes),
            "{task}: {output}"
        );
    }
    // Tasks on the same node have separate folders.
    for folder in ["n1", "n1.2", "n1.3"] {
        assert!(
            sandbox
                .file("a run of slurm")
                .join(folder)
                .join("status")
                .exists(),
            "{folder}"
        );
    }
    sandbox.assert_nothing_injected();
}

/// The launchers write the list of the nodes to `RUN/nodes`.
#[test]
fn nodes_named_like_list_are_probed() {
    let sandbox = Sandbox::new();
    let names = "nodes\nn1\nnode.nodes\nnodes\n";
    fs::write(sandbox.file("list"), names).expect("the file is written");
    let count = |output: &str, state: &str| {
        let lines = output.lines();
        lines.filter(|line| line.starts_with(state)).count()
    };
    let (code, output) = run_to_end(sandbox.deploy_script("ssh/parallel.sh", &["run", "list"]));
    assert_eq!((code, count(&output, "done\t")), (Some(0), 8), "{output}");
    let arguments = sandbox.arguments_of("timermeter");
    assert_eq!(arguments.matches("<--node>\n<nodes>\n").count(), 2);
    // The list of the earlier run is the list of this one.
    let (code, output) =
        run_to_end(sandbox.deploy_script("ssh/parallel.sh", &["run", "run/nodes"]));
    assert_eq!((code, count(&output, "done\t")), (Some(0), 12), "{output}");
    let kept = fs::read_to_string(sandbox.file("run/nodes")).expect("the list is readable");
    assert_eq!(kept, names);
    // Without the node of that name, its row is `lost`.
    fs::remove_dir_all(sandbox.file("run/node.nodes.3")).expect("the folder is removed");
    let (code, output) = run_to_end(sandbox.deploy_script("status.sh", &["run"]));
    assert_eq!(
        (code, count(&output, "lost\tnode.nodes.3\t")),
        (Some(3), 1),
        "{output}"
    );
    sandbox.add_program("scontrol", "cat \"$SANDBOX/list\"");
    sandbox.add_program(
        "srun",
        r#"while [ "$1" != sh ]; do shift; done
while read -r node; do SLURMD_NODENAME=$node "$@"; done <"$SANDBOX/list""#,
    );
    let mut command = sandbox.deploy_script("slurm/srun.sh", &["slurm"]);
    let deploy = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy");
    command.env("SLURM_JOB_NODELIST", "nodes,n1");
    let (code, output) = run_to_end({
        command.env("TIMERMETER_DEPLOY", deploy);
        command
    });
    assert_eq!((code, count(&output, "done\t")), (Some(0), 8), "{output}");
}
