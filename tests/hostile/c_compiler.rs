//! Compiles C programs, and C libraries that tests preload.

use std::path::Path;
use std::process::Command;

use crate::skipping::lacks;

/// Compiler flags for a library.
pub const LIBRARY: &[&str] = &["-shared", "-fPIC", "-O2"];

/// Compiles `source` to the path `to`, and returns the path. Without a compiler, skips the test and
/// returns `None`.
#[track_caller]
pub fn compile(source: &Path, to: String, flags: &[&str]) -> Option<String> {
    if lacks("cc", "gcc") {
        return None;
    }
    let mut compiler = Command::new("cc");
    compiler.args(flags).arg("-o").arg(&to).arg(source);
    let output = compiler.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    Some(to)
}
