//! Child processes and all their descendants.
//!
//! Parents are read from `/proc` (proc_pid_stat(5)). If `/proc` is missing or shows another PID
//! namespace, no descendants are found, and only process groups can be killed.
//!
//! A procfs mount shows the PID namespace it was mounted in ([pid_namespaces(7)],
//! proc_pid_status(5)). After `unshare --pid` without `--mount-proc`, and in a container that sees
//! the `/proc` of its host, the ids in `/proc` belong to another namespace and mean other processes
//! here. `/proc/self` and `/proc/thread-self` are correct in every case.
//!
//! [pid_namespaces(7)]: https://man7.org/linux/man-pages/man7/pid_namespaces.7.html

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;
use std::{fs, io, ptr};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid as Raw, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal,
};

use crate::Deadline;
use crate::os::Pid;
pub use crate::os::unix::process::*;
use crate::os::unix::process::{self as unix, kill_is_refused, raw};

/// Kills a process group; has no effect if the group is empty. Where a sandbox refuses kill(2),
/// kills its processes one by one.
pub fn kill_group(group: Pid) {
    unix::kill_group(group);
    if kill_is_refused() {
        for member in members(group).filter_map(raw) {
            let _ = kill(member, &pidfd_open(member, PidfdFlags::empty()));
        }
    }
}

/// Kills a process through its pidfd or, where the system does not permit that, by its id.
fn kill(process: Raw, opened: &rustix::io::Result<OwnedFd>) -> rustix::io::Result<()> {
    let opened = opened.as_ref().map_err(|error| *error);
    match opened.and_then(|opened| pidfd_send_signal(opened, Signal::KILL)) {
        // Before Linux 5.3, or in a sandbox.
        Err(Errno::NOSYS | Errno::PERM) => kill_process(process, Signal::KILL),
        sent => sent,
    }
}

/// Whether a process group consists of processes that this process may not signal.
pub fn has_unkillable(group: Pid) -> bool {
    if kill_is_refused() {
        return members(group).next().is_some();
    }
    unix::has_unkillable(group)
}

/// The processes of a group.
fn members(group: Pid) -> impl Iterator<Item = Pid> {
    process_ids().filter(move |&process| stat_field(process, 2) == Some(group))
}

/// Waits for at most `limit` until a child has exited, without reaping it. Returns whether it has.
#[must_use]
pub fn wait_for_exit(child: Pid, limit: Duration) -> bool {
    let opened = raw(child).map(|child| pidfd_open(child, PidfdFlags::empty()));
    let Some(Ok(opened)) = opened else {
        return unix::wait_for_exit(child, limit);
    };
    let deadline = Deadline::after(limit);
    let span = Timespec::try_from(limit).ok();
    match poll(&mut [PollFd::new(&opened, PollFlags::IN)], span.as_ref()) {
        Ok(ready) => ready > 0,
        Err(Errno::INTR) => wait_for_exit(child, deadline.remaining().unwrap_or_default()),
        Err(_) => unix::wait_for_exit(child, limit),
    }
}

/// A process group that another process made, whose number the system may reuse meanwhile.
#[derive(Debug)]
pub struct ProcessGroup {
    number: Pid,
    /// The leader of the group; `None` before Linux 5.3.
    leader: Option<OwnedFd>,
}

impl ProcessGroup {
    /// The process group that the process `leader` leads.
    pub fn led_by(leader: Pid) -> Self {
        Self {
            number: leader,
            leader: raw(leader).and_then(|leader| pidfd_open(leader, PidfdFlags::empty()).ok()),
        }
    }

    /// Kills the group; has no effect if the group is empty. From Linux 5.3 to 6.8, also has no
    /// effect if the leader was reaped, because another group may have the number.
    pub fn kill(&self) {
        let Some(leader) = &self.leader else {
            return kill_group(self.number);
        };
        // SAFETY: the descriptor is open, and a null pointer is allowed in place of the siginfo_t.
        let status = unsafe {
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                leader.as_raw_fd(),
                libc::SIGKILL,
                ptr::null::<libc::siginfo_t>(),
                libc::PIDFD_SIGNAL_PROCESS_GROUP,
            )
        };
        let lacks_flag =
            status < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL);
        // A leader that was not reaped keeps the number.
        if lacks_flag && pidfd_send_signal(leader, Signal::KILL).is_ok() {
            kill_group(self.number);
        }
    }
}

/// All descendants of a process whose ancestors up to it still run.
pub fn descendants(process: Pid) -> Vec<Pid> {
    if listed_children(process).is_some_and(|children| children.is_empty()) {
        return Vec::new();
    }
    let all = process_ids().filter_map(|process| Some((process, stat_field(process, 1)?)));
    let all: Vec<(Pid, Pid)> = all.collect();
    let mut found = vec![process];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        let children = all.iter().filter(|(_, other)| *other == parent);
        let unseen: Vec<Pid> = children
            .map(|(child, _)| *child)
            .filter(|child| !found.contains(child))
            .collect();
        found.extend(unseen);
        next += 1;
    }
    found.split_off(1)
}

/// The children of a process from its `children` files, about 100 times faster than reading all
/// processes. `None` if the kernel has no such files (CONFIG_PROC_CHILDREN).
fn listed_children(process: Pid) -> Option<Vec<Pid>> {
    let tasks = fs::read_dir(proc_folder(process.0)?.join("task")).ok()?;
    let mut children = Vec::new();
    for task in tasks.flatten() {
        match fs::read_to_string(task.path().join("children")) {
            Ok(list) => children.extend(list.split_whitespace().filter_map(Pid::parse)),
            // If a thread ends meanwhile, the kernel assigns its children to another thread.
            Err(_) if task.path().exists() => return None,
            Err(_) => {}
        }
    }
    Some(children)
}

/// Kills those of `processes`, by default all others, whose initial environment contains `variable`
/// (`NAME=value`). Returns the number of those that this process may signal.
pub fn kill_by_environment(variable: &str, processes: Option<&[Pid]>) -> usize {
    let all = || process_ids().filter(|&process| process != Pid::own());
    let processes = processes.map_or_else(|| all().collect(), <[Pid]>::to_vec);
    processes
        .into_iter()
        .filter(|&process| kill_if_environment_has(process, variable).is_some())
        .count()
}

fn kill_if_environment_has(process: Pid, variable: &str) -> Option<()> {
    // The pidfd is opened before the check, so that the process that was checked is the one killed,
    // even if its id is reused.
    let id = raw(process)?;
    let opened = pidfd_open(id, PidfdFlags::empty());
    let environment = fs::read(proc_folder(process.0)?.join("environ")).unwrap_or_default();
    environment
        .split(|&byte| byte == 0)
        .find(|&given| given == variable.as_bytes())?;
    // A process that has ended meanwhile counts, because it may have started another.
    let sent = kill(id, &opened);
    (!matches!(sent, Err(Errno::NOSYS | Errno::PERM))).then_some(())
}

/// The ids of all processes; none if `/proc` shows another PID namespace.
fn process_ids() -> impl Iterator<Item = Pid> {
    let entries = proc_is_own_namespace()
        .then(|| fs::read_dir("/proc").ok())
        .flatten();
    entries
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Pid::parse(entry.file_name().to_str()?))
}

/// A field of `/proc/PID/stat`, counted from the one after the name, which is in parentheses and may
/// contain any character.
fn stat_field(process: Pid, index: usize) -> Option<Pid> {
    let line = fs::read(proc_folder(process.0)?.join("stat")).ok()?;
    let line = String::from_utf8_lossy(&line);
    Pid::parse(line.rsplit_once(')')?.1.split_whitespace().nth(index)?)
}

/// The folder of a process in `/proc`; `None` if `/proc` shows another PID namespace.
pub fn proc_folder(process: u32) -> Option<PathBuf> {
    proc_is_own_namespace().then(|| format!("/proc/{process}").into())
}

/// The reason why descendants of this process cannot be found; `None` if they can.
pub fn why_descendants_unknown() -> Option<&'static str> {
    match proc_shows_namespace() {
        Some(true) => None,
        Some(false) => Some("/proc shows the processes of another PID namespace"),
        None => Some("/proc is not mounted"),
    }
}

/// Returns `true` if `/proc` shows the PID namespace of this process.
pub fn proc_is_own_namespace() -> bool {
    proc_shows_namespace() == Some(true)
}

/// Whether `/proc` shows the PID namespace of this process; `None` if `/proc` is not mounted.
fn proc_shows_namespace() -> Option<bool> {
    static SHOWS_NAMESPACE: OnceLock<Option<bool>> = OnceLock::new();
    *SHOWS_NAMESPACE.get_or_init(|| match fs::read_to_string("/proc/self/status") {
        Ok(status) => Some(shows_namespace_of(&status, std::process::id())),
        // A procfs of a child namespace does not contain this process.
        Err(_) => fs::exists("/proc/version")
            .unwrap_or(false)
            .then_some(false),
    })
}

/// Checks that a procfs status file shows the PID namespace of the process with id `own`. `NSpid`
/// lists the process id in each namespace from that of the mount down to that of the process: a
/// single id if both are the same. Kernels before Linux 4.1 only have `Pid`.
fn shows_namespace_of(status: &str, own: u32) -> bool {
    let line = |name| status.lines().find_map(|line| line.strip_prefix(name));
    let numbers = line("NSpid:").or_else(|| line("Pid:")).unwrap_or_default();
    numbers.split_whitespace().map(str::parse).eq([Ok(own)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_foreign_pid_namespaces() {
        assert!(shows_namespace_of("Name:\tx\nPid:\t2\nNSpid:\t2\n", 2));
        assert!(
            !shows_namespace_of("Name:\tx\nPid:\t4711\nNSpid:\t4711\t2\n", 2),
            "seen from the host"
        );
        assert!(
            !shows_namespace_of("Name:\tx\nPid:\t2\nNSpid:\t2\t2\n", 2),
            "the same id in both namespaces"
        );
        assert!(
            shows_namespace_of("Name:\tx\nPid:\t7\n", 7)
                && !shows_namespace_of("Name:\tx\nPid:\t8\n", 7),
            "an old kernel"
        );
        for malformed in ["", "NSpid:\n", "NSpid:\tx\n", "Pid:\t7 7\n"] {
            assert!(!shows_namespace_of(malformed, 7), "{malformed:?}");
        }
    }
}
