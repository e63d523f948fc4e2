//! Tests that the program keeps files of other programs and removes its own temporary files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use assert_cmd::assert::OutputAssertExt;
use predicates::prelude::*;
use predicates::str::contains;
use rustix::process::Signal;

use super::folder::Folder;
use super::program::{command, program};
use super::run::{Run, waited_for};
use crate::stored::MBP53;

fn has_temporary_files(folder: &Folder) -> bool {
    let names = folder.names();
    let mut names = names.iter().map(|name| name.to_string_lossy());
    names.any(|name| name.starts_with(".timermeter-"))
}

#[test]
fn signal_leaves_no_temporary_files() {
    let folder = Folder::new();
    let many = folder.file("many");
    fs::create_dir(&many).unwrap();
    // Enough reports to keep the program busy until the signal arrives.
    for number in 0..4_000 {
        fs::copy(MBP53, many.join(format!("{number}.json"))).unwrap();
    }
    let site = folder.arg("site");
    for signal in [Signal::INT, Signal::TERM] {
        let run = Run::start(&format!("publish {} -o {site}", many.display()));
        waited_for(|| has_temporary_files(&folder).then_some(())).unwrap();
        run.signal(signal);
        // A signal terminates a verb without children.
        run.end_by(signal);
        assert!(!has_temporary_files(&folder), "{:?}", folder.names());
        assert!(!Path::new(&site).exists());
    }
}

#[test]
fn removes_files_of_killed_process() {
    let folder = Folder::new();
    let all = folder.arg("");
    let run = Run::start(&format!("probe -o {all}/report.json --save={all}"));
    run.until_it_runs("agent");
    assert!(has_temporary_files(&folder));
    run.signal(Signal::KILL);
    run.end();
    assert!(
        has_temporary_files(&folder),
        "a killed process cannot remove its files"
    );
    let next = format!("probe --from {MBP53} -o {all}/page.html");
    Run::start(&next).end().success();
    assert_eq!(folder.names(), ["page.html"]);
}

#[test]
fn oversized_file_leaves_nothing() {
    let folder = Folder::new();
    let page = folder.arg("page.html");
    let limited = format!("ulimit -f 16; exec \"$0\" probe --from {MBP53} -o {page}");
    let mut command = Command::new("sh");
    let ended = command.args(["-c", &limited, program()]).assert();
    ended
        .code(1)
        .stderr(contains("page.html").and(contains("File too large")));
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn an_output_is_neither_an_input_nor_another_output() {
    let folder = Folder::new();
    fs::copy(MBP53, folder.file("x.json")).unwrap();
    let before = fs::read(MBP53).unwrap();
    fs::create_dir_all(folder.file("home/baselines")).unwrap();
    fs::create_dir(folder.file("in")).unwrap();
    fs::hard_link(folder.file("x.json"), folder.file("in/hard.json")).unwrap();
    symlink("x.json", folder.file("link.json")).unwrap();
    symlink(".", folder.file("here")).unwrap();
    let cases = "table x.json -o x.json
        table link.json -o x.json
        table x.json -o ./link.json
        table in -o here/x.json
        table in/hard.json --columns all -o x.json
        compare x.json here/../x.json -o x.json
        probe rdtsc --from x.json -o x.json
        check --from x.json -o x.json
        pick 1us --from x.json -o x.json
        watch --from x.json -o x.json
        probe --from x.json -o x.json
        gate ./x.json -o x.json
        --from x.json -o x.json
        probe -o new.json --trace new.json
        probe -o new.json -o here/new.json
        wait --trace here/here/new.json -o ./new.json
        probe --save=new -o here/new.json --trace new.json
        probe --baseline before -o home/baselines/before.json
        table - -o x.json";
    for case in cases.lines().map(str::trim) {
        let mut command = command(case);
        command.env("TIMERMETER_HOME", folder.file("home"));
        command.stdin(fs::File::open(folder.file("x.json")).unwrap());
        command.current_dir(folder.file("")).assert().code(2);
        assert!(fs::read(folder.file("x.json")).unwrap() == before, "{case}");
    }
    // Standard output is an output, too.
    for line in [
        "table x.json >>x.json",
        &format!("table {MBP53} -o y.csv >y.csv"),
    ] {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("\"$0\" {line}"), program()]);
        shell.current_dir(folder.file("")).assert().code(2);
    }
}
