//! The sleep primitives and periodic timers of Windows. Their rows are known on all systems, their
//! calls are compiled on Windows only.
//!
//! What ticks: the timer interrupt, every 15.625 ms unless some program asks for more by
//! `timeBeginPeriod`, since Windows 10 2004 for itself alone; a high-resolution waitable timer
//! has an interrupt of its own. At what granularity: milliseconds for `Sleep`, 100 ns for
//! waitable timers. Who may use them: any process; high-resolution timers came with Windows 10
//! 1803; Wine 8.0 takes the flag and makes a timer as any other. Caveats: a wait ends with a
//! tick, and may so be shorter than what was asked for by a part of one (`Sleep`). Sources:
//! [Sleep], [CreateWaitableTimerExW].
//!
//! [Sleep]: https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleep
//! [CreateWaitableTimerExW]:
//! https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-createwaitabletimerexw

use crate::waits::method::methods;

methods! { "Windows", windows;
    Sleep, "sleep", "Sleep()", 1_000_000, false, LOOP;
    WaitableTimer<false>, "waitable-timer", "SetWaitableTimer()", 100, false, ALL;
    WaitableTimer<true>, "waitable-timer-high-resolution", "CREATE_WAITABLE_TIMER_HIGH_RESOLUTION", 100, false, ALL;
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

    use crate::Unavailable;
    use crate::os::windows::handle::{checked, owned};
    use crate::subject::{Answer, Fault};
    use crate::waits::method::Method;

    /// In milliseconds, rounded up; the most that is not for ever.
    fn milliseconds(nanoseconds: u64) -> u32 {
        let most = u64::from(INFINITE - 1);
        nanoseconds.div_ceil(1_000_000).min(most) as u32
    }

    /// From now on in units of 100 ns, rounded up: negative, as an instant would be positive.
    /// Nothing would be one.
    fn from_now(nanoseconds: u64) -> i64 {
        -(nanoseconds.div_ceil(100).max(1) as i64)
    }

    pub(super) struct Sleep;

    impl Method for Sleep {
        fn open(_label: &'static str) -> Result<Self, Unavailable> {
            Ok(Self)
        }

        fn wait(&mut self, nanoseconds: u64) {
            // SAFETY: a plain number.
            unsafe { Threading::Sleep(milliseconds(nanoseconds)) };
        }
    }

    /// A waitable timer, which goes by the tick, or has an interrupt of its own. Who waited for it
    /// resets it.
    pub(super) struct WaitableTimer<const HIGH_RESOLUTION: bool>(OwnedHandle);

    impl<const HIGH_RESOLUTION: bool> WaitableTimer<HIGH_RESOLUTION> {
        /// Arms it: once, or periodically after the first expiration; in milliseconds.
        #[inline(always)]
        fn set(&self, first_ns: u64, period_ms: i32) -> std::io::Result<()> {
            let (timer, due) = (self.0.as_raw_handle(), from_now(first_ns));
            // SAFETY: the time is read, nothing is called, and the timer is open as long as it is
            // borrowed.
            checked(unsafe {
                SetWaitableTimer(timer, &raw const due, period_ms, None, ptr::null(), 0)
            })
        }

        fn cancel(&self) {
            // SAFETY: the timer is open as long as it is borrowed.
            unsafe { CancelWaitableTimer(self.0.as_raw_handle()) };
        }
    }

    impl<const HIGH_RESOLUTION: bool> Method for WaitableTimer<HIGH_RESOLUTION> {
        fn open(label: &'static str) -> Result<Self, Unavailable> {
            let (flags, since) = if HIGH_RESOLUTION {
                (
                    CREATE_WAITABLE_TIMER_HIGH_RESOLUTION,
                    "; high-resolution timers came with Windows 10 1803",
                )
            } else {
                (0, "")
            };
            // SAFETY: no name, no attributes, plain numbers; the handle has no other owner.
            let timer = owned(unsafe {
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
            let refused = || "its periods are whole milliseconds".to_owned();
            let started = period_ms.ok_or_else(refused).and_then(|period_ms| {
                let started = self.set(period_ns, period_ms);
                started.map_err(|error| format!("SetWaitableTimer(): {error}"))
            });
            started.map_err(Fault::Refused)
        }

        fn tick(&mut self, _period_ns: u64) {
            // SAFETY: the timer is open as long as it is borrowed.
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
            assert_eq!([0, 1, 100, 101].map(from_now), [-1, -1, -1, -2]);
        }
    }
}
