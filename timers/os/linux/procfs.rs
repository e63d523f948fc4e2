//! Whether `/proc` counts processes as this one does ([pid_namespaces(7)], proc_pid_status(5)).
//!
//! A mount of procfs shows the PID namespace that it was made for. After `unshare --pid` without `--mount-proc`, and in a container that
//! sees the `/proc` of its host, the numbers there are those of another namespace: in this one they mean other processes. What lies below
//! `self` and `thread-self` is right everywhere.
//!
//! [pid_namespaces(7)]: https://man7.org/linux/man-pages/man7/pid_namespaces.7.html

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

/// What `/proc` tells of a process with this number; `None` where its numbers are not those of this process.
pub fn of(process: u32) -> Option<PathBuf> {
    is_ours().then(|| format!("/proc/{process}").into())
}

/// Why it cannot be told here which processes descend from this one.
#[must_use]
pub fn hidden() -> Option<&'static str> {
    match seen() {
        Some(true) => None,
        Some(false) => Some("/proc shows the processes of another PID namespace"),
        None => Some("/proc is not mounted"),
    }
}

/// Whether its numbers are those of the namespace of this process.
pub fn is_ours() -> bool {
    seen() == Some(true)
}

fn seen() -> Option<bool> {
    static SEEN: OnceLock<Option<bool>> = OnceLock::new();
    *SEEN.get_or_init(|| match fs::read_to_string("/proc/self/status") {
        Ok(status) => Some(counts(&status, std::process::id())),
        // A namespace below this one does not know this process at all.
        Err(_) => fs::exists("/proc/version").unwrap_or(false).then_some(false),
    })
}

/// NSpid holds the number of a process in the namespace of the mount and in all below it down to its own: a single one where both are
/// the same. Kernels before Linux 4.1 tell the first only.
fn counts(status: &str, own: u32) -> bool {
    let line = |name| status.lines().find_map(|line| line.strip_prefix(name));
    let numbers = line("NSpid:").or_else(|| line("Pid:")).unwrap_or_default();
    numbers.split_whitespace().map(str::parse).eq([Ok(own)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_another_namespace_are_not_taken_for_ours() {
        assert!(counts("Name:\tx\nPid:\t2\nNSpid:\t2\n", 2));
        assert!(!counts("Name:\tx\nPid:\t4711\nNSpid:\t4711\t2\n", 2), "seen from the host");
        assert!(!counts("Name:\tx\nPid:\t2\nNSpid:\t2\t2\n", 2), "alike in both by chance");
        assert!(counts("Name:\tx\nPid:\t7\n", 7) && !counts("Name:\tx\nPid:\t8\n", 7), "an old kernel");
        for rubbish in ["", "NSpid:\n", "NSpid:\tx\n", "Pid:\t7 7\n"] {
            assert!(!counts(rubbish, 7), "{rubbish:?}");
        }
    }
}
