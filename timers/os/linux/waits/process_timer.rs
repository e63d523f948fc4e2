//! The timer of the process, `setitimer`.
//!
//! What ticks: a high-resolution timer of CLOCK_MONOTONIC. At what granularity: microseconds. Who
//! may use it: any process, but there is one a process, which `alarm` uses as well. Caveats: its
//! signal, SIGALRM, goes to the process. The thread that waits keeps it blocked and takes it;
//! another thread that gets it passes it on, which takes longer, and blocks it from then on, so
//! that it ends no thread. Each wait takes two calls. What a periodic one missed is not told. A
//! request of nothing would disarm it, so that it asks for a microsecond. Sources: `setitimer(2)`,
//! `signal(7)`.

use crate::waits::method::methods;

methods! { "Linux", target_os = "linux";
    Armed<Setitimer>, "setitimer", "setitimer(ITIMER_REAL), sigwaitinfo()", 1_000, false, ALL;
}

#[cfg(target_os = "linux")]
use here::*;
#[cfg(target_os = "linux")]
mod here {
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

    use libc::{ITIMER_REAL, SIGALRM, c_int, c_void, itimerval, siginfo_t};

    use crate::Unavailable;
    use crate::os::linux_waits::call::{error_number, opened, timeval};
    pub(super) use crate::os::linux_waits::kernel_timers::Armed;
    use crate::os::linux_waits::kernel_timers::{AwaitedSignals, KernelTimer};

    /// The thread that has the timer of this process; 0 is none.
    static HOLDER: AtomicI32 = AtomicI32::new(0);

    /// How many signals came to threads that do not wait for them.
    static MISDIRECTED: AtomicU32 = AtomicU32::new(0);

    /// Passes the signal on to the thread that waits for it, which has it blocked and is never
    /// here. The thread that got it has it blocked from then on.
    extern "C" fn pass_on(signal: c_int, _: *mut siginfo_t, context: *mut c_void) {
        MISDIRECTED.fetch_add(1, Ordering::SeqCst);
        let thread = HOLDER.load(Ordering::SeqCst);
        // SAFETY: the kernel gives a handler a valid context, whose mask is that of the thread once
        // the handler is left. All of these may be called in a handler; `errno` belongs to the
        // interrupted thread.
        unsafe {
            let number = *libc::__errno_location();
            block_in(context, signal);
            if thread != 0 {
                libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, signal);
            }
            *libc::__errno_location() = number;
        }
    }

    /// Adds a signal to those that a thread blocks, once it goes on. Where libc's crate does not
    /// know the context, that thread gets the next one too.
    ///
    /// # Safety
    /// The context is that of a handler which is under way.
    unsafe fn block_in(context: *mut c_void, signal: c_int) {
        let _ = (context, signal);
        #[cfg(any(
            target_arch = "x86",
            target_arch = "x86_64",
            target_arch = "arm",
            target_arch = "aarch64",
            target_arch = "riscv64",
            target_arch = "loongarch64",
            target_arch = "s390x"
        ))]
        // SAFETY: as required of the caller.
        unsafe {
            libc::sigaddset(
                &raw mut (*context.cast::<libc::ucontext_t>()).uc_sigmask,
                signal,
            );
        }
    }

    /// The timer of this process, held until it is dropped.
    pub(super) struct Setitimer {
        signals: AwaitedSignals,
    }

    impl KernelTimer for Setitimer {
        fn prepare() -> Result<Self, Unavailable> {
            // SAFETY: no arguments, no preconditions.
            let thread = unsafe { libc::gettid() };
            let signals = AwaitedSignals::block(SIGALRM)?;
            let held = HOLDER.compare_exchange(0, thread, Ordering::SeqCst, Ordering::SeqCst);
            held.map_err(|_| {
                Unavailable::because("the timer of this process is in use: there is one")
            })?;
            let mut timer = Self { signals };
            // SAFETY: numbers, pointers and a set of signals, for which zeros are a value.
            let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
            action.sa_sigaction =
                pass_on as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
            action.sa_flags = libc::SA_RESTART | libc::SA_SIGINFO;
            // SAFETY: the action is initialised, and its handler does only what handlers may.
            let installed = unsafe { libc::sigaction(SIGALRM, &raw const action, ptr::null_mut()) };
            opened("sigaction(SIGALRM)", error_number(installed))?;
            opened("setitimer(ITIMER_REAL)", timer.set(0, 0))?;
            timer.have_others_block_it();
            Ok(timer)
        }

        #[inline(always)]
        fn set(&self, first_ns: u64, period_ns: u64) -> c_int {
            let times = itimerval {
                it_interval: timeval(period_ns),
                it_value: timeval(first_ns),
            };
            // SAFETY: the times are read, the former ones are not asked for.
            error_number(unsafe { libc::setitimer(ITIMER_REAL, &raw const times, ptr::null_mut()) })
        }

        #[inline(always)]
        fn expire(&mut self) {
            self.signals.take();
        }

        #[inline(always)]
        fn clear(&self) {
            self.signals.clear();
        }
    }

    impl Setitimer {
        /// Sends signals until none reaches another thread: each of the others gets one at most,
        /// unless they become more meanwhile.
        fn have_others_block_it(&mut self) {
            const MOST_THREADS: u32 = 1 << 10;
            for _ in 0..MOST_THREADS {
                let before = MISDIRECTED.load(Ordering::SeqCst);
                self.set(1, 0);
                self.expire();
                if MISDIRECTED.load(Ordering::SeqCst) == before {
                    break;
                }
            }
        }
    }

    impl Drop for Setitimer {
        fn drop(&mut self) {
            self.set(0, 0);
            self.clear();
            HOLDER.store(0, Ordering::SeqCst);
        }
    }
}
