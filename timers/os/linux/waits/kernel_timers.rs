//! Timers that are armed by one call and waited for by another: `timerfd` and POSIX timers
//! (`timer_create`).
//!
//! What ticks: a high-resolution timer of CLOCK_MONOTONIC. At what granularity: nanoseconds. Who
//! may use them: any process. Caveats: each wait takes two calls. A periodic timer keeps its phase;
//! the number of missed expirations is known after the next one (`timerfd`: the count that is read,
//! POSIX: `timer_getoverrun`). A POSIX timer here sends its signal to the waiting thread
//! (`SIGEV_THREAD_ID`), neither to the process (`SIGEV_SIGNAL`) nor to a thread started by libc
//! (`SIGEV_THREAD`). The waiting thread keeps the signal blocked and takes it synchronously. A
//! request of 0 ns would disarm the timer, so it is raised to 1 ns. Sources: `timerfd_create(2)`,
//! `timer_create(2)`, `timer_getoverrun(2)`.

use crate::waits::method::methods;

methods! { "Linux", target_os = "linux";
    Armed<Timerfd>, "timerfd", "read() of a timerfd", WAITS_AND_PERIODS;
    Armed<TimerCreate>, "timer-create", "timer_create(SIGEV_THREAD_ID), sigwaitinfo()", WAITS_AND_PERIODS;
}

#[cfg(target_os = "linux")]
pub(super) use here::*;
#[cfg(target_os = "linux")]
mod here {
    use std::mem::MaybeUninit;
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    use std::ptr;

    use libc::{c_int, itimerspec, sigevent, sigset_t, timer_t};

    use crate::Available;
    use crate::os::linux_waits::call::{
        check_first_call, check_status, error_number, repeat_after_signals, timespec,
    };
    use crate::subject::{Answer, Fault};
    use crate::waits::method::WaitMethod;

    /// A kernel timer that is armed by one call and waited for by another.
    pub trait KernelTimer: Sized + 'static {
        fn prepare() -> Available<Self>;

        /// Arms the timer; `first_ns` 0 disarms it. Returns the error number, 0 if none.
        fn set(&self, first_ns: u64, period_ns: u64) -> c_int;

        /// Waits for the next expiration.
        fn await_expiration(&mut self);

        /// The number of expirations since the previous [`Self::await_expiration`].
        fn expirations(&mut self) -> u64 {
            1
        }

        /// Discards pending expirations.
        fn clear(&self) {}
    }

    /// Adapter that makes a kernel timer a wait method.
    pub struct Armed<T>(T);

    impl<T: KernelTimer> WaitMethod for Armed<T> {
        fn open(label: &'static str) -> Available<Self> {
            let timer = T::prepare()?;
            check_first_call(label, timer.set(0, 0)).map(|()| Self(timer))
        }

        fn wait(&mut self, nanoseconds: u64) {
            self.0.set(nanoseconds.max(1), 0);
            self.0.await_expiration();
        }

        fn arm_and_cancel(&mut self, nanoseconds: u64) {
            self.0.set(nanoseconds, 0);
            self.0.set(0, 0);
        }

        fn start(&mut self, period_ns: u64) -> Answer<bool> {
            let started = check_first_call("a periodic timer", self.0.set(period_ns, period_ns));
            started
                .map(|()| true)
                .map_err(|why| Fault::Refused(why.reason))
        }

        fn tick(&mut self, _period_ns: u64) {
            self.0.await_expiration();
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

    /// A `timerfd`, waited for by `read(2)`.
    pub struct Timerfd {
        timer: OwnedFd,
        /// The number of expirations that the last read returned.
        expirations: u64,
    }

    impl KernelTimer for Timerfd {
        fn prepare() -> Available<Self> {
            // SAFETY: the call takes no pointers.
            let made = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) };
            let descriptor = check_status("timerfd_create(CLOCK_MONOTONIC)", made)?;
            Ok(Self {
                // SAFETY: the descriptor was just opened and has no other owner.
                timer: unsafe { OwnedFd::from_raw_fd(descriptor) },
                expirations: 0,
            })
        }

        #[inline(always)]
        fn set(&self, first_ns: u64, period_ns: u64) -> c_int {
            let times = itimerspec(first_ns, period_ns);
            // SAFETY: the kernel reads one valid itimerspec; a null pointer for the old value is
            // allowed; the descriptor is open as long as `self` lives.
            error_number(unsafe {
                libc::timerfd_settime(self.timer.as_raw_fd(), 0, &raw const times, ptr::null_mut())
            })
        }

        #[inline(always)]
        fn await_expiration(&mut self) {
            let (descriptor, count) = (self.timer.as_raw_fd(), &raw mut self.expirations);
            repeat_after_signals(|| {
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

    /// A set of signals that a thread waits for.
    pub struct AwaitedSignals(sigset_t);

    impl AwaitedSignals {
        pub fn none() -> Self {
            let mut set = MaybeUninit::uninit();
            // SAFETY: `sigemptyset` initialises the set and cannot fail for a valid pointer.
            Self(unsafe {
                libc::sigemptyset(set.as_mut_ptr());
                set.assume_init()
            })
        }

        /// The set of one signal, which this call blocks in the calling thread.
        pub fn block(signal: c_int) -> Available<Self> {
            let mut set = Self::none();
            // SAFETY: the set is initialised; a null pointer for the old mask is allowed.
            let number = unsafe {
                libc::sigaddset(&raw mut set.0, signal);
                libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set.0, ptr::null_mut())
            };
            check_first_call("pthread_sigmask()", number).map(|()| set)
        }

        /// Waits for a signal of the set and takes it.
        #[inline(always)]
        pub fn take(&self) {
            repeat_after_signals(|| {
                // SAFETY: the set is initialised; a null pointer for the signal info is allowed.
                error_number(unsafe { libc::sigwaitinfo(&raw const self.0, ptr::null_mut()) })
            });
        }

        /// Waits at most `nanoseconds` for a signal; returns its number, -1 if none arrived.
        #[inline(always)]
        pub fn wait_at_most(&self, nanoseconds: u64) -> c_int {
            let time = timespec(nanoseconds);
            // SAFETY: set and time are initialised; a null pointer for the signal info is allowed.
            unsafe { libc::sigtimedwait(&raw const self.0, ptr::null_mut(), &raw const time) }
        }

        /// Takes all pending signals of the set.
        pub fn clear(&self) {
            while self.wait_at_most(0) > 0 {}
        }
    }

    /// A POSIX timer of CLOCK_MONOTONIC that sends a signal to the thread that created it.
    pub struct TimerCreate {
        timer: timer_t,
        signals: AwaitedSignals,
    }

    impl KernelTimer for TimerCreate {
        fn prepare() -> Available<Self> {
            let signal = libc::SIGRTMIN();
            let signals = AwaitedSignals::block(signal)?;
            // SAFETY: a sigevent consists of integers and a nullable pointer; all-zero bytes are a
            // valid value.
            let mut event: sigevent = unsafe { MaybeUninit::zeroed().assume_init() };
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = signal;
            // SAFETY: the call has no arguments and no preconditions.
            event.sigev_notify_thread_id = unsafe { libc::gettid() };
            let mut timer = MaybeUninit::uninit();
            // SAFETY: the call reads one valid sigevent and writes one timer id.
            let made = unsafe {
                libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, timer.as_mut_ptr())
            };
            check_status("timer_create(CLOCK_MONOTONIC)", made)?;
            Ok(Self {
                // SAFETY: `timer_create` succeeded and has written the timer id.
                timer: unsafe { timer.assume_init() },
                signals,
            })
        }

        #[inline(always)]
        fn set(&self, first_ns: u64, period_ns: u64) -> c_int {
            let times = itimerspec(first_ns, period_ns);
            // SAFETY: the timer exists as long as `self`; the kernel reads one valid itimerspec; a
            // null pointer for the old value is allowed.
            error_number(unsafe {
                libc::timer_settime(self.timer, 0, &raw const times, ptr::null_mut())
            })
        }

        #[inline(always)]
        fn await_expiration(&mut self) {
            self.signals.take();
        }

        #[inline(always)]
        fn expirations(&mut self) -> u64 {
            // SAFETY: the timer exists as long as `self`.
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
            // SAFETY: the timer exists; only this drop deletes it, once.
            unsafe { libc::timer_delete(self.timer) };
            self.signals.clear();
        }
    }
}
