//! Tests whether an instruction can be executed, which kernel or firmware may forbid, or a system
//! call made, for which a seccomp filter may end the process. The test runs in a child process,
//! because catching the fault in this process does not work on every processor.

use std::io;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, WaitIdStatus, waitid};

use crate::os::rest;
use crate::{Available, Unavailable};

/// The time limit for a child. It normally ends within 1 ms; on a loaded machine it may wait for a
/// CPU. Under qemu-user, the child of a multi-threaded process may hang: locks of the emulator stay
/// held by threads that do not exist in the child.
const CHILD_TIMEOUT: Duration = Duration::from_secs(2);

/// The number of children that are started if each exceeds [`CHILD_TIMEOUT`].
const ATTEMPTS: usize = 3;

/// Executes code, for example an instruction, in a child process; returns the reason if that ends it.
pub fn attempt(label: &str, code: &dyn Fn()) -> Available {
    let status = (0..ATTEMPTS)
        .find_map(|_| execute_in_child(code).transpose())
        .transpose()
        .map_err(|error| Unavailable::because(format!("{label} cannot be tested: {error}")))?;
    let signal = match status {
        None => {
            return Err(Unavailable::because(format!(
                "{label} cannot be tested: none of {ATTEMPTS} child processes that executed it ended in time"
            )));
        }
        Some(0) => return Ok(()),
        Some(libc::SIGSYS) => {
            return Err(Unavailable::because(format!(
                "{label} ends the process (SIGSYS): a seccomp filter forbids it"
            ))
            .remedy("allow the call in the sandbox, or run outside it"));
        }
        Some(signal) => crate::os::process::signal_name(signal)
            .map_or_else(|| format!("signal {signal}"), str::to_owned),
    };
    Err(Unavailable::because(match status {
        Some(libc::SIGABRT) => format!("{label} ends the process ({signal})"),
        _ => format!(
            "{label} faults ({signal}): this processor does not have it, or the kernel does not permit it"
        ),
    }))
}

/// Executes code in a child process. Returns the signal it raised (0 if none), `None` if the child
/// exceeded [`CHILD_TIMEOUT`] and was killed.
fn execute_in_child(code: &dyn Fn()) -> io::Result<Option<libc::c_int>> {
    extern "C" fn exit_with_signal(signal: libc::c_int) {
        // SAFETY: `_exit` does not return and is async-signal-safe.
        unsafe { libc::_exit(signal) }
    }
    // SAFETY: between fork and exit the child only makes async-signal-safe calls: it sets handlers,
    // executes the code and exits. An instruction takes no lock, so locks held by other threads at
    // the fork do not matter; a child that waits for one is killed.
    let child = unsafe { libc::fork() };
    if child == -1 {
        return Err(io::Error::last_os_error());
    }
    if child == 0 {
        for signal in [libc::SIGILL, libc::SIGSEGV, libc::SIGBUS] {
            // SAFETY: `signal` is async-signal-safe, and so is the handler.
            unsafe {
                libc::signal(
                    signal,
                    exit_with_signal as extern "C" fn(libc::c_int) as libc::sighandler_t,
                )
            };
        }
        code();
        // SAFETY: `_exit` does not return and is async-signal-safe.
        unsafe { libc::_exit(0) }
    }
    let status = wait_or_kill(child, CHILD_TIMEOUT)?;
    Ok(status.and_then(|status| status.terminating_signal().or(status.exit_status())))
}

/// Waits for a child process and returns how it ended; kills it and returns `None` if it does
/// not end within `timeout`, which is counted in pauses because clocks may be what is tested. A
/// child that may not be killed is left after [`CHILD_TIMEOUT`].
fn wait_or_kill(child: libc::pid_t, timeout: Duration) -> io::Result<Option<WaitIdStatus>> {
    const PAUSE: Duration = Duration::from_micros(100);
    let id = || Pid::from_raw(child).map(WaitId::Pid).ok_or(Errno::CHILD);
    for (killed, limit) in [(false, timeout), (true, CHILD_TIMEOUT)] {
        for _ in 0..limit.as_micros() / PAUSE.as_micros() {
            match waitid(id()?, WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
                Err(Errno::INTR) => {}
                Ok(None) => rest::wait(PAUSE),
                ended => return Ok(ended?.filter(|_| !killed)),
            }
        }
        // SAFETY: the call takes no pointers. The child was not reaped yet, so its process id
        // cannot have been reused.
        unsafe { libc::kill(child, libc::SIGKILL) };
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_become_reasons() {
        fn load_unmapped() {
            // SAFETY: deliberately violated: the load faults, and the child process ends.
            unsafe { std::ptr::read_volatile(std::ptr::without_provenance::<u64>(8)) };
        }
        assert_eq!(attempt("nothing", &|| ()), Ok(()));
        let why = attempt("a load", &load_unmapped).expect_err("the load faults");
        assert!(why.reason.contains("a load faults (SIGSEGV)"), "{why}");
    }

    #[test]
    fn kills_child_after_timeout() {
        // SAFETY: the child only calls `pause`, which is async-signal-safe.
        let child = unsafe { libc::fork() };
        assert!(child >= 0, "{}", io::Error::last_os_error());
        if child == 0 {
            loop {
                // SAFETY: the call has no arguments and no preconditions.
                unsafe { libc::pause() };
            }
        }
        let ended = wait_or_kill(child, Duration::ZERO).expect("the child exists");
        assert!(ended.is_none(), "{ended:?}");
        // SAFETY: a null pointer for the status is allowed.
        let again = unsafe { libc::waitpid(child, std::ptr::null_mut(), libc::WNOHANG) };
        assert_eq!(again, -1, "the child is already reaped");
    }
}
