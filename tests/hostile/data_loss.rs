//! Tests that the program keeps files of other programs and removes its own temporary files.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::folder::Folder;
use super::program::program;
use super::run::{Run, waited_for};
use crate::stored::MBP53;

/// Checks that no temporary file of the program is left.
#[track_caller]
fn assert_no_temporary_files(folder: &Folder) {
    let names = folder.names();
    assert!(
        !names
            .iter()
            .any(|name| name.to_string_lossy().starts_with(".timermeter-")),
        "{names:?}"
    );
}

fn has_temporary_files(folder: &Folder) -> bool {
    folder
        .names()
        .iter()
        .any(|name| name.to_string_lossy().starts_with(".timermeter-"))
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
        let run = Run::start(&["publish", many.to_str().unwrap(), "-o", &site]);
        waited_for(|| has_temporary_files(&folder).then_some(()))
            .expect("the program starts to write");
        run.signal(signal);
        let (status, _) = run.end();
        assert_eq!(
            status.signal(),
            Some(signal.as_raw()),
            "a signal terminates a verb without children"
        );
        assert_no_temporary_files(&folder);
        assert!(!Path::new(&site).exists());
    }
}

#[test]
fn removes_files_of_killed_process() {
    let folder = Folder::new();
    let run = Run::start(&[
        "probe",
        "--output",
        &folder.arg("report.json"),
        &format!("--save={}", folder.arg(".")),
    ]);
    run.until_it_runs("agent");
    assert!(has_temporary_files(&folder));
    run.signal(Signal::KILL);
    run.end();
    assert!(
        has_temporary_files(&folder),
        "a killed process cannot remove its files"
    );
    let next = Command::new(program())
        .args(["probe", "--from", MBP53, "-o", &folder.arg("page.html")])
        .output()
        .unwrap();
    assert!(next.status.success(), "{next:?}");
    assert_eq!(folder.names(), ["page.html"]);
}

#[test]
fn oversized_file_leaves_nothing() {
    let folder = Folder::new();
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 16; exec \"$0\" \"$@\"", program()]);
    limited.args(["probe", "--from", MBP53, "-o", &folder.arg("page.html")]);
    let ended = limited.output().unwrap();
    let reported = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{reported}");
    assert!(
        reported.contains("page.html") && reported.contains("File too large"),
        "{reported}"
    );
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
        let mut command = Command::new(program());
        command.args(case.split(' ')).current_dir(folder.file(""));
        command.env("TIMERMETER_HOME", folder.file("home"));
        command.stdin(fs::File::open(folder.file("x.json")).unwrap());
        let ended = command.output().unwrap();
        let errors = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{case}: {errors}");
        assert!(fs::read(folder.file("x.json")).unwrap() == before, "{case}");
    }
    let to_itself = fs::OpenOptions::new()
        .append(true)
        .open(folder.file("x.json"));
    let mut printed = Command::new(program());
    printed
        .arg("table")
        .arg(folder.file("x.json"))
        .stderr(Stdio::null());
    let status = printed.stdout(to_itself.unwrap()).status();
    assert_eq!(status.unwrap().code(), Some(2));
    let mut twice = Command::new(program());
    twice.stderr(Stdio::null());
    twice
        .arg("table")
        .arg(MBP53)
        .arg("-o")
        .arg(folder.file("y.csv"));
    let status = twice
        .stdout(fs::File::create(folder.file("y.csv")).unwrap())
        .status();
    assert_eq!(status.unwrap().code(), Some(2));
}
