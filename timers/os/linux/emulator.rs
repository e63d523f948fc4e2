//! Detects user-mode emulators, which run a program for another processor on the kernel of this
//! machine.
//!
//! An emulator intercepts `/proc/self`, so that the program appears to be started directly. The
//! path with the thread id is not intercepted: there the kernel shows what was really started.

use std::ffi::OsString;
use std::fs;

/// The common name of the emulator that runs this program; `None` if the processor runs it, or the
/// emulator cannot be detected.
pub fn emulator() -> Option<String> {
    let real = fs::read_link(thread_file("exe")).ok()?;
    let claimed = fs::read_link("/proc/self/exe").ok()?;
    let name = real.file_name()?.to_string_lossy().into_owned();
    let known = if name.starts_with("qemu-") {
        "qemu-user".into()
    } else {
        name
    };
    (real != claimed).then_some(known)
}

/// The command-line words of the emulator before the name of this program, needed to start this
/// program again. Empty without an emulator, and if the kernel starts the emulator (binfmt_misc).
pub fn runner() -> Vec<OsString> {
    use std::os::unix::ffi::OsStringExt;

    if emulator().is_none() {
        return Vec::new();
    }
    let line = fs::read(thread_file("cmdline")).unwrap_or_default();
    let mut words: Vec<OsString> = line
        .split(|&byte| byte == 0)
        .map(|word| OsString::from_vec(word.to_vec()))
        .collect();
    // Each word ends with a NUL byte. The emulator's words come first, then the arguments that this
    // program sees.
    words.truncate(words.len().saturating_sub(1 + std::env::args_os().count()));
    // Use the absolute path: the first word may be relative, or found by a search of PATH.
    if let (Some(first), Ok(emulator)) = (words.first_mut(), fs::read_link(thread_file("exe"))) {
        *first = emulator.into();
    }
    let known = words
        .last()
        .is_some_and(|last| std::env::current_exe().is_ok_and(|program| program == *last));
    if known { Vec::new() } else { words }
}

fn thread_file(name: &str) -> String {
    format!("/proc/self/task/{}/{name}", std::process::id())
}

#[cfg(test)]
mod tests {
    /// Test runs under an emulator set TIMERMETER_TESTS_EMULATOR to its name.
    #[test]
    fn finds_emulator_of_tests() {
        assert_eq!(
            super::emulator(),
            std::env::var("TIMERMETER_TESTS_EMULATOR").ok()
        );
        if super::emulator().is_none() {
            assert!(super::runner().is_empty());
        }
    }
}
