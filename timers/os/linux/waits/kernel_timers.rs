//! Timers that are armed by one call and waited for by another: `timerfd` and those of POSIX
//! (`timer_create`).
//!
//! What ticks: a high-resolution timer of CLOCK_MONOTONIC. At what granularity: nanoseconds. Who
//! may use them: any process. Caveats: each wait takes two calls. A periodic timer stays on its
//! grid; what was missed is read with the next expiration, from `timerfd` as a count, else by
//! `timer_getoverrun`. A timer of POSIX sends its signal to the thread that waits
//! (`SIGEV_THREAD_ID`) and not to the process, as `SIGEV_SIGNAL` does, nor to a thread that libc
//! starts for it, as `SIGEV_THREAD` does. That thread keeps the signal blocked from then on: it is
//! taken and never delivered. A request of nothing would disarm them, so that it asks for a
//! nanosecond. Sources: `timerfd_create(2)`, `timer_create(2)`, `timer_getoverrun(2)`.

use crate::waits::method::methods;

methods! { "Linux", target_os = "linux";
    Armed<Timerfd>, "timerfd", "read() of a timerfd", 1, false, ALL;
    Armed<TimerCreate>, "timer-create", "timer_create(SIGEV_THREAD_ID), sigwaitinfo()", 1, false, ALL;
}

#[cfg(target_os = "linux")]
pub(super) use here::*;
#[cfg(target_os = "linux")]
mod here {
    use std::mem::MaybeUninit;
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    use std::ptr;

    use libc::{c_int, itimerspec, sigevent, sigset_t, timer_t};

    use crate::Unavailable;
    use crate::os::linux_waits::call::{checked, error_number, opened, through_signals, timespec};
    use crate::subject::{Answer, Fault};
    use crate::waits::method::Method;

    /// A timer that the kernel keeps.
    pub(in crate::os) trait KernelTimer: Sized + 'static {
        fn prepare() -> Result<Self, Unavailable>;

        /// Arms it, or disarms it with nothing. The number of the error; 0 if none.
        fn set(&self, first_ns: u64, period_ns: u64) -> c_int;

        /// Waits until it expires.
        fn expire(&mut self);

        /// For how many expirations that stood.
        fn expirations(&mut self) -> u64 {
            1
        }

        /// Takes the expirations that were not waited for.
        fn clear(&self) {}
    }

    /// A kernel's timer as a method to wait.
    pub(in crate::os) struct Armed<T>(T);

    impl<T: KernelTimer> Method for Armed<T> {
        fn open(label: &'static str) -> Result<Self, Unavailable> {
            let timer = T::prepare()?;
            opened(label, timer.set(0, 0)).map(|()| Self(timer))
        }

        fn wait(&mut self, nanoseconds: u64) {
            self.0.set(nanoseconds.max(1), 0);
            self.0.expire();
        }

        fn arm_and_cancel(&mut self, nanoseconds: u64) {
            self.0.set(nanoseconds, 0);
            self.0.set(0, 0);
        }

        fn start(&mut self, period_ns: u64) -> Answer<()> {
            let started = opened("a periodic timer", self.0.set(period_ns, period_ns));
            started.map_err(|why| Fault::Refused(why.reason))
        }

        fn tick(&mut self, _period_ns: u64) {
            self.0.expire();
        }

        fn expirations(&mut self) -> u64 {
            self.0.expirations()
        }

        fn stop(&mut self) {
            self.0.set(0, 0);
            self.0.clear();
        }
    }

    fn itimerspec(first_ns: u64, period_ns: u64) -> itimerspec {
        itimerspec {
            it_interval: timespec(period_ns),
            it_value: timespec(first_ns),
        }
    }

    /// A timer that is read.
    pub(in crate::os) struct Timerfd {
        timer: OwnedFd,
        /// What the last read returned.
        expirations: u64,
    }

    impl KernelTimer for Timerfd {
        fn prepare() -> Result<Self, Unavailable> {
            // SAFETY: plain numbers.
            let made = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) };
            let descriptor = checked("timerfd_create(CLOCK_MONOTONIC)", made)?;
            Ok(Self {
                // SAFETY: it was just opened and has no other owner.
                timer: unsafe { OwnedFd::from_raw_fd(descriptor) },
                expirations: 0,
            })
        }

        #[inline(always)]
        fn set(&self, first_ns: u64, period_ns: u64) -> c_int {
            let times = itimerspec(first_ns, period_ns);
            // SAFETY: the times are read, the former ones are not asked for; the descriptor is open
            // as long as `self` lives.
            error_number(unsafe {
                libc::timerfd_settime(self.timer.as_raw_fd(), 0, &raw const times, ptr::null_mut())
            })
        }

        #[inline(always)]
        fn expire(&mut self) {
            let (descriptor, count) = (self.timer.as_raw_fd(), &raw mut self.expirations);
            through_signals(|| {
                // SAFETY: the pointer is valid for eight bytes, and the descriptor is open as long
                // as `self` lives.
                let read = unsafe { libc::read(descriptor, count.cast(), size_of::<u64>()) };
                error_number(read as i64)
            });
        }

        #[inline(always)]
        fn expirations(&mut self) -> u64 {
            self.expirations
        }
    }

    /// Signals that are waited for.
    pub(in crate::os) struct AwaitedSignals(sigset_t);

    impl AwaitedSignals {
        pub(in crate::os) fn none() -> Self {
            let mut set = MaybeUninit::uninit();
            // SAFETY: the call initialises it and cannot fail.
            Self(unsafe {
                libc::sigemptyset(set.as_mut_ptr());
                set.assume_init()
            })
        }

        /// One, which the calling thread keeps blocked from now on.
        pub(in crate::os) fn block(signal: c_int) -> Result<Self, Unavailable> {
            let mut set = Self::none();
            // SAFETY: the set is initialised; the former mask is not asked for.
            let number = unsafe {
                libc::sigaddset(&raw mut set.0, signal);
                libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set.0, ptr::null_mut())
            };
            opened("pthread_sigmask()", number).map(|()| set)
        }

        /// Waits for one of them.
        #[inline(always)]
        pub(in crate::os) fn take(&self) {
            through_signals(|| {
                // SAFETY: the set is initialised; nothing is asked of the signal.
                error_number(unsafe { libc::sigwaitinfo(&raw const self.0, ptr::null_mut()) })
            });
        }

        /// Waits for one of them so long.
        #[inline(always)]
        pub(in crate::os) fn within(&self, nanoseconds: u64) -> c_int {
            let time = timespec(nanoseconds);
            // SAFETY: the set and the time are read; nothing is asked of the signal.
            unsafe { libc::sigtimedwait(&raw const self.0, ptr::null_mut(), &raw const time) }
        }

        /// Takes those that are there.
        pub(in crate::os) fn clear(&self) {
            while self.within(0) > 0 {}
        }
    }

    /// A timer of CLOCK_MONOTONIC that sends a signal to the thread that opened it.
    pub(in crate::os) struct TimerCreate {
        timer: timer_t,
        signals: AwaitedSignals,
    }

    impl KernelTimer for TimerCreate {
        fn prepare() -> Result<Self, Unavailable> {
            let signal = libc::SIGRTMIN();
            let signals = AwaitedSignals::block(signal)?;
            // SAFETY: numbers and a pointer that is not used, for which zeros are a value.
            let mut event: sigevent = unsafe { MaybeUninit::zeroed().assume_init() };
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = signal;
            // SAFETY: no arguments, no preconditions.
            event.sigev_notify_thread_id = unsafe { libc::gettid() };
            let mut timer = MaybeUninit::uninit();
            // SAFETY: the event is read, the timer written.
            let made = unsafe {
                libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, timer.as_mut_ptr())
            };
            checked("timer_create(CLOCK_MONOTONIC)", made)?;
            Ok(Self {
                // SAFETY: the call succeeded, so it is written.
                timer: unsafe { timer.assume_init() },
                signals,
            })
        }

        #[inline(always)]
        fn set(&self, first_ns: u64, period_ns: u64) -> c_int {
            let times = itimerspec(first_ns, period_ns);
            // SAFETY: the timer is there as long as `self`; the times are read, the former ones are
            // not asked for.
            error_number(unsafe {
                libc::timer_settime(self.timer, 0, &raw const times, ptr::null_mut())
            })
        }

        #[inline(always)]
        fn expire(&mut self) {
            self.signals.take();
        }

        #[inline(always)]
        fn expirations(&mut self) -> u64 {
            // SAFETY: the timer is there as long as `self`.
            let missed = unsafe { libc::timer_getoverrun(self.timer) };
            1 + u64::try_from(missed).unwrap_or(0)
        }

        #[inline(always)]
        fn clear(&self) {
            self.signals.clear();
        }
    }

    impl Drop for TimerCreate {
        fn drop(&mut self) {
            // SAFETY: made once, deleted once.
            unsafe { libc::timer_delete(self.timer) };
            self.signals.clear();
        }
    }
}
