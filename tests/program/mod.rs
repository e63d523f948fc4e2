//! Starts the program under test, also by an emulator.

#![allow(dead_code, reason = "not all test programs use all of it")]

use std::process::Command;
use std::sync::OnceLock;

use assert_cmd::assert::Assert;
use serde_json::Value;

/// The executable file.
pub const BUILT: &str = env!("CARGO_BIN_EXE_timermeter");

/// The path that starts the program. It is the executable file, or a script if an emulator runs the
/// tests, because the kernel cannot start a program for another processor.
pub fn program() -> &'static str {
    static STARTED_BY: OnceLock<String> = OnceLock::new();
    STARTED_BY.get_or_init(|| {
        let runner = timers::os::runner();
        if runner.is_empty() {
            BUILT.to_owned()
        } else {
            script(&runner)
        }
    })
}

/// The words of a line, as a shell splits it.
#[track_caller]
pub fn words(line: &str) -> Vec<String> {
    // A shell would remove the backslashes in paths of Windows, which knows slashes, too.
    let line = match cfg!(windows) {
        true => &line.replace('\\', "/"),
        false => line,
    };
    shell_words::split(line).unwrap()
}

/// The program with the words of this line.
#[track_caller]
pub fn command(line: &str) -> Command {
    let mut command = Command::new(program());
    command.args(words(line));
    command
}

/// The standard output of a run as text.
#[track_caller]
pub fn printed(ended: &Assert) -> String {
    String::from_utf8(ended.get_output().stdout.clone()).unwrap()
}

/// The standard output of a run as JSON.
#[track_caller]
pub fn json(ended: &Assert) -> Value {
    serde_json::from_slice(&ended.get_output().stdout)
        .unwrap_or_else(|error| panic!("it prints no JSON: {error}: {ended}"))
}

/// The element of a list in JSON that has this value at this key.
#[track_caller]
pub fn found<'a>(list: &'a Value, key: &str, value: &str) -> &'a Value {
    let mut all = list.as_array().unwrap().iter();
    all.find(|one| one[key] == value)
        .unwrap_or_else(|| panic!("no {key} `{value}`: {list}"))
}

/// The row of the timer with this id in a report.
#[track_caller]
pub fn row<'a>(report: &'a Value, id: &str) -> &'a Value {
    found(&report["timers"], "id", id)
}

/// The factor by which time limits grow, because an emulator is slow.
pub fn slowdown() -> u32 {
    if timers::os::emulator().is_some() {
        15
    } else {
        1
    }
}

/// The command that starts this copy of the program.
pub fn started(copy: &std::path::Path) -> Vec<std::ffi::OsString> {
    timers::os::runner()
        .into_iter()
        .chain([copy.into()])
        .collect()
}

#[cfg(unix)]
fn script(runner: &[std::ffi::OsString]) -> String {
    use std::fs::{self, Permissions};
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    let words: Vec<_> = runner.iter().map(|word| word.to_str().unwrap()).collect();
    let line = format!(
        "#!/bin/sh\nexec {} \"$@\"\n",
        shell_words::join(words.iter().chain(&[BUILT]))
    );
    let path = format!("{BUILT}-emulated");
    if fs::read_to_string(&path).is_ok_and(|there| there == line) {
        return path;
    }
    // Replace the file by renaming, because other test processes use it at the same time.
    let mut file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    file.write_all(line.as_bytes()).unwrap();
    file.as_file()
        .set_permissions(Permissions::from_mode(0o755))
        .unwrap();
    file.persist(&path).unwrap();
    path
}

#[cfg(not(unix))]
fn script(_: &[std::ffi::OsString]) -> String {
    unreachable!("emulators are supported on Unix only")
}
