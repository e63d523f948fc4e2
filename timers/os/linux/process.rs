//! Children, and all below them ([prctl(2)]).
//!
//! [prctl(2)]: https://man7.org/linux/man-pages/man2/prctl.2.html
//!
//! Who descends from whom, as `/proc` tells it (proc_pid_stat(5)). Where it tells nothing, or
//! counts processes otherwise than this one does (`procfs`), none is found: then only process
//! groups are ended.
//!
//! Whether `/proc` counts processes as this one does ([pid_namespaces(7)], proc_pid_status(5)).
//!
//! A mount of procfs shows the PID namespace that it was made for. After `unshare --pid` without
//! `--mount-proc`, and in a container that sees the `/proc` of its host, the numbers there are
//! those of another namespace: in this one they mean other processes. What lies below `self` and
//! `thread-self` is right everywhere.
//!
//! [pid_namespaces(7)]: https://man7.org/linux/man-pages/man7/pid_namespaces.7.html

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::{fs, io};

use rustix::process::{
    PidfdFlags, Signal, getpid, getppid, pidfd_open, pidfd_send_signal, set_child_subreaper,
    set_parent_process_death_signal,
};

use crate::os::Pid;
use crate::os::unix::process::raw;
pub use crate::os::unix::process::*;

/// Has the process of `command` killed when the *thread* that starts it ends: who calls this starts
/// it from a thread that stays. Where the system has no such thing, nothing changes.
pub fn ends_with_its_starter(command: &mut Command) {
    let starter = std::process::id();
    let requirement = move || {
        let refused = || io::Error::from_raw_os_error(libc::ESRCH);
        ends_with(starter).then_some(()).ok_or_else(refused)
    };
    // SAFETY: between fork and exec, only calls that are safe in a signal handler: prctl and
    // getppid; nothing is allocated, as an error of a number needs no memory.
    unsafe { command.pre_exec(requirement) };
}

/// Has this process killed when the *thread* that started it ends, which is one of process
/// `parent`: asked for by the process itself it allows it to be started in the fastest way there
/// is, posix_spawn(3). Returns whether that process is still there.
#[must_use]
pub fn ends_with(parent: u32) -> bool {
    // Where the call is refused, nothing changed and nothing is lost.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // A starter that ended before the request was known would never be heard of.
    getppid().is_some_and(|now| now.as_raw_nonzero().get().cast_unsigned() == parent)
}

/// Makes this process the parent of all its descendants whose own parents end, instead of init: so
/// that none gets out of reach by starting a session of its own. Where the system has no such
/// thing, nothing changes.
pub fn adopt_descendants() {
    let _ = set_child_subreaper(Some(getpid()));
}

/// All processes, each with its parent.
#[must_use]
pub fn all() -> Vec<(Pid, Pid)> {
    numbers()
        .filter_map(|process| Some((process, parent(process)?)))
        .collect()
}

/// The children of a process as it lists them itself, which takes a hundredth of a look at all
/// processes. `None` where the kernel keeps no such lists (CONFIG_PROC_CHILDREN).
#[must_use]
pub fn listed(process: Pid) -> Option<Vec<Pid>> {
    let tasks = fs::read_dir(proc_folder(process.0)?.join("task")).ok()?;
    let mut children = Vec::new();
    for task in tasks.flatten() {
        match fs::read_to_string(task.path().join("children")) {
            Ok(list) => children.extend(list.split_whitespace().filter_map(Pid::parse)),
            // A thread may end meanwhile; its children are then those of another one.
            Err(_) if task.path().exists() => return None,
            Err(_) => {}
        }
    }
    Some(children)
}

/// Ends all processes but this one in whose environment stands `variable`, as they were given it.
/// Returns how many there were. Kernels before Linux 5.3 have no way to end one so that no other
/// can be hit that got its number: there are none for them.
#[must_use]
pub fn end_all_with(variable: &str) -> usize {
    let all = numbers().filter(|&process| process != Pid::own());
    all.filter(|&process| end_if_it_has(process, variable).is_some())
        .count()
}

fn end_if_it_has(process: Pid, variable: &str) -> Option<()> {
    // Opened before it is looked at, so that no other process that has got its number meanwhile is
    // ended.
    let opened = pidfd_open(raw(process)?, PidfdFlags::empty()).ok()?;
    let environment = fs::read(proc_folder(process.0)?.join("environ")).unwrap_or_default();
    environment
        .split(|&byte| byte == 0)
        .find(|&given| given == variable.as_bytes())?;
    // It fails where it has ended.
    let _ = pidfd_send_signal(opened, Signal::KILL);
    Some(())
}

fn numbers() -> impl Iterator<Item = Pid> {
    let entries = is_ours().then(|| fs::read_dir("/proc").ok()).flatten();
    entries
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Pid::parse(entry.file_name().to_str()?))
}

/// The second field of its line, counted from its state. The name before that may hold anything.
fn parent(process: Pid) -> Option<Pid> {
    let line = fs::read(proc_folder(process.0)?.join("stat")).ok()?;
    let line = String::from_utf8_lossy(&line);
    Pid::parse(line.rsplit_once(')')?.1.split_whitespace().nth(1)?)
}

/// What `/proc` tells of a process with this number; `None` where its numbers are not those of this
/// process.
pub fn proc_folder(process: u32) -> Option<PathBuf> {
    is_ours().then(|| format!("/proc/{process}").into())
}

/// Why it cannot be told here which processes descend from this one.
#[must_use]
pub fn hidden() -> Option<&'static str> {
    match shown_here() {
        Some(true) => None,
        Some(false) => Some("/proc shows the processes of another PID namespace"),
        None => Some("/proc is not mounted"),
    }
}

/// Whether its numbers are those of the namespace of this process.
pub fn is_ours() -> bool {
    shown_here() == Some(true)
}

fn shown_here() -> Option<bool> {
    static SHOWN_HERE: OnceLock<Option<bool>> = OnceLock::new();
    *SHOWN_HERE.get_or_init(|| match fs::read_to_string("/proc/self/status") {
        Ok(status) => Some(counts(&status, std::process::id())),
        // A namespace below this one does not know this process at all.
        Err(_) => fs::exists("/proc/version")
            .unwrap_or(false)
            .then_some(false),
    })
}

/// NSpid holds the number of a process in the namespace of the mount and in all below it down to
/// its own: a single one where both are the same. Kernels before Linux 4.1 tell the first only.
fn counts(status: &str, own: u32) -> bool {
    let line = |name| status.lines().find_map(|line| line.strip_prefix(name));
    let numbers = line("NSpid:").or_else(|| line("Pid:")).unwrap_or_default();
    numbers.split_whitespace().map(str::parse).eq([Ok(own)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_foreign_pid_namespaces() {
        assert!(counts("Name:\tx\nPid:\t2\nNSpid:\t2\n", 2));
        assert!(
            !counts("Name:\tx\nPid:\t4711\nNSpid:\t4711\t2\n", 2),
            "seen from the host"
        );
        assert!(
            !counts("Name:\tx\nPid:\t2\nNSpid:\t2\t2\n", 2),
            "alike in both by chance"
        );
        assert!(
            counts("Name:\tx\nPid:\t7\n", 7) && !counts("Name:\tx\nPid:\t8\n", 7),
            "an old kernel"
        );
        for malformed in ["", "NSpid:\n", "NSpid:\tx\n", "Pid:\t7 7\n"] {
            assert!(!counts(malformed, 7), "{malformed:?}");
        }
    }
}
