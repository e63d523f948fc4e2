//! Instructions that fault where kernel or firmware do not permit them. Only an attempt tells, and
//! it is made by a child, as nothing else survives it on every processor.

use std::io;
use std::thread;
use std::time::Duration;

use crate::Unavailable;
use crate::deadline::Deadline;

/// How long a child may take for one instruction. It takes less than a millisecond; on a loaded
/// machine it may wait for its turn. The child of a process with threads may never start under an
/// emulator: qemu-user's own locks stay taken by threads it does not have.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often one that did not end is tried anew.
const ATTEMPTS: usize = 3;

/// Whether an instruction can be executed by the calling thread.
pub fn attempt(label: &str, instruction: fn() -> u64) -> Result<(), Unavailable> {
    let status = (0..ATTEMPTS)
        .find_map(|_| in_a_child(instruction).transpose())
        .transpose()
        .map_err(|error| Unavailable::because(format!("{label} cannot be tried: {error}")))?;
    let signal = match status {
        None => {
            return Err(Unavailable::because(format!(
                "{label} cannot be tried: no process that tried it ended"
            )));
        }
        Some(0) => return Ok(()),
        Some(met) => crate::os::process::signal_name(met)
            .map_or_else(|| format!("status {met}"), str::to_owned),
    };
    Err(Unavailable::because(format!(
        "{label} faults ({signal}): this processor does not have it, or the kernel does not permit it"
    )))
}

/// The signal that it met, 0 for none; nothing if the child had to be ended.
fn in_a_child(instruction: fn() -> u64) -> io::Result<Option<libc::c_int>> {
    extern "C" fn refused(signal: libc::c_int) {
        // SAFETY: it never returns, and is safe in a signal handler.
        unsafe { libc::_exit(signal) }
    }
    // SAFETY: between fork and exit the child does nothing but what is safe in a signal handler: it
    // sets handlers, executes the instruction and ends. Nothing is allocated and no lock is taken,
    // whatever other threads held.
    let child = unsafe { libc::fork() };
    if child == -1 {
        return Err(io::Error::last_os_error());
    }
    if child == 0 {
        for signal in [libc::SIGILL, libc::SIGSEGV, libc::SIGBUS] {
            // SAFETY: as above.
            unsafe {
                libc::signal(
                    signal,
                    refused as extern "C" fn(libc::c_int) as libc::sighandler_t,
                )
            };
        }
        instruction();
        // SAFETY: as above.
        unsafe { libc::_exit(0) }
    }
    Ok(ended(child, PATIENCE)?.map(|status| {
        if libc::WIFSIGNALED(status) {
            libc::WTERMSIG(status)
        } else {
            libc::WEXITSTATUS(status)
        }
    }))
}

/// The status of a child of our own that ends within so long; otherwise it is killed.
fn ended(child: libc::pid_t, patience: Duration) -> io::Result<Option<libc::c_int>> {
    const PAUSE: Duration = Duration::from_micros(100);
    let over = Deadline::after(patience);
    let mut killed = false;
    loop {
        let mut status = 0;
        let flags = if killed { 0 } else { libc::WNOHANG };
        // SAFETY: the pointer is valid for an int; the child is our own.
        match unsafe { libc::waitpid(child, &raw mut status, flags) } {
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            -1 => return Err(io::Error::last_os_error()),
            0 if over.remaining().is_some() => thread::sleep(PAUSE),
            0 => {
                // SAFETY: the child is our own and was not waited for, so that its number is still
                // its own.
                unsafe { libc::kill(child, libc::SIGKILL) };
                killed = true;
            }
            _ => return Ok((!killed).then_some(status)),
        }
    }
}

/// Elsewhere nothing is known to forbid them.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_become_reasons() {
        fn nothing_lies_there() -> u64 {
            // SAFETY: it is not: the child ends by it.
            unsafe { std::ptr::read_volatile(std::ptr::without_provenance::<u64>(8)) }
        }
        assert_eq!(attempt("nothing", || 1), Ok(()));
        let why = attempt("a load", nothing_lies_there).expect_err("it faults");
        assert!(why.reason.contains("a load faults (SIGSEGV)"), "{why}");
    }

    #[test]
    fn what_does_not_end_is_ended() {
        // SAFETY: the child does nothing but wait for a signal.
        let child = unsafe { libc::fork() };
        assert!(child >= 0, "{}", io::Error::last_os_error());
        if child == 0 {
            loop {
                // SAFETY: as above.
                unsafe { libc::pause() };
            }
        }
        assert_eq!(ended(child, Duration::ZERO).expect("it is our own"), None);
        // SAFETY: no pointer is read.
        let again = unsafe { libc::waitpid(child, std::ptr::null_mut(), libc::WNOHANG) };
        assert_eq!(again, -1, "it was waited for");
    }
}
