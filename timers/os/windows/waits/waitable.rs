//! Waitable timers, which go by the tick, and those of high resolution.

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr;

use windows_sys::Win32::System::Threading::{
    CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, CancelWaitableTimer, CreateWaitableTimerExW, SetWaitableTimer,
    TIMER_ALL_ACCESS,
};

use super::{Alarm, from_now, refused};
use crate::Unavailable;
use crate::waits::method::Method;
use crate::waits::{WaitInfo, windows};

/// A timer that goes by the tick; who waited resets it.
pub(crate) struct Plain(OwnedHandle);

/// A timer with an interrupt of its own.
pub(crate) struct HighResolution(OwnedHandle);

fn create(flags: u32) -> Result<OwnedHandle, Unavailable> {
    // SAFETY: no attributes and no name.
    let timer = unsafe { CreateWaitableTimerExW(ptr::null(), ptr::null(), flags, TIMER_ALL_ACCESS) };
    if timer.is_null() {
        return Err(refused("CreateWaitableTimerExW()"));
    }
    // SAFETY: it was just made and has no other owner.
    Ok(unsafe { OwnedHandle::from_raw_handle(timer) })
}

#[inline(always)]
fn arm(timer: &OwnedHandle, first_ns: u64, period_ms: u32) -> Result<(), Unavailable> {
    let due = from_now(first_ns);
    let period_ms = i32::try_from(period_ms).unwrap_or(i32::MAX);
    // SAFETY: the time is read, nothing is called, and the timer is open as long as it is borrowed.
    let done =
        unsafe { SetWaitableTimer(timer.as_raw_handle(), &raw const due, period_ms, None, ptr::null(), 0) };
    if done == 0 { Err(refused("SetWaitableTimer()")) } else { Ok(()) }
}

fn disarm(timer: &OwnedHandle) {
    // SAFETY: the timer is open as long as it is borrowed.
    unsafe { CancelWaitableTimer(timer.as_raw_handle()) };
}

impl Method for Plain {
    const INFO: WaitInfo = windows::WAITABLE_TIMER;

    fn open() -> Result<Self, Unavailable> {
        create(0).map(Self)
    }
}

impl Method for HighResolution {
    const INFO: WaitInfo = windows::WAITABLE_TIMER_HIGH;

    fn open() -> Result<Self, Unavailable> {
        create(CREATE_WAITABLE_TIMER_HIGH_RESOLUTION).map(Self).map_err(too_old)
    }
}

/// A system that does not know the flag refuses it.
fn too_old(why: Unavailable) -> Unavailable {
    Unavailable::because(format!("{}; high-resolution timers came with Windows 10 1803", why.reason))
}

macro_rules! alarms {
    ($($timer:ident),*) => {$(
        impl Alarm for $timer {
            #[inline(always)]
            fn set(&mut self, first_ns: u64, period_ms: u32) -> Result<(), Unavailable> {
                arm(&self.0, first_ns, period_ms)
            }

            #[inline(always)]
            fn signalled(&self) -> &OwnedHandle {
                &self.0
            }

            fn cancel(&mut self) {
                disarm(&self.0);
            }
        }
    )*};
}

alarms!(Plain, HighResolution);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_windows_without_high_resolution_is_quoted_and_explained() {
        use windows_sys::Win32::Foundation::{ERROR_INVALID_PARAMETER, SetLastError};
        // What such a Windows answers.
        // SAFETY: a plain number.
        unsafe { SetLastError(ERROR_INVALID_PARAMETER) };
        let why = too_old(refused("CreateWaitableTimerExW()")).reason;
        assert!(why.starts_with("CreateWaitableTimerExW(): ") && why.contains("os error 87"), "{why}");
        assert!(why.ends_with("came with Windows 10 1803"), "{why}");
    }
}
