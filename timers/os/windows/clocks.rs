//! The calls of POSIX, of which the C runtime has `time`.

use super::timers::NtQpc;
use crate::Timer;
pub use crate::os::other::clocks::*;

unsafe extern "C" {
    fn _time64(time: *mut i64) -> i64;
}

/// `time`, by its result alone.
#[inline(always)]
pub fn time() -> i64 {
    // SAFETY: a null pointer asks for the result alone.
    unsafe { _time64(std::ptr::null_mut()) }
}

/// The cheapest system call that is known to be one.
pub fn cheapest_call() -> u64 {
    NtQpc::open().map_or(0, |clock| clock.read() as u64)
}
