//! Input files that are pipes or devices, too large, malicious, or other than their names suggest.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::folder::Folder;
use super::program::program;
use super::run::Run;
use crate::stored::{MBP53, XEON};

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn pipes_and_devices_are_rejected() {
    let folder = Folder::new();
    fs::create_dir(folder.file("reports")).expect("the folder is created");
    fs::copy(MBP53, folder.file("reports/good.json")).expect("the report is copied");
    let made = Command::new("mkfifo")
        .arg(folder.file("reports/pipe.json"))
        .status()
        .expect("mkfifo runs");
    assert!(made.success());
    symlink("/dev/zero", folder.file("reports/zero.json")).expect("the link is created");
    let (reports, site) = (folder.arg("reports"), folder.arg("site"));
    for args in [
        &["table", &reports][..],
        &["publish", &reports, "-o", &site],
    ] {
        let (status, output) = Run::start(args).end();
        let errors = stderr(&output);
        assert_eq!(status.code(), Some(3), "{errors}");
        assert!(
            errors.contains("pipe.json': it is not a regular file"),
            "{errors}"
        );
        assert!(
            errors.contains("zero.json': it is not a regular file"),
            "{errors}"
        );
    }
    for file in ["reports/pipe.json", "reports/zero.json"] {
        for args in [
            &["probe", "--from", &folder.arg(file)][..],
            &["probe", "x", "--from", &folder.arg(file)],
        ] {
            let (status, output) = Run::start(args).end();
            assert_eq!(status.code(), Some(1), "{args:?}: {}", stderr(&output));
        }
    }
}

#[test]
fn rejects_oversized_report() {
    let folder = Folder::new();
    let file = fs::File::create(folder.file("large.json")).expect("the file is written");
    file.set_len(1 << 40).expect("a sparse file takes no space");
    let (status, output) = Run::start(&["table", &folder.arg("large.json")]).end();
    assert_eq!(status.code(), Some(1));
    assert!(
        stderr(&output).contains("larger than 10 MiB"),
        "{}",
        stderr(&output)
    );
}

/// Control characters for terminals in values and in paths that messages quote.
#[test]
fn messages_cannot_control_terminal() {
    let folder = Folder::new();
    let report = fs::read_to_string(MBP53).expect("the report is readable");
    for escape in ["\\u001b]0;PWNED\\u0007", "\\u202egnp.exe", "\\u009b31m"] {
        let text = report.replacen(
            "\"status\": \"ok\"",
            &format!("\"status\": \"{escape}\""),
            1,
        );
        assert_ne!(text, report);
        let path = folder.arg("evil\u{1b}[31m.json");
        fs::write(&path, text).expect("the file is written");
        for args in [
            &["table", &path][..],
            &["compare", MBP53, &path],
            &["probe", "x", "--from", &path],
        ] {
            let (_, output) = Run::start(args).end();
            let errors = stderr(&output);
            assert!(!errors.is_empty(), "{args:?}");
            let is_control =
                |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}');
            assert!(!errors.contains(is_control), "{args:?}: {errors:?}");
        }
    }
}

/// A gzip file that unpacks to `first` and `blocks` blocks of 8 MiB, which repeat `piece`.
fn gzip(first: &str, piece: &str, blocks: usize) -> Vec<u8> {
    let member = |text: &str| {
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        packer.write_all(text.as_bytes()).expect("memory suffices");
        packer.finish().expect("memory suffices")
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
        fs::write(folder.file(name), bytes).expect("the file is written");
        let mut run = Run::start(&["probe", "--from", &folder.arg(name)]);
        let peak = run.peak();
        let (status, output) = run.end();
        assert_eq!(status.code(), Some(1), "{name}");
        assert!(
            stderr(&output).contains(name) && stderr(&output).len() < 600,
            "{}",
            stderr(&output)
        );
        assert!(peak < 400_000, "{name}: {peak} kB");
    }
}

/// Nothing is written through a link that another user put into a folder that everyone may write to.
#[test]
fn links_of_others_lead_no_output_elsewhere() {
    let folder = Folder::new();
    let shared = folder.file("shared");
    fs::create_dir_all(folder.file("theirs/baselines")).expect("the folder is created");
    fs::create_dir(&shared).expect("the folder is created");
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).expect("it is mine");
    symlink("../theirs", shared.join("link")).expect("the link is created");
    fs::create_dir(folder.file("reports")).expect("the folder is created");
    fs::copy(XEON, folder.file("reports/r.json")).expect("the report is copied");
    if lchown(shared.join("link"), Some(65_531), None).is_err() {
        let _ = std::io::stderr().write_all(b"skipped: links of others: run the tests as root\n");
        return;
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
    for case in cases.lines().map(str::trim) {
        let mut command = Command::new(program());
        command.args(case.split(' ')).current_dir(folder.file(""));
        command.env("TIMERMETER_HOME", shared.join("link"));
        let ended = command.output().expect("the program runs");
        assert_eq!(ended.status.code(), Some(1), "{case}: {}", stderr(&ended));
        assert!(
            stderr(&ended).contains("link of another user"),
            "{case}: {}",
            stderr(&ended)
        );
        let theirs = fs::read_dir(folder.file("theirs"))
            .expect("it exists")
            .count();
        let stored = fs::read_dir(folder.file("theirs/baselines"))
            .expect("it exists")
            .count();
        assert_eq!((theirs, stored), (1, 0), "{case}");
    }
}
