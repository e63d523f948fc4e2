//! Waiting for signals: none (`sigtimedwait`), and those of a timer of POSIX (`timer_create`).
//!
//! What ticks: a high-resolution timer. At what granularity: nanoseconds. Who may use them: any
//! process. Caveats: the timer sends its signal to the thread that waits (`SIGEV_THREAD_ID`) and
//! not to the process, as `SIGEV_SIGNAL` does, nor to a thread that libc starts for it, as
//! `SIGEV_THREAD` does. That thread keeps the signal blocked from then on: it is taken and never
//! delivered. Each wait takes two calls. What a periodic one missed is told by `timer_getoverrun`.
//! A request of nothing would disarm it, so that it asks for a nanosecond. Sources:
//! `sigtimedwait(2)`, `timer_create(2)`, `timer_getoverrun(2)`.

use std::mem::MaybeUninit;
use std::ptr;

use libc::{c_int, itimerspec, sigevent, sigset_t, timer_t};

use super::kernel_timer::KernelTimer;
use super::{End, NEVER, checked, through_signals, timespec};
use crate::Unavailable;
use crate::waits::method::{Countdown, Method};
use crate::waits::{WaitInfo, linux};

/// Signals that are waited for.
pub(super) struct Awaited(sigset_t);

impl Awaited {
    pub(super) fn none() -> Self {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the call initialises it and cannot fail.
        Self(unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            set.assume_init()
        })
    }

    /// One, which the calling thread keeps blocked from now on.
    pub(super) fn blocked(signal: c_int) -> Result<Self, Unavailable> {
        let mut set = Self::none();
        // SAFETY: the set is initialised; the former mask is not asked for.
        let number = unsafe {
            libc::sigaddset(&raw mut set.0, signal);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set.0, ptr::null_mut())
        };
        End::of_number(number, 0)
            .opens("pthread_sigmask()")
            .map(|()| set)
    }

    /// Waits for one of them.
    #[inline(always)]
    pub(super) fn take(&self) {
        through_signals(|| {
            End::of(
                // SAFETY: the set is initialised; nothing is asked of the signal.
                unsafe { libc::sigwaitinfo(&raw const self.0, ptr::null_mut()) },
                NEVER,
            )
        });
    }

    /// Waits for one of them so long.
    #[inline(always)]
    fn within(&self, nanoseconds: u64) -> c_int {
        let time = timespec(nanoseconds);
        // SAFETY: the set and the time are read; nothing is asked of the signal.
        unsafe { libc::sigtimedwait(&raw const self.0, ptr::null_mut(), &raw const time) }
    }

    /// Takes those that are there.
    pub(super) fn clear(&self) {
        while self.within(0) > 0 {}
    }
}

/// `sigtimedwait` for no signal.
pub(crate) struct Sigtimedwait(Awaited);

impl Method for Sigtimedwait {
    const INFO: WaitInfo = linux::SIGTIMEDWAIT;

    fn open() -> Result<Self, Unavailable> {
        let none = Awaited::none();
        End::of(none.within(0), libc::EAGAIN)
            .opens(Self::INFO.label)
            .map(|()| Self(none))
    }
}

impl Countdown for Sigtimedwait {
    fn wait(&mut self, nanoseconds: u64) {
        through_signals(|| End::of(self.0.within(nanoseconds), libc::EAGAIN));
    }
}

/// A timer of CLOCK_MONOTONIC that sends a signal to the thread that opened it.
pub(crate) struct TimerCreate {
    timer: timer_t,
    signals: Awaited,
}

impl KernelTimer for TimerCreate {
    #[inline(always)]
    fn set(&self, first_ns: u64, period_ns: u64) -> End {
        let times = itimerspec {
            it_interval: timespec(period_ns),
            it_value: timespec(first_ns),
        };
        // SAFETY: the timer is there as long as `self`; the times are read, the former ones are not
        // asked for.
        End::of(
            unsafe { libc::timer_settime(self.timer, 0, &raw const times, ptr::null_mut()) },
            NEVER,
        )
    }

    #[inline(always)]
    fn expire(&mut self) {
        self.signals.take();
    }

    #[inline(always)]
    fn stood_for(&mut self) -> u64 {
        // SAFETY: the timer is there as long as `self`.
        let missed = unsafe { libc::timer_getoverrun(self.timer) };
        1 + u64::try_from(missed).unwrap_or(0)
    }

    #[inline(always)]
    fn clear(&self) {
        self.signals.clear();
    }
}

impl Method for TimerCreate {
    const INFO: WaitInfo = linux::TIMER_CREATE;

    fn open() -> Result<Self, Unavailable> {
        let signal = libc::SIGRTMIN();
        let signals = Awaited::blocked(signal)?;
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
}

impl Drop for TimerCreate {
    fn drop(&mut self) {
        // SAFETY: made once, deleted once.
        unsafe { libc::timer_delete(self.timer) };
        self.signals.clear();
    }
}
