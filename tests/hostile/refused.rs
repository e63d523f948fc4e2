//! Tests that invalid input is rejected with a readable message, before measurements if possible.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::folder::Folder;
use super::run::Run;

const TRACE: &str = include_str!("../fuzz/corpus/trace/waits.json");

#[track_caller]
fn refused(args: &[&str], code: i32) -> String {
    let (status, output) = Run::start(args).end();
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(status.code(), Some(code), "{args:?}: {reported}");
    assert!(
        output.stdout.is_empty(),
        "{args:?}: {:?}",
        String::from_utf8_lossy(&output.stdout)
    );
    reported
}

/// A tick of this clock takes 1e308 ns.
#[test]
fn analyse_rejects_impossible_trace() {
    let (folder, unit) = (Folder::new(), r#""ns_per_tick":1.0"#);
    let text: String = TRACE.split_whitespace().collect();
    assert!(text.contains(unit), "the trace changed");
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer
        .write_all(text.replace(unit, r#""ns_per_tick":1e308"#).as_bytes())
        .expect("memory suffices");
    fs::write(
        folder.file("impossible.trace"),
        packer.finish().expect("memory suffices"),
    )
    .expect("the file is written");
    let trace = folder.arg("impossible.trace");
    let error = refused(&["probe", "--from", &trace], 1);
    assert!(
        error.contains(
            "is a damaged trace, because its report would be impossible: 'nanosleep 1 ms': rate_error_ppm is NaN; it has to be"
        ),
        "{error}"
    );
}
