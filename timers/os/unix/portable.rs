//! The clocks of systems that are not Linux: by libc, which fails where there is none.

use std::io;
use std::mem::MaybeUninit;

use super::clocks::{Route, clockid_t};
use crate::Unavailable;

/// The number of no clock.
pub const ABSENT: clockid_t = clockid_t::MAX;

/// The function of libc.
pub struct Libc;

impl Route for Libc {
    fn permitted(clock: clockid_t) -> Result<(), Unavailable> {
        if clock == ABSENT { Err(Unavailable::elsewhere("this system has no such clock")) } else { Ok(()) }
    }
}

/// Whether the clock can be read.
pub fn try_clock<R: Route>(clock: clockid_t, label: &str, since: &str) -> Result<(), Unavailable> {
    R::permitted(clock)?;
    match R::clock_gettime(clock, &mut MaybeUninit::uninit()) {
        0 => Ok(()),
        status => Err(refused(label, &R::error(status), since)),
    }
}

/// A call that the system refused, in its own words. The release of Linux that brought it says nothing here.
pub fn refused(call: &str, error: &io::Error, _since: &str) -> Unavailable {
    Unavailable::because(format!("{call}: {error}"))
}

/// Nothing forbids reading the counter of the CPU.
pub fn tsc_permitted() -> Result<(), Unavailable> {
    Ok(())
}

/// Nor reading the clocks.
pub fn vdso_permitted() -> Result<(), Unavailable> {
    Ok(())
}

/// The cheapest system call there is: it looks at one word.
#[inline(always)]
pub fn cheapest_call() -> u64 {
    // SAFETY: no arguments, no preconditions.
    unsafe { libc::getppid() as u64 }
}
