//! Waits with a timeout for an event that never occurs: a wake-up by another thread (futex,
//! condition variable, semaphore), a signal (`sigtimedwait`), a message (`SO_RCVTIMEO`).
//!
//! What ticks: a high-resolution timer; for sockets the kernel's tick of 1/CONFIG_HZ, 1 to 10 ms
//! (`schedule_timeout`). At what granularity: nanoseconds. Socket timeouts are given in
//! microseconds and rounded up to ticks, plus one tick because the current tick is partly over;
//! the levels of the kernel's timer wheel round long timeouts more coarsely. Who may use them: any
//! process. Caveats: condition variable and semaphore are futexes of libc with an absolute timeout,
//! so a read of the clock is part of the measured time. The semaphore uses CLOCK_REALTIME: it ends
//! early or late when the clock is set. A socket timeout of 0 means to wait forever, so a request
//! of 0 ns is raised to 1 µs.
//! Sources: `futex(2)`, `pthread_cond_timedwait(3)`, `sem_timedwait(3)`, `sigtimedwait(2)`,
//! `socket(7)`, `kernel/time/timer.c`.

use crate::waits::method::methods;

methods! { "Linux", target_os = "linux";
    Futex, "futex", "futex(FUTEX_WAIT)", WAITS;
    NeverSignalled, "pthread-cond-timedwait", "pthread_cond_timedwait(), CLOCK_MONOTONIC", WAITS;
    Semaphore, "sem-timedwait", "sem_timedwait()", WAITS;
    NoSignal, "sigtimedwait", "sigtimedwait()", WAITS;
    SilentSocket, "so-rcvtimeo", "recv() with SO_RCVTIMEO", WAITS, unit_ns: 1_000;
}

#[cfg(target_os = "linux")]
use here::*;
#[cfg(target_os = "linux")]
mod here {
    use std::cell::UnsafeCell;
    use std::mem::MaybeUninit;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixDatagram;
    use std::sync::atomic::AtomicU32;

    use libc::{
        CLOCK_MONOTONIC, CLOCK_REALTIME, c_int, c_long, pthread_cond_t, pthread_mutex_t, sem_t,
        socklen_t,
    };

    use crate::Available;
    use crate::os::clocks::explain_failure;
    use crate::os::linux_waits::call::{
        Call, KernelTimespec, check_deadlines, check_first_call, check_status, error_number, now,
        number_since_5_1, repeat_after_signals, timespec, timeval,
    };
    use crate::os::linux_waits::kernel_timers::AwaitedSignals;

    /// The futex call with a 64-bit time: the only futex call on 64-bit processors, the newer of
    /// two on 32-bit processors.
    const FUTEX: c_long = if cfg!(target_pointer_width = "64") {
        libc::SYS_futex
    } else {
        number_since_5_1(422)
    };

    /// A futex word that never changes.
    pub struct Futex(AtomicU32);

    impl Call for Futex {
        fn prepare() -> Available<Self> {
            Ok(Self(AtomicU32::new(0)))
        }

        #[inline(always)]
        fn wait_once(&mut self, nanoseconds: u64) -> c_int {
            let time = KernelTimespec::after(nanoseconds);
            let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
            // SAFETY: the kernel reads the word, which lives as long as `self`, and one valid time.
            error_number(unsafe {
                libc::syscall(FUTEX, self.0.as_ptr(), operation, 0, &raw const time)
            })
        }
    }

    /// A condition variable that is never signalled, with its mutex. Boxed, because POSIX does not
    /// permit moving them.
    pub struct NeverSignalled(Box<(UnsafeCell<pthread_cond_t>, UnsafeCell<pthread_mutex_t>)>);

    impl Call for NeverSignalled {
        fn prepare() -> Available<Self> {
            check_deadlines(CLOCK_MONOTONIC)?;
            let condition = Box::new((
                UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER),
                UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            ));
            let mut attributes = MaybeUninit::uninit();
            // SAFETY: the first call initialises the attributes, the next two use them, the last
            // destroys them; no other thread has access to the condition yet.
            let number = unsafe {
                libc::pthread_condattr_init(attributes.as_mut_ptr());
                let set = libc::pthread_condattr_setclock(attributes.as_mut_ptr(), CLOCK_MONOTONIC);
                let made = libc::pthread_cond_init(condition.0.get(), attributes.as_ptr());
                libc::pthread_condattr_destroy(attributes.as_mut_ptr());
                if set != 0 { set } else { made }
            };
            check_first_call("pthread_cond_init()", number).map(|()| Self(condition))
        }

        #[inline(always)]
        fn wait_once(&mut self, nanoseconds: u64) -> c_int {
            let (condition, lock) = (self.0.0.get(), self.0.1.get());
            // SAFETY: mutex, condition and time are initialised; only this thread uses them, and it
            // unlocks the mutex that it locked.
            unsafe {
                libc::pthread_mutex_lock(lock);
                let end = timespec(now(CLOCK_MONOTONIC).saturating_add(nanoseconds));
                // Repeat after a spurious wake-up.
                while libc::pthread_cond_timedwait(condition, lock, &raw const end) == 0 {}
                libc::pthread_mutex_unlock(lock)
            }
        }
    }

    impl Drop for NeverSignalled {
        fn drop(&mut self) {
            // SAFETY: the object is initialised, and no thread waits for it.
            unsafe {
                libc::pthread_cond_destroy(self.0.0.get());
                libc::pthread_mutex_destroy(self.0.1.get());
            }
        }
    }

    /// A semaphore whose value stays 0. Boxed, because POSIX does not permit moving it.
    pub struct Semaphore(Box<UnsafeCell<sem_t>>);

    impl Call for Semaphore {
        fn prepare() -> Available<Self> {
            check_deadlines(CLOCK_REALTIME)?;
            // SAFETY: a semaphore consists of integers; all-zero bytes are a valid value.
            let semaphore = Box::new(UnsafeCell::new(unsafe {
                MaybeUninit::<sem_t>::zeroed().assume_init()
            }));
            // SAFETY: the pointer is valid, and no other thread has access to the semaphore yet.
            check_status("sem_init()", unsafe {
                libc::sem_init(semaphore.get(), 0, 0)
            })?;
            Ok(Self(semaphore))
        }

        #[inline(always)]
        fn wait_once(&mut self, nanoseconds: u64) -> c_int {
            let end = timespec(now(CLOCK_REALTIME).saturating_add(nanoseconds));
            repeat_after_signals(|| {
                // SAFETY: the semaphore is initialised and lives as long as `self`.
                error_number(unsafe { libc::sem_timedwait(self.0.get(), &raw const end) })
            })
        }
    }

    impl Drop for Semaphore {
        fn drop(&mut self) {
            // SAFETY: the object is initialised, and no thread waits for it.
            unsafe { libc::sem_destroy(self.0.get()) };
        }
    }

    /// `sigtimedwait` with an empty signal set.
    pub struct NoSignal(AwaitedSignals);

    impl Call for NoSignal {
        fn prepare() -> Available<Self> {
            Ok(Self(AwaitedSignals::none()))
        }

        #[inline(always)]
        fn wait_once(&mut self, nanoseconds: u64) -> c_int {
            error_number(self.0.wait_at_most(nanoseconds))
        }
    }

    /// A socket pair on which nothing is sent.
    pub struct SilentSocket {
        ends: (UnixDatagram, UnixDatagram),
        /// The timeout currently set, in nanoseconds.
        timeout_ns: Option<u64>,
    }

    impl SilentSocket {
        fn set_timeout(&mut self, nanoseconds: u64) -> c_int {
            let time = timeval(nanoseconds.max(1));
            let (socket, size) = (self.ends.0.as_raw_fd(), size_of_val(&time) as socklen_t);
            self.timeout_ns = Some(nanoseconds);
            // SAFETY: the pointer is valid for one timeval, and the size passed is its size.
            error_number(unsafe {
                libc::setsockopt(
                    socket,
                    libc::SOL_SOCKET,
                    libc::SO_RCVTIMEO,
                    (&raw const time).cast(),
                    size,
                )
            })
        }
    }

    impl Call for SilentSocket {
        fn prepare() -> Available<Self> {
            let ends =
                UnixDatagram::pair().map_err(|error| explain_failure("socketpair()", &error))?;
            Ok(Self {
                ends,
                timeout_ns: None,
            })
        }

        #[inline(always)]
        fn wait_once(&mut self, nanoseconds: u64) -> c_int {
            // Set only if it differs: programs usually set the timeout once.
            if self.timeout_ns != Some(nanoseconds) {
                self.set_timeout(nanoseconds);
            }
            let mut byte = 0_u8;
            // SAFETY: the pointer is valid for one byte, and the descriptor is open as long as
            // `self` lives.
            error_number(unsafe {
                libc::recv(self.ends.0.as_raw_fd(), (&raw mut byte).cast(), 1, 0)
            } as i64)
        }
    }
}
