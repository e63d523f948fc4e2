//! Input files that are pipes or devices, too large, malicious, or other than their names suggest.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::process::Command;

use assert_cmd::assert::OutputAssertExt;
use flate2::Compression;
use flate2::write::GzEncoder;
use predicates::prelude::*;
use predicates::str::contains;

use super::folder::Folder;
use super::program::command;
use super::run::Run;
use super::skipping::skipped;
use crate::steering::steers_nothing;
use crate::stored::{MBP53, XEON};

#[test]
fn pipes_and_devices_are_rejected() {
    let folder = Folder::new();
    fs::create_dir(folder.file("reports")).unwrap();
    fs::copy(MBP53, folder.file("reports/good.json")).unwrap();
    let made = Command::new("mkfifo")
        .arg(folder.file("reports/pipe.json"))
        .status()
        .unwrap();
    assert!(made.success());
    symlink("/dev/zero", folder.file("reports/zero.json")).unwrap();
    let (reports, site) = (folder.arg("reports"), folder.arg("site"));
    for line in [
        format!("table {reports}"),
        format!("publish {reports} -o {site}"),
    ] {
        let refused = |file| contains(format!("{file}.json': it is not a regular file"));
        let ended = Run::start(&line).end().code(3);
        ended.stderr(refused("pipe").and(refused("zero")));
    }
    for file in ["pipe", "zero"] {
        for verb in ["probe", "probe x"] {
            let line = format!("{verb} --from {reports}/{file}.json");
            Run::start(&line).end().code(1);
        }
    }
}

#[test]
fn rejects_oversized_report() {
    let folder = Folder::new();
    let file = fs::File::create(folder.file("large.json")).unwrap();
    file.set_len(1 << 40).unwrap();
    let run = Run::start(&format!("table {}", folder.arg("large.json")));
    run.end().code(1).stderr(contains("larger than 10 MiB"));
}

/// Control characters for terminals in values and in paths that are quoted. In values of all kinds: `fuzz::`.
#[test]
fn files_cannot_control_terminal() {
    let folder = Folder::new();
    let report = fs::read_to_string(MBP53).unwrap();
    let [good, bad] =
        ["r\u{1b}[31m\u{202e}.json", "b\u{1b}]0;\u{2066}.json"].map(|it| folder.arg(it));
    fs::write(&good, &report).unwrap();
    let status = r#""\u001b]0;PWNED\u0007\u202egnp.exe\u009b31m""#;
    fs::write(&bad, report.replacen(r#""ok""#, status, 1)).unwrap();
    let all = folder.arg("");
    for line in [
        format!("probe --from {all}"),
        format!("probe x --from {bad}"),
        format!("table --format html {all} {bad}"),
        format!("compare --format html {good} {good}"),
        format!("publish {all} --output {all}/site"),
    ] {
        let ended = Run::start(&line).end();
        let output = ended.get_output();
        let printed = [&*output.stdout, &*output.stderr].concat();
        assert!(!printed.is_empty(), "{line}");
        steers_nothing(&String::from_utf8_lossy(&printed));
    }
}

/// A gzip file that unpacks to `first` and `blocks` blocks of 8 MiB, which repeat `piece`.
fn gzip(first: &str, piece: &str, blocks: usize) -> Vec<u8> {
    let member = |text: &str| {
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        packer.write_all(text.as_bytes()).unwrap();
        packer.finish().unwrap()
    };
    let block = member(&piece.repeat((8 << 20) / piece.len()));
    [member(first), block.repeat(blocks)].concat()
}

/// Checks that small files which unpack to 2 GB are rejected, although their beginning is well
/// formed.
#[test]
#[ignore = "long"]
fn rejects_endless_packed_trace() {
    const BLOCKS: usize = 250;
    let folder = Folder::new();
    let head = r#"{"schema":"timermeter.trace.v1","tool":{"name":"timermeter","version":"0.1.0"},"created":"","timers":[{"id":"a","label":"","runtime":"native","ns_per_tick":1.0,"outcome":{"Ok":{"ns_per_tick":1.0,"declared":true,"reference":{"id":"r","ns_per_tick":1.0,"step":1.0,"ns_per_work":1.0},"core_hz":null,"spoilt":0,"dropped":{},"slow":["#;
    for (name, bytes) in [
        (
            "one.trace",
            gzip(head, r#"{"work":1,"deltas":[1]},"#, BLOCKS),
        ),
        ("list.trace", gzip(head, "[[[[[1,1,1,1,1,1,1,1],", BLOCKS)),
        ("spaces.trace", gzip(head, "        ", BLOCKS)),
    ] {
        assert!(bytes.len() < 8 << 20, "{}", bytes.len());
        fs::write(folder.file(name), bytes).unwrap();
        let mut run = Run::start(&format!("probe --from {}", folder.arg(name)));
        let peak = run.peak();
        let is_short = predicate::function(|errors: &str| errors.len() < 600);
        run.end().code(1).stderr(contains(name).and(is_short));
        assert!(peak < 400_000, "{name}: {peak} kB");
    }
}

/// Nothing is written through a link that another user put into a folder that everyone may write to.
#[test]
fn links_of_others_lead_no_output_elsewhere() {
    let folder = Folder::new();
    let shared = folder.file("shared");
    fs::create_dir_all(folder.file("theirs/baselines")).unwrap();
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    symlink("../theirs", shared.join("link")).unwrap();
    fs::create_dir(folder.file("reports")).unwrap();
    fs::copy(XEON, folder.file("reports/r.json")).unwrap();
    if lchown(shared.join("link"), Some(65_531), None).is_err() {
        return skipped("links of others", "run the tests as root");
    }
    let cases = "probe --from reports/r.json --save=shared/link
        probe --from reports/r.json --save=shared/link/new/deep
        probe --quick --trace=shared/link/t
        probe --from reports/r.json -o shared/link/r.json
        probe --from reports/r.json -o shared/link/../theirs/r.json
        table reports --columns all -o shared/link/r.csv
        publish reports -o shared/link/site
        publish reports -o shared/link/new/site
        watch 1s --save=shared/link/log
        watch 1s --save=shared/link/new/log
        probe --quick --baseline b";
    // In a user namespace, all owners outside of it look like one, also that of the folder.
    let unmapped = Some(65_534);
    lchown(&shared, unmapped, None).unwrap();
    for case in cases.lines().map(str::trim) {
        let mut command = command(case);
        command.env("TIMERMETER_HOME", shared.join("link"));
        let ended = command.current_dir(folder.file("")).assert().code(1);
        ended.stderr(contains("link of another user"));
        let stored = ["theirs", "theirs/baselines"]
            .map(|name| fs::read_dir(folder.file(name)).unwrap().count());
        assert_eq!(stored, [1, 0], "{case}");
        lchown(shared.join("link"), unmapped, None).unwrap();
    }
}
