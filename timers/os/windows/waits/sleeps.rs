//! `Sleep`, `SleepEx`, and the timeouts of calls that wait for something else, which never comes here.

use windows_sys::Win32::Foundation::WAIT_TIMEOUT;
use windows_sys::Win32::System::Threading;
use windows_sys::Win32::System::Threading::{
    AcquireSRWLockExclusive, CONDITION_VARIABLE, ReleaseSRWLockExclusive, SRWLOCK, SleepConditionVariableSRW,
};

use super::{Event, milliseconds, refused};
use crate::Unavailable;
use crate::waits::method::{Countdown, Method};
use crate::waits::{WaitInfo, windows};

/// `Sleep`.
pub(crate) struct Sleep;

impl Method for Sleep {
    const INFO: WaitInfo = windows::SLEEP;

    fn open() -> Result<Self, Unavailable> {
        Ok(Self)
    }
}

impl Countdown for Sleep {
    fn wait(&mut self, nanoseconds: u64) {
        // SAFETY: a plain number.
        unsafe { Threading::Sleep(milliseconds(nanoseconds)) };
    }
}

/// `SleepEx`, not alertable.
pub(crate) struct SleepEx;

impl Method for SleepEx {
    const INFO: WaitInfo = windows::SLEEP_EX;

    fn open() -> Result<Self, Unavailable> {
        Ok(Self)
    }
}

impl Countdown for SleepEx {
    fn wait(&mut self, nanoseconds: u64) {
        // SAFETY: plain numbers.
        unsafe { Threading::SleepEx(milliseconds(nanoseconds), 0) };
    }
}

/// `WaitForSingleObject`, of an event that is never set.
pub(crate) struct WaitForSingleObject(Event);

impl WaitForSingleObject {
    #[inline(always)]
    fn ask(&self, nanoseconds: u64) -> u32 {
        // SAFETY: the event is open as long as `self` lives.
        unsafe { Threading::WaitForSingleObject(self.0.handle(), milliseconds(nanoseconds)) }
    }
}

impl Method for WaitForSingleObject {
    const INFO: WaitInfo = windows::WAIT_FOR_SINGLE_OBJECT;

    fn open() -> Result<Self, Unavailable> {
        let opened = Self(Event::new()?);
        if opened.ask(0) == WAIT_TIMEOUT { Ok(opened) } else { Err(refused("WaitForSingleObject()")) }
    }
}

impl Countdown for WaitForSingleObject {
    fn wait(&mut self, nanoseconds: u64) {
        self.ask(nanoseconds);
    }
}

/// `SleepConditionVariableSRW`, of a condition that never comes; one that wakes for no reason returns early.
pub(crate) struct SleepConditionVariable {
    condition: CONDITION_VARIABLE,
    lock: SRWLOCK,
}

impl Method for SleepConditionVariable {
    const INFO: WaitInfo = windows::SLEEP_CONDITION_VARIABLE;

    fn open() -> Result<Self, Unavailable> {
        Ok(Self { condition: CONDITION_VARIABLE::default(), lock: SRWLOCK::default() })
    }
}

impl Countdown for SleepConditionVariable {
    fn wait(&mut self, nanoseconds: u64) {
        // SAFETY: zeros are a lock that is free and a condition that no thread waits for; neither moves while `self` is borrowed, and this
        // thread holds the lock while it is asked to.
        unsafe {
            AcquireSRWLockExclusive(&raw mut self.lock);
            SleepConditionVariableSRW(
                &raw mut self.condition,
                &raw mut self.lock,
                milliseconds(nanoseconds),
                0,
            );
            ReleaseSRWLockExclusive(&raw mut self.lock);
        }
    }
}
