//! The sleep primitives and periodic timers of Windows.
//!
//! What ticks: the timer interrupt, every 15.625 ms, or more often if a program requests it by
//! `timeBeginPeriod` (since Windows 10 2004 only for that program). A high-resolution waitable
//! timer has its own interrupt. At what granularity: milliseconds for `Sleep`, 100 ns for waitable
//! timers. Who may use them: any process. High-resolution timers exist since Windows 10 1803; Wine
//! 8.0 accepts the flag and creates an ordinary timer. Caveats: a wait ends at a timer interrupt; a
//! `Sleep` can therefore be shorter than requested, by less than one interrupt period. Sources:
//! [Sleep], [CreateWaitableTimerExW].
//!
//! [Sleep]: https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleep
//! [CreateWaitableTimerExW]:
//! https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-createwaitabletimerexw

use crate::waits::method::methods;

methods! { "Windows", windows;
    Sleep, "sleep", "Sleep()", WAITS_AND_PERIODS, unit_ns: 1_000_000;
    WaitableTimer<false>, "waitable-timer", "SetWaitableTimer()", ALL, unit_ns: 100;
    WaitableTimer<true>, "waitable-timer-high-resolution", "CREATE_WAITABLE_TIMER_HIGH_RESOLUTION", ALL, unit_ns: 100;
}

#[cfg(windows)]
use here::*;
#[cfg(windows)]
mod here {
    use std::os::windows::io::{AsRawHandle, OwnedHandle};
    use std::ptr;

    use windows_sys::Win32::System::Threading;
    use windows_sys::Win32::System::Threading::{
        CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, CancelWaitableTimer, CreateWaitableTimerExW,
        INFINITE, SetWaitableTimer, TIMER_ALL_ACCESS, WaitForSingleObject,
    };

    use crate::os::windows::handle::{check_status, own_handle};
    use crate::subject::{Answer, Fault};
    use crate::waits::method::WaitMethod;
    use crate::{Available, Unavailable};

    /// The wait in milliseconds, rounded up; at most the longest finite wait.
    fn milliseconds(nanoseconds: u64) -> u32 {
        let longest = u64::from(INFINITE - 1);
        nanoseconds.div_ceil(1_000_000).min(longest) as u32
    }

    /// The due time of a waitable timer in units of 100 ns, rounded up. Negative, because positive
    /// values and 0 are absolute times.
    fn relative_due_time(nanoseconds: u64) -> i64 {
        -(nanoseconds.div_ceil(100).max(1) as i64)
    }

    pub struct Sleep;

    impl WaitMethod for Sleep {
        fn open(_label: &'static str) -> Available<Self> {
            Ok(Self)
        }

        fn wait(&mut self, nanoseconds: u64) {
            // SAFETY: the function takes an integer and has no preconditions.
            unsafe { Threading::Sleep(milliseconds(nanoseconds)) };
        }
    }

    /// A waitable timer, ordinary or with high resolution. The end of a wait resets it.
    pub struct WaitableTimer<const HIGH_RESOLUTION: bool>(OwnedHandle);

    impl<const HIGH_RESOLUTION: bool> WaitableTimer<HIGH_RESOLUTION> {
        /// Arms the timer; it then expires every `period_ms` milliseconds, or only once if that is
        /// 0.
        #[inline(always)]
        fn set(&self, first_ns: u64, period_ms: i32) -> std::io::Result<()> {
            let (timer, due) = (self.0.as_raw_handle(), relative_due_time(first_ns));
            // SAFETY: the pointer to the due time is valid during the call, there is no callback,
            // and `self` keeps the handle open.
            check_status(unsafe {
                SetWaitableTimer(timer, &raw const due, period_ms, None, ptr::null(), 0)
            })
        }

        fn cancel(&self) {
            // SAFETY: `self` keeps the handle open.
            unsafe { CancelWaitableTimer(self.0.as_raw_handle()) };
        }
    }

    impl<const HIGH_RESOLUTION: bool> WaitMethod for WaitableTimer<HIGH_RESOLUTION> {
        fn open(label: &'static str) -> Available<Self> {
            let (flags, since) = if HIGH_RESOLUTION {
                (
                    CREATE_WAITABLE_TIMER_HIGH_RESOLUTION,
                    "; high-resolution timers need Windows 10 1803 or later",
                )
            } else {
                (0, "")
            };
            // SAFETY: the pointers to attributes and name may be null; the handle has no other
            // owner.
            let timer = own_handle(unsafe {
                CreateWaitableTimerExW(ptr::null(), ptr::null(), flags, TIMER_ALL_ACCESS)
            });
            let refused = |error| Unavailable::because(format!("{label}: {error}{since}"));
            timer.map(Self).map_err(refused)
        }

        fn wait(&mut self, nanoseconds: u64) {
            if self.set(nanoseconds, 0).is_ok() {
                self.tick(0);
            }
        }

        fn arm_and_cancel(&mut self, nanoseconds: u64) {
            let _ = self.set(nanoseconds, 0);
            self.cancel();
        }

        fn start(&mut self, period_ns: u64) -> Answer<()> {
            let whole = period_ns.is_multiple_of(1_000_000);
            let period_ms = i32::try_from(period_ns / 1_000_000).ok().filter(|_| whole);
            let refused = || {
                "the period of a waitable timer must be a whole number of milliseconds".to_owned()
            };
            let started = period_ms.ok_or_else(refused).and_then(|period_ms| {
                let started = self.set(period_ns, period_ms);
                started.map_err(|error| format!("SetWaitableTimer(): {error}"))
            });
            started.map_err(Fault::Refused)
        }

        fn tick(&mut self, _period_ns: u64) {
            // SAFETY: `self` keeps the handle open.
            unsafe { WaitForSingleObject(self.0.as_raw_handle(), INFINITE) };
        }

        fn stop(&mut self) {
            self.cancel();
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn requests_round_up_and_stay_finite() {
            assert_eq!([0, 1, 1_000_000, 1_000_001].map(milliseconds), [0, 1, 1, 2]);
            assert_eq!(milliseconds(u64::MAX), u32::MAX - 1);
            assert_eq!([0, 1, 100, 101].map(relative_due_time), [-1, -1, -1, -2]);
        }
    }
}
