//! Detects a standard input or output that cannot be used. The standard library hides it: reads
//! then find the end of the input, and writes succeed.

use std::io;
use std::os::fd::AsFd;

use rustix::fs::{OFlags, fcntl_getfl};

/// Checks that standard input is open for reading.
///
/// # Errors
/// When it is not, or was closed when the program started.
pub fn check_input() -> io::Result<()> {
    check(
        io::stdin(),
        OFlags::WRONLY,
        "standard input is not open for reading",
    )
}

/// Checks that standard output is open for writing.
///
/// # Errors
/// When it is not, or was closed when the program started.
pub fn check_output() -> io::Result<()> {
    check(
        io::stdout(),
        OFlags::RDONLY,
        "standard output is not open for writing",
    )
}

/// Fails if `stream` is open for the `opposite` access only.
fn check(stream: impl AsFd, opposite: OFlags, message: &'static str) -> io::Result<()> {
    match fcntl_getfl(stream) {
        Ok(flags) if flags & OFlags::RWMODE == opposite => Err(io::Error::other(message)),
        _ => Ok(()),
    }
}

/// Opens `/dev/null` for the opposite access in place of a closed standard input or output. Before
/// `main`, the standard library would open it for both.
extern "C" fn replace_closed() {
    for (descriptor, opposite) in [(0, libc::O_WRONLY), (1, libc::O_RDONLY)] {
        // SAFETY: the first call only fails if the descriptor is closed; the second takes a C
        // string, and returns the lowest closed descriptor, which is this one.
        unsafe {
            if libc::fcntl(descriptor, libc::F_GETFD) < 0 {
                libc::open(c"/dev/null".as_ptr(), opposite);
            }
        }
    }
}

/// Calls [`replace_closed`] before `main`.
// SAFETY: the system calls the functions in this section, which may ignore their arguments. This
// one calls no function of the standard library, which is not initialised yet.
#[used]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
static BEFORE_MAIN: extern "C" fn() = replace_closed;
