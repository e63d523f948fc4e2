//! Emulators that carry out a program of another processor in place of this one, with the kernel of
//! this machine beneath it.
//!
//! An emulator tells a program that it was started directly: it answers for `/proc/self`. By the
//! number of the thread the kernel itself answers, with what it really started.

use std::ffi::OsString;
use std::fs;

/// The emulator that carries out this program, as people call it; `None` where the processor does
/// so itself, or nothing shows.
#[must_use]
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

/// The words that an emulator was started with before the name of this program: what starts it once
/// more, as the kernel cannot. None without an emulator, and where the kernel knows it
/// (binfmt_misc).
#[must_use]
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
    // Each ends with a zero; behind the emulator's own words stand those that this program sees.
    words.truncate(words.len().saturating_sub(1 + std::env::args_os().count()));
    // It may have been found by a search that another process does not make, or elsewhere.
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
    /// Runs of tests by an emulator say so.
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
