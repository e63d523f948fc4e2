//! Waits that are one system call: sleeps, timeouts of calls that wait for files, and timeouts of
//! calls that wait for a wake-up by another thread or for a signal, which never comes.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::AtomicU32;

use libc::{CLOCK_MONOTONIC, c_int, c_long, clockid_t, sigset_t};

use super::call::{
    check_deadlines, error_number, kernel_time, milliseconds, now, number_since_5_1, own, timespec,
    timeval,
};
use super::check_call;
use super::kernel_timers::{no_signals, take_signal};
use crate::Available;
use crate::os::scheduling::{set_timer_slack, timer_slack};
use crate::waits::method::WaitMethod;

pub fn nanosleep(nanoseconds: u64) -> c_int {
    let time = timespec(nanoseconds);
    // SAFETY: the kernel reads one valid timespec; a null pointer for the rest is allowed.
    error_number(unsafe { libc::nanosleep(&raw const time, ptr::null_mut()) })
}

/// `nanosleep` in a thread whose timer slack is 1 ns as long as this exists.
pub struct WithoutSlack {
    /// The slack that the thread has otherwise.
    usual_ns: u64,
}

impl WithoutSlack {
    pub fn new() -> Available<Self> {
        let usual_ns = timer_slack()?;
        // A thread with a real-time policy has none.
        if usual_ns > 0 {
            set_timer_slack(1)?;
        }
        Ok(Self { usual_ns })
    }
}

impl WaitMethod for WithoutSlack {
    fn wait(&mut self, nanoseconds: u64) -> i32 {
        nanosleep(nanoseconds)
    }
}

impl Drop for WithoutSlack {
    fn drop(&mut self) {
        let _ = set_timer_slack(self.usual_ns);
    }
}

#[inline(always)]
fn clock_nanosleep(clock: clockid_t, flags: c_int, nanoseconds: u64) -> c_int {
    let time = timespec(nanoseconds);
    // SAFETY: the kernel reads one valid timespec; a null pointer for the rest is allowed.
    unsafe { libc::clock_nanosleep(clock, flags, &raw const time, ptr::null_mut()) }
}

/// `clock_nanosleep` with a relative time.
pub fn relative(clock: clockid_t) -> impl Fn(u64) -> c_int {
    move |nanoseconds| clock_nanosleep(clock, 0, nanoseconds)
}

/// `clock_nanosleep` with an absolute time (`TIMER_ABSTIME`).
pub struct Absolute {
    clock: clockid_t,
    /// The start of the periods, in nanoseconds of the clock.
    start_ns: u64,
}

impl Absolute {
    pub fn new(clock: clockid_t) -> Available<Self> {
        check_deadlines(clock).map(|()| Self { clock, start_ns: 0 })
    }

    #[inline(always)]
    fn wait_since(&self, begin_ns: u64, nanoseconds: u64) -> c_int {
        let end_ns = begin_ns.saturating_add(nanoseconds);
        clock_nanosleep(self.clock, libc::TIMER_ABSTIME, end_ns)
    }
}

impl WaitMethod for Absolute {
    fn wait(&mut self, nanoseconds: u64) -> i32 {
        self.wait_since(now(self.clock), nanoseconds)
    }

    fn start(&mut self, _period_ns: u64) -> Option<i32> {
        self.start_ns = now(self.clock);
        Some(0)
    }

    fn tick(&mut self, due_ns: u64) -> i32 {
        self.wait_since(self.start_ns, due_ns)
    }
}

pub fn poll(nanoseconds: u64) -> c_int {
    // SAFETY: with a count of 0 files the kernel does not use the null pointer.
    error_number(unsafe { libc::poll(ptr::null_mut(), 0, milliseconds(nanoseconds)) })
}

pub fn ppoll(nanoseconds: u64) -> c_int {
    let time = timespec(nanoseconds);
    // SAFETY: with a count of 0 files the kernel does not use the null pointer; it reads one valid
    // timespec; a null signal mask is allowed.
    error_number(unsafe { libc::ppoll(ptr::null_mut(), 0, &raw const time, ptr::null()) })
}

pub fn select(nanoseconds: u64) -> c_int {
    let mut time = timeval(nanoseconds);
    let none = ptr::null_mut;
    // SAFETY: null file sets are allowed; the kernel reads and writes one valid timeval.
    error_number(unsafe { libc::select(0, none(), none(), none(), &raw mut time) })
}

/// An epoll instance that watches no file.
fn epoll() -> Available<OwnedFd> {
    // SAFETY: the call takes no pointers.
    own("epoll_create1()", unsafe {
        libc::epoll_create1(libc::EPOLL_CLOEXEC)
    })
}

const NO_EVENT: libc::epoll_event = libc::epoll_event { events: 0, u64: 0 };

pub fn epoll_wait() -> Available<impl WaitMethod> {
    let epoll = epoll()?;
    Ok(move |nanoseconds| {
        let mut event = NO_EVENT;
        // SAFETY: the pointer is valid for one event, and the descriptor is open.
        error_number(unsafe {
            libc::epoll_wait(
                epoll.as_raw_fd(),
                &raw mut event,
                1,
                milliseconds(nanoseconds),
            )
        })
    })
}

/// `epoll_pwait2` is called by its number, because older C libraries have no function for it.
pub fn epoll_pwait2() -> Available<impl WaitMethod> {
    let epoll = epoll()?;
    Ok(move |nanoseconds| {
        let (mut event, time) = (NO_EVENT, kernel_time(nanoseconds));
        let no_mask = ptr::null::<sigset_t>();
        let (epoll, event, time) = (epoll.as_raw_fd(), &raw mut event, &raw const time);
        let number = number_since_5_1(441);
        // SAFETY: the pointer is valid for one event, the descriptor is open, and the kernel reads
        // one valid time. A null signal mask is allowed; its size is ignored.
        error_number(unsafe { libc::syscall(number, epoll, event, 1, time, no_mask, 0_usize) })
    })
}

/// The futex call with a 64-bit time: the only futex call on 64-bit processors, the newer of two on
/// 32-bit processors.
const FUTEX: c_long = if cfg!(target_pointer_width = "64") {
    libc::SYS_futex
} else {
    number_since_5_1(422)
};

pub fn futex(nanoseconds: u64) -> c_int {
    let (word, time) = (AtomicU32::new(0), kernel_time(nanoseconds));
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the kernel reads the word and one valid time.
    error_number(unsafe { libc::syscall(FUTEX, word.as_ptr(), operation, 0, &raw const time) })
}

/// A condition variable that is never signalled. It is a futex of libc with an absolute timeout, so a
/// read of the clock is part of the measured time.
pub fn pthread_cond_timedwait() -> Available<impl WaitMethod> {
    check_deadlines(CLOCK_MONOTONIC)?;
    // Boxed, because POSIX does not permit moving them. They own no memory, so that nothing has to
    // destroy them.
    let both = Box::new((
        UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER),
        UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
    ));
    let mut attributes = MaybeUninit::uninit();
    // SAFETY: the first call initialises the attributes, the others use them; no other thread has
    // access to the condition yet.
    let number = unsafe {
        libc::pthread_condattr_init(attributes.as_mut_ptr());
        match libc::pthread_condattr_setclock(attributes.as_mut_ptr(), CLOCK_MONOTONIC) {
            0 => libc::pthread_cond_init(both.0.get(), attributes.as_ptr()),
            number => number,
        }
    };
    check_call("pthread_cond_init()", number)?;
    Ok(move |nanoseconds| {
        let (condition, lock) = (both.0.get(), both.1.get());
        // SAFETY: mutex, condition and time are initialised; only this thread uses them, and it
        // unlocks the mutex that it locked.
        unsafe {
            libc::pthread_mutex_lock(lock);
            let end = timespec(now(CLOCK_MONOTONIC).saturating_add(nanoseconds));
            // Repeat after a spurious wake-up.
            while libc::pthread_cond_timedwait(condition, lock, &raw const end) == 0 {}
            libc::pthread_mutex_unlock(lock)
        }
    })
}

pub fn sigtimedwait(nanoseconds: u64) -> c_int {
    take_signal(&no_signals(), Some(nanoseconds))
}
