//! What becomes of processes when the one that started them ends ([prctl(2)]).
//!
//! [prctl(2)]: https://man7.org/linux/man-pages/man2/prctl.2.html

use std::process::Command;

/// Has the process of `command` killed when the *thread* that starts it ends: who calls this starts it from a thread that
/// stays. Elsewhere than on Linux this does nothing.
pub fn ends_with_its_starter(command: &mut Command) {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
        let starter = std::process::id();
        let wish = move || {
            // SAFETY: plain numbers; where the call is refused, nothing changed and nothing is lost.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong) };
            // SAFETY: no arguments, no preconditions.
            let parent = unsafe { libc::getppid() };
            // Whoever ended before the wish was known would never be heard of.
            if u32::try_from(parent).is_ok_and(|parent| parent == starter) {
                Ok(())
            } else {
                Err(std::io::Error::from_raw_os_error(libc::ESRCH))
            }
        };
        // SAFETY: between fork and exec, only calls that are safe in a signal handler: prctl and getppid; nothing is
        // allocated, as an error of a number needs no memory.
        unsafe { command.pre_exec(wish) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = command;
}

/// Writes a variable into the environment that every process inherits which this one starts from now on, and all that those start:
/// so that they can be told from others, whatever becomes of their parents, groups and sessions. To be called before there is a
/// second thread at work.
pub fn mark_descendants(name: &str, value: &str) {
    // SAFETY: nobody reads the environment meanwhile, as no other thread is at work.
    unsafe { std::env::set_var(name, value) };
}

/// Makes this process the parent of all its descendants whose own parents end, instead of init: so that none gets out of
/// reach by starting a session of its own. Where the system has no such thing, nothing changes.
pub fn adopt_descendants() {
    #[cfg(target_os = "linux")]
    // SAFETY: plain numbers.
    unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1 as libc::c_ulong);
    }
}
