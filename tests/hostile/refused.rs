//! Tests that invalid input is rejected with a readable message, before measurements if possible.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use predicates::str::contains;

use super::folder::Folder;
use super::run::Run;

const TRACE: &str = include_str!("../fuzz/corpus/trace/waits.json");

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
    let (trace, packed) = (folder.arg("impossible.trace"), packer.finish());
    fs::write(&trace, packed.expect("memory suffices")).expect("the file is written");
    let ended = Run::start(&format!("probe --from {trace}")).end();
    ended.code(1).stdout("").stderr(contains(
        "is a damaged trace: reference.ns_per_tick of 'nanosleep' is 1",
    ));
}
