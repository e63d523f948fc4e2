//! Where built-in agents and their compilers run: neither files that others put into shared folders
//! nor variables of the environment change what they execute.

use std::ffi::OsStr;
use std::fs;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use super::command;
use super::folder::Folder;
use crate::skipping::skipped;

/// Files that runtimes search for in the current folder or above their program. Each of them makes
/// the runtime that reads it fail.
const TRAPS: [(&str, &str); 12] = [
    ("package.json", r#"{"type": "module"}"#),
    (
        "tsconfig.json",
        r#"{"compilerOptions": {"paths": {"*": ["./no.ts"]}}}"#,
    ),
    ("bunfig.toml", r#"preload = ["./no.ts"]"#),
    ("deno.json", r#"{"imports": 5, "tasks": 5}"#),
    ("maps.beam", "trap"),
    ("user.beam", "trap"),
    ("mscorlib.dll", "trap"),
    ("System.dll", "trap"),
    ("go.mod", "trap"),
    ("go.work", "trap"),
    (".erlang", "trap"),
    ("Clock.java", "trap"),
];

/// Lists the timers of runtimes in the folder `here`, with temporary files in `temporary`.
fn list(runtimes: &str, here: &Folder, temporary: impl AsRef<OsStr>) -> Command {
    let mut command = command(&format!("list --format json --runtime {runtimes}"));
    command.current_dir(here.file("")).env("TMPDIR", temporary);
    command
}

/// The reasons why all timers of a runtime are missing, by the id `RUNTIME:*`.
#[track_caller]
fn reasons(command: &mut Command) -> Vec<(String, String)> {
    let listed = command.assert().code(predicate::in_iter([0, 3]));
    let rows: Vec<Value> = serde_json::from_slice(&listed.get_output().stdout).unwrap();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let rows = rows
        .iter()
        .map(|row| (text(row, "id"), text(row, "reason")));
    rows.filter(|(id, _)| id.ends_with(":*")).collect()
}

/// Checks that the agents of all runtimes start that are installed.
#[track_caller]
fn assert_installed_agents_start(command: &mut Command) {
    for (id, reason) in reasons(command) {
        assert!(reason.contains("there is no `"), "{id}: {reason}");
        skipped(format!("{id}: {reason}"), "install the runtime");
    }
}

/// Puts a script in place of a program, and returns a `PATH` in which it is found first.
fn fake(folder: &Folder, name: &str, script: &str) -> String {
    folder.script(name, script);
    format!("{}:/usr/bin:/bin", folder.file("").display())
}

#[test]
fn agents_ignore_files_of_shared_folders() {
    let (here, temporary) = (Folder::new(), Folder::new());
    for (name, content) in TRAPS {
        fs::write(here.file(name), content).unwrap();
        fs::write(temporary.file(name), content).unwrap();
    }
    let runtimes = "node,bun,deno,erlang,dotnet,go,java";
    assert_installed_agents_start(&mut list(runtimes, &here, temporary.file("")));
}

#[test]
fn agents_run_in_private_folder() {
    let (here, programs, log) = (Folder::new(), Folder::new(), Folder::new());
    fs::create_dir(here.file("temporary")).unwrap();
    let script = "[ \"$PWD\" = \"$TMPDIR\" ] && for word; do :; done && [ -f \"$word\" ] &&\n\
        echo \"$TMPDIR ${PERL5OPT-no options}\" >> \"$LOG\"";
    let path = fake(&programs, "perl", script);
    // A relative folder is that of the caller.
    let mut lists = list("perl", &here, "temporary");
    lists
        .env("PATH", path)
        .env("LOG", log.file("log"))
        .env("PERL5OPT", "-w");
    let removed = "the agents of runtimes run without PERL5OPT";
    lists.assert().code(3).stderr(contains(removed));
    let log = fs::read_to_string(log.file("log")).unwrap();
    let begin = here.arg("temporary/.timermeter-");
    assert!(log.lines().all(|line| line.starts_with(&begin)), "{log}");
    let options = log.lines().filter_map(|line| line.split_once(' '));
    let options: Vec<&str> = options.map(|(_, options)| options).collect();
    assert_eq!(options, ["no options", "no options"]);
    assert_eq!(here.names(), ["temporary"]);
}

#[test]
fn programs_in_current_folder_are_not_found() {
    let here = Folder::new();
    fake(&here, "perl", "touch \"$TMPDIR/../run\"");
    let mut lists = list("perl", &here, here.file(""));
    let reasons = reasons(lists.env("PATH", ":."));
    assert_eq!(reasons, [("perl:*".into(), "there is no `perl`".into())]);
}

#[test]
fn dotnet_reads_no_files_above() {
    let (here, programs) = (Folder::new(), Folder::new());
    let script = "[ -f global.json ] && [ -f NuGet.config ] || exit 1\n\
        [ \"$1\" = build ] || { echo 8.0.100; exit; }\n\
        echo \"$*\" > \"$LOG\"";
    fake(&programs, "dotnet", script);
    // Mono, another host of this runtime, is not in this folder.
    let mut lists = list("dotnet", &here, here.file(""));
    lists
        .env("PATH", programs.file(""))
        .env("LOG", programs.file("log"))
        .env("DOTNET_STARTUP_HOOKS", "/no/hook.dll")
        .assert()
        .code(3)
        .stderr(contains("without DOTNET_STARTUP_HOOKS"));
    let line = fs::read_to_string(programs.file("log")).unwrap();
    for flag in [
        "-noAutoResponse",
        "-p:ImportDirectoryBuildProps=false",
        "-p:ImportDirectoryBuildTargets=false",
        "-p:ImportDirectoryPackagesProps=false",
        "/NuGet.config",
    ] {
        assert!(line.contains(flag), "no {flag}: {line}");
    }
}

#[test]
#[ignore = "a step of its own: .ci/runtimes"]
fn all_agents_start_in_c_locale() {
    let here = Folder::new();
    // Paths of the sockets of browsers have to be short.
    let mut lists = list("all", &here, std::env::temp_dir());
    assert_installed_agents_start(lists.env("LC_ALL", "C"));
}
