//! Timers that call a function in another thread, which sets an event; `timeSetEvent` sets it by itself.

use std::ffi::c_void;
use std::os::windows::io::OwnedHandle;
use std::ptr;

use windows_sys::Win32::Foundation::{FILETIME, HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::Threading::{
    CloseThreadpoolTimer, CreateThreadpoolTimer, CreateTimerQueueTimer, DeleteTimerQueueTimer,
    PTP_CALLBACK_INSTANCE, PTP_TIMER, SetEvent, SetThreadpoolTimer, WT_EXECUTEINTIMERTHREAD,
    WaitForThreadpoolTimerCallbacks,
};

use super::{Alarm, Event, from_now, milliseconds, refused};
use crate::Unavailable;
use crate::os::windows::handle;
use crate::waits::method::Method;
use crate::waits::{WaitInfo, windows};

/// The longest that `timeSetEvent` takes (TIMECAPS::wPeriodMax).
const LONGEST_MS: u32 = 1_000_000;

type SetAlarm = unsafe extern "system" fn(u32, u32, HANDLE, usize, u32) -> u32;
type KillAlarm = unsafe extern "system" fn(u32) -> u32;

/// `timeSetEvent`, of multimedia.
pub(crate) struct TimeSetEvent {
    event: Event,
    begin: SetAlarm,
    end: KillAlarm,
    /// The number of the one that is armed for more than once.
    armed: Option<u32>,
}

impl Method for TimeSetEvent {
    const INFO: WaitInfo = windows::TIME_SET_EVENT;

    fn open() -> Result<Self, Unavailable> {
        // SAFETY: the signatures are the documented ones, with the event in place of a function (TIME_CALLBACK_EVENT_SET).
        let (begin, end) = unsafe {
            (
                handle::find_function("winmm.dll\0", "timeSetEvent\0")?,
                handle::find_function("winmm.dll\0", "timeKillEvent\0")?,
            )
        };
        Ok(Self { event: Event::new()?, begin, end, armed: None })
    }
}

impl Alarm for TimeSetEvent {
    fn set(&mut self, first_ns: u64, period_ms: u32) -> Result<(), Unavailable> {
        /// From mmsystem.h.
        const TIME_PERIODIC: u32 = 1;
        const TIME_CALLBACK_EVENT_SET: u32 = 16;
        let periodic = if period_ms > 0 { TIME_PERIODIC } else { 0 };
        let delay = milliseconds(first_ns).clamp(1, LONGEST_MS);
        // SAFETY: the event lives as long as `self`, which ends what is periodic before that.
        let number =
            unsafe { (self.begin)(delay, 0, self.event.handle(), 0, TIME_CALLBACK_EVENT_SET | periodic) };
        if number == 0 {
            return Err(Unavailable::because(
                "timeSetEvent(): the system has no timer left, or not of that length",
            ));
        }
        self.armed = (period_ms > 0).then_some(number);
        Ok(())
    }

    #[inline(always)]
    fn signalled(&self) -> &OwnedHandle {
        self.event.object()
    }

    fn cancel(&mut self) {
        if let Some(number) = self.armed.take() {
            // SAFETY: a plain number, which is that of a timer of our own.
            unsafe { (self.end)(number) };
        }
        self.event.reset();
    }
}

impl Drop for TimeSetEvent {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// `CreateTimerQueueTimer`: made for each wait, and deleted after it.
pub(crate) struct TimerQueue {
    event: Event,
    armed: HANDLE,
}

unsafe extern "system" fn queue_expired(event: *mut c_void, _by_timer: bool) {
    // SAFETY: who armed the timer keeps the event open until this has returned for the last time.
    unsafe { SetEvent(event) };
}

impl Method for TimerQueue {
    const INFO: WaitInfo = windows::TIMER_QUEUE;

    fn open() -> Result<Self, Unavailable> {
        Ok(Self { event: Event::new()?, armed: ptr::null_mut() })
    }
}

impl Alarm for TimerQueue {
    fn set(&mut self, first_ns: u64, period_ms: u32) -> Result<(), Unavailable> {
        self.cancel();
        let (due, event) = (milliseconds(first_ns), self.event.handle());
        let made = &raw mut self.armed;
        // SAFETY: the pointer is valid; the function has the documented signature, and its argument lives until the timer is deleted.
        let done = unsafe {
            CreateTimerQueueTimer(
                made,
                ptr::null_mut(),
                Some(queue_expired),
                event,
                due,
                period_ms,
                WT_EXECUTEINTIMERTHREAD,
            )
        };
        if done == 0 { Err(refused("CreateTimerQueueTimer()")) } else { Ok(()) }
    }

    #[inline(always)]
    fn signalled(&self) -> &OwnedHandle {
        self.event.object()
    }

    fn cancel(&mut self) {
        if !self.armed.is_null() {
            // SAFETY: it was made and not yet deleted. With this handle the call returns when the function has.
            unsafe { DeleteTimerQueueTimer(ptr::null_mut(), self.armed, INVALID_HANDLE_VALUE) };
            self.armed = ptr::null_mut();
        }
        self.event.reset();
    }
}

impl Drop for TimerQueue {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// `SetThreadpoolTimer`.
pub(crate) struct ThreadPool {
    event: Event,
    timer: PTP_TIMER,
}

unsafe extern "system" fn pool_expired(_: PTP_CALLBACK_INSTANCE, event: *mut c_void, _: PTP_TIMER) {
    // SAFETY: as above.
    unsafe { SetEvent(event) };
}

impl Method for ThreadPool {
    const INFO: WaitInfo = windows::THREADPOOL_TIMER;

    fn open() -> Result<Self, Unavailable> {
        let event = Event::new()?;
        // SAFETY: the function has the documented signature; its argument lives until the timer is closed.
        let timer = unsafe { CreateThreadpoolTimer(Some(pool_expired), event.handle(), ptr::null()) };
        if timer == 0 { Err(refused("CreateThreadpoolTimer()")) } else { Ok(Self { event, timer }) }
    }
}

impl Alarm for ThreadPool {
    fn set(&mut self, first_ns: u64, period_ms: u32) -> Result<(), Unavailable> {
        let due = from_now(first_ns) as u64;
        let due = FILETIME { dwLowDateTime: due as u32, dwHighDateTime: (due >> 32) as u32 };
        // SAFETY: the timer is open as long as `self` lives, and the time is read.
        unsafe { SetThreadpoolTimer(self.timer, &raw const due, period_ms, 0) };
        Ok(())
    }

    #[inline(always)]
    fn signalled(&self) -> &OwnedHandle {
        self.event.object()
    }

    fn cancel(&mut self) {
        // SAFETY: as above; without a time it is disarmed, and nothing that it called is left.
        unsafe {
            SetThreadpoolTimer(self.timer, ptr::null(), 0, 0);
            WaitForThreadpoolTimerCallbacks(self.timer, 1);
        }
        self.event.reset();
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.cancel();
        // SAFETY: it is open, and never used again.
        unsafe { CloseThreadpoolTimer(self.timer) };
    }
}
