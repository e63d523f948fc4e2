//! What is the same of all timers that are armed by one call and waited for by another.

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr;

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::Threading::{CreateEventW, INFINITE, ResetEvent, WaitForSingleObject};

use super::refused;
use crate::Unavailable;
use crate::subject::{Answer, Fault};
use crate::waits::method::{Armed, Countdown, Method, Periodic};

/// A timer that the system keeps.
pub(super) trait Alarm: Method {
    /// Arms it: for once, or for every so many milliseconds after the first.
    fn set(&mut self, first_ns: u64, period_ms: u32) -> Result<(), Unavailable>;

    /// What it signals when it expires; who waited for that has reset it.
    fn signalled(&self) -> &OwnedHandle;

    /// Disarms it; nothing that it set off is left.
    fn cancel(&mut self);
}

impl<T: Alarm> Countdown for T {
    fn wait(&mut self, nanoseconds: u64) {
        // Who was refused returns at once, and is seen to be early.
        if self.set(nanoseconds, 0).is_ok() {
            wait_for(self.signalled());
        }
    }
}

impl<T: Alarm> Armed for T {
    fn arm_and_cancel(&mut self, nanoseconds: u64) {
        let _ = self.set(nanoseconds, 0);
        self.cancel();
    }
}

impl<T: Alarm> Periodic for T {
    fn start(&mut self, period_ns: u64) -> Answer<()> {
        let whole = period_ns.is_multiple_of(1_000_000).then_some(period_ns / 1_000_000);
        let period_ms = whole.and_then(|period| u32::try_from(period).ok()).filter(|&period| period > 0);
        let period_ms = period_ms.ok_or_else(|| {
            Fault::Refused(format!("{} has periods of whole milliseconds only", Self::INFO.label))
        })?;
        self.set(period_ns, period_ms).map_err(|why| Fault::Refused(why.reason))
    }

    fn tick(&mut self) {
        wait_for(self.signalled());
    }

    fn stop(&mut self) {
        self.cancel();
    }
}

/// What a callback sets and the thread waits for; who waited resets it.
pub(super) struct Event(OwnedHandle);

impl Event {
    pub(super) fn new() -> Result<Self, Unavailable> {
        // SAFETY: no attributes and no name.
        let event = unsafe { CreateEventW(ptr::null(), 0, 0, ptr::null()) };
        if event.is_null() {
            return Err(refused("CreateEventW()"));
        }
        // SAFETY: it was just made and has no other owner.
        Ok(Self(unsafe { OwnedHandle::from_raw_handle(event) }))
    }

    pub(super) fn handle(&self) -> HANDLE {
        self.0.as_raw_handle()
    }

    #[inline(always)]
    pub(super) fn object(&self) -> &OwnedHandle {
        &self.0
    }

    pub(super) fn reset(&self) {
        // SAFETY: the event is open as long as `self` lives.
        unsafe { ResetEvent(self.handle()) };
    }
}

/// Until it is signalled.
#[inline(always)]
fn wait_for(object: &OwnedHandle) {
    // SAFETY: the handle is open as long as it is borrowed.
    unsafe { WaitForSingleObject(object.as_raw_handle(), INFINITE) };
}
