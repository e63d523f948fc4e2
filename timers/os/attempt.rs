//! Instructions that fault where kernel or firmware do not permit them. Only an attempt tells, and it is made by a child, as nothing
//! else survives it on every processor.

#[cfg(target_os = "linux")]
use std::io;

use crate::Unavailable;

/// Whether an instruction can be executed by the calling thread.
#[cfg(target_os = "linux")]
pub(crate) fn attempt(label: &str, instruction: fn() -> u64) -> Result<(), Unavailable> {
    let status = in_a_child(instruction)
        .map_err(|error| Unavailable::because(format!("{label} cannot be tried: {error}")))?;
    let signal = match status {
        0 => return Ok(()),
        libc::SIGILL => "SIGILL".to_owned(),
        libc::SIGSEGV => "SIGSEGV".to_owned(),
        other => format!("status {other}"),
    };
    Err(Unavailable::because(format!(
        "{label} faults ({signal}): this processor does not have it, or the kernel does not permit it"
    )))
}

/// The signal that it met, 0 for none.
#[cfg(target_os = "linux")]
fn in_a_child(instruction: fn() -> u64) -> io::Result<libc::c_int> {
    extern "C" fn refused(signal: libc::c_int) {
        // SAFETY: it never returns, and is safe in a signal handler.
        unsafe { libc::_exit(signal) }
    }
    // SAFETY: between fork and exit the child does nothing but what is safe in a signal handler: it sets handlers, executes
    // the instruction and ends. Nothing is allocated and no lock is taken, whatever other threads held.
    let child = unsafe { libc::fork() };
    if child == -1 {
        return Err(io::Error::last_os_error());
    }
    if child == 0 {
        for signal in [libc::SIGILL, libc::SIGSEGV, libc::SIGBUS] {
            // SAFETY: as above.
            unsafe { libc::signal(signal, refused as extern "C" fn(libc::c_int) as libc::sighandler_t) };
        }
        instruction();
        // SAFETY: as above.
        unsafe { libc::_exit(0) }
    }
    let mut status = 0;
    loop {
        // SAFETY: the pointer is valid for an int; the child is our own.
        match unsafe { libc::waitpid(child, &raw mut status, 0) } {
            -1 if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted => {
                return Err(io::Error::last_os_error());
            }
            -1 => {}
            _ if libc::WIFSIGNALED(status) => return Ok(libc::WTERMSIG(status)),
            _ => return Ok(libc::WEXITSTATUS(status)),
        }
    }
}

/// Elsewhere nothing is known to forbid them.
#[cfg(not(target_os = "linux"))]
pub(crate) fn attempt(_label: &str, _instruction: fn() -> u64) -> Result<(), Unavailable> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_faults_is_a_reason_and_no_end() {
        fn nothing_lies_there() -> u64 {
            // SAFETY: it is not: the child ends by it.
            unsafe { std::ptr::read_volatile(std::ptr::without_provenance::<u64>(8)) }
        }
        assert_eq!(attempt("nothing", || 1), Ok(()));
        let why = attempt("a load", nothing_lies_there).expect_err("it faults");
        assert!(why.reason.contains("a load faults (SIGSEGV)"), "{why}");
    }
}
