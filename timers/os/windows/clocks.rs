//! The calls of POSIX, of which the C runtime has `time` and one that is called `clock` and is another one.

use std::mem::MaybeUninit;

use super::timers::NtQpc;
use crate::Timer;
pub use crate::os::other::clocks::*;

unsafe extern "C" {
    fn _time64(time: *mut i64) -> i64;
    fn _ftime64(time: *mut Timeb);
    // No arguments, no preconditions.
    /// Milliseconds of real time since the process began: what POSIX calls so is another one.
    #[link_name = "clock"]
    pub(super) safe fn crt_clock() -> i32;
}

#[repr(C)]
struct Timeb {
    time: i64,
    millitm: u16,
    timezone: i16,
    dstflag: i16,
}

/// `time`, by its result alone.
#[inline(always)]
pub fn time() -> i64 {
    // SAFETY: a null pointer asks for the result alone.
    unsafe { _time64(std::ptr::null_mut()) }
}

/// Seconds and milliseconds of the time of the day.
#[inline(always)]
pub(super) fn ftime64() -> (i64, u16) {
    let mut time = MaybeUninit::<Timeb>::uninit();
    // SAFETY: the pointer is valid, and the call always writes through it.
    let time = unsafe {
        _ftime64(time.as_mut_ptr());
        time.assume_init_ref()
    };
    (time.time, time.millitm)
}

/// The cheapest system call that is known to be one.
pub fn cheapest_call() -> u64 {
    NtQpc::open().map_or(0, |clock| clock.read() as u64)
}
