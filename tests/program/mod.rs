//! The program under test, as it is started here.

use std::sync::OnceLock;

/// The file itself, to be copied.
pub const BUILT: &str = env!("CARGO_BIN_EXE_timermeter");

/// What starts the program: its file, or a script next to it where an emulator carries out these
/// tests, as the kernel cannot start what was built for another processor. A command, a shell and
/// an agent's line take either.
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

/// How many times as long what takes time may take: an emulator of a processor is slower.
#[allow(dead_code, reason = "not each program of tests waits for something")]
pub fn slowdown() -> u32 {
    if timers::os::emulator().is_some() {
        15
    } else {
        1
    }
}

/// The words that start this copy of the program.
#[allow(dead_code, reason = "not each program of tests has copies")]
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

    let words: Vec<_> = runner
        .iter()
        .map(|word| word.to_str().expect("an emulator's words are text"))
        .collect();
    let line = format!(
        "#!/bin/sh\nexec {} \"$@\"\n",
        shell_words::join(words.iter().chain(&[BUILT]))
    );
    let path = format!("{BUILT}-emulated");
    if fs::read_to_string(&path).is_ok_and(|there| there == line) {
        return path;
    }
    // Whole or not at all: other tests start as well.
    let mut file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a file");
    file.write_all(line.as_bytes()).expect("there is room");
    file.as_file()
        .set_permissions(Permissions::from_mode(0o755))
        .expect("it is ours");
    file.persist(&path).expect("the same file system");
    path
}

#[cfg(not(unix))]
fn script(_: &[std::ffi::OsString]) -> String {
    unreachable!("no emulator of a processor is known here, so none has words to be started by")
}
