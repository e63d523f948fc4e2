//! Waiting for other threads, none of which ever comes: a futex, a condition variable, a semaphore.
//!
//! What ticks: a high-resolution timer. At what granularity: nanoseconds. Who may use them: any
//! process. Caveats: the condition variable and the semaphore are futexes of libc; they are told a
//! point in time, so that a read of the clock stands in what is observed. The semaphore's is of
//! CLOCK_REALTIME: it ends early or late when the clock is set. Sources: `futex(2)`,
//! `pthread_cond_timedwait(3)`, `sem_timedwait(3)`.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::AtomicU32;

use libc::{
    CLOCK_MONOTONIC, CLOCK_REALTIME, c_int, c_long, pthread_cond_t, pthread_mutex_t, sem_t,
};

use super::sleeps::now;
use super::{End, KernelTimespec, checked, number_since_5_1, through_signals, timespec};
use crate::Unavailable;
use crate::waits::method::{Countdown, Method};
use crate::waits::{WaitInfo, linux};

/// The call that takes a time of 64 bits: the only one there is where registers have as many, the
/// newer of two elsewhere.
const FUTEX: c_long = if cfg!(target_pointer_width = "64") {
    libc::SYS_futex
} else {
    number_since_5_1(422)
};

/// A word that never changes.
pub(crate) struct Futex(AtomicU32);

impl Futex {
    #[inline(always)]
    fn wait_once(&self, nanoseconds: u64) -> End {
        let time = KernelTimespec::of(nanoseconds);
        let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: the kernel reads the word, which lives as long as `self`, and the time.
        let status =
            unsafe { libc::syscall(FUTEX, self.0.as_ptr(), operation, 0, &raw const time) };
        End::of(status, libc::ETIMEDOUT)
    }
}

impl Method for Futex {
    const INFO: WaitInfo = linux::FUTEX;

    fn open() -> Result<Self, Unavailable> {
        let futex = Self(AtomicU32::new(0));
        futex.wait_once(0).opens(Self::INFO.label).map(|()| futex)
    }
}

impl Countdown for Futex {
    fn wait(&mut self, nanoseconds: u64) {
        through_signals(|| self.wait_once(nanoseconds));
    }
}

/// A condition that never comes true, with its lock. They keep their place, as POSIX wants.
pub(crate) struct Condition(Box<(UnsafeCell<pthread_cond_t>, UnsafeCell<pthread_mutex_t>)>);

impl Method for Condition {
    const INFO: WaitInfo = linux::PTHREAD_COND_TIMEDWAIT;

    fn open() -> Result<Self, Unavailable> {
        let condition = Box::new((
            UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER),
            UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
        ));
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: the attributes are initialised by the first call, used by the next two and given
        // back; no other thread knows the condition yet.
        let number = unsafe {
            libc::pthread_condattr_init(attributes.as_mut_ptr());
            let set = libc::pthread_condattr_setclock(attributes.as_mut_ptr(), CLOCK_MONOTONIC);
            let made = libc::pthread_cond_init(condition.0.get(), attributes.as_ptr());
            libc::pthread_condattr_destroy(attributes.as_mut_ptr());
            if set != 0 { set } else { made }
        };
        End::of_number(number, 0)
            .opens("pthread_cond_init()")
            .map(|()| Self(condition))
    }
}

impl Countdown for Condition {
    fn wait(&mut self, nanoseconds: u64) {
        let (condition, lock) = (self.0.0.get(), self.0.1.get());
        // SAFETY: all are valid and initialised; this thread alone uses them, and lets go of the
        // lock that it took.
        unsafe {
            libc::pthread_mutex_lock(lock);
            let end = timespec(now(CLOCK_MONOTONIC).saturating_add(nanoseconds));
            // It may return for no reason, and then is not over.
            while libc::pthread_cond_timedwait(condition, lock, &raw const end) == 0 {}
            libc::pthread_mutex_unlock(lock);
        }
    }
}

impl Drop for Condition {
    fn drop(&mut self) {
        // SAFETY: initialised, and no thread waits.
        unsafe {
            libc::pthread_cond_destroy(self.0.0.get());
            libc::pthread_mutex_destroy(self.0.1.get());
        }
    }
}

/// A semaphore that stays at zero. It keeps its place, as POSIX wants.
pub(crate) struct Semaphore(Box<UnsafeCell<sem_t>>);

impl Semaphore {
    #[inline(always)]
    fn until(&self, end_ns: u64) -> End {
        let end = timespec(end_ns);
        // SAFETY: the semaphore is initialised and lives as long as `self`; the time is read.
        let status: c_int = unsafe { libc::sem_timedwait(self.0.get(), &raw const end) };
        End::of(status, libc::ETIMEDOUT)
    }
}

impl Method for Semaphore {
    const INFO: WaitInfo = linux::SEM_TIMEDWAIT;

    fn open() -> Result<Self, Unavailable> {
        // SAFETY: integers, or an array of them, for which zeros are a value.
        let semaphore = Box::new(UnsafeCell::new(unsafe {
            MaybeUninit::<sem_t>::zeroed().assume_init()
        }));
        // SAFETY: the place is valid and no other thread knows it yet.
        checked("sem_init()", unsafe {
            libc::sem_init(semaphore.get(), 0, 0)
        })?;
        let semaphore = Self(semaphore);
        semaphore
            .until(0)
            .opens(Self::INFO.label)
            .map(|()| semaphore)
    }
}

impl Countdown for Semaphore {
    fn wait(&mut self, nanoseconds: u64) {
        let end = now(CLOCK_REALTIME).saturating_add(nanoseconds);
        through_signals(|| self.until(end));
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: initialised, and no thread waits.
        unsafe { libc::sem_destroy(self.0.get()) };
    }
}
