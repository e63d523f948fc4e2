//! The timer of the process, `setitimer`.
//!
//! What ticks: a high-resolution timer of CLOCK_MONOTONIC. At what granularity: microseconds. Who
//! may use it: any process; each process has one such timer, which `alarm` shares. Caveats: its
//! signal, SIGALRM, is sent to the process. The waiting thread keeps the signal blocked and takes
//! it synchronously. If another thread receives the signal, its handler forwards the signal to the
//! waiting thread by `tgkill`, which adds latency, and blocks the signal in the receiving thread from
//! then on; where a sandbox refuses `tgkill`, the timer is unavailable.
//! Each wait takes two calls. Missed expirations of a periodic timer are not reported. A request of
//! 0 ns would disarm the timer, so it is raised to 1 µs. Sources: `setitimer(2)`, `signal(7)`.

use crate::waits::method::methods;

methods! { "Linux", target_os = "linux";
    Armed<Setitimer>, "setitimer", "setitimer(ITIMER_REAL), sigwaitinfo()", ALL, unit_ns: 1_000;
}

#[cfg(target_os = "linux")]
use here::*;
#[cfg(target_os = "linux")]
mod here {
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

    use libc::{ITIMER_REAL, SIGALRM, c_int, c_void, itimerval, siginfo_t};

    use crate::os::linux_waits::call::{check_first_call, error_number, timeval};
    pub(super) use crate::os::linux_waits::kernel_timers::Armed;
    use crate::os::linux_waits::kernel_timers::{AwaitedSignals, KernelTimer};
    use crate::{Available, Unavailable};

    /// The id of the thread that uses the timer of this process; 0 if unused.
    static HOLDER_THREAD: AtomicI32 = AtomicI32::new(0);

    /// The number of signals that were delivered to threads other than the waiting thread.
    static MISDIRECTED_SIGNALS: AtomicU32 = AtomicU32::new(0);

    /// Signal handler: forwards the signal to the waiting thread and blocks it in the thread that
    /// received it. The waiting thread never runs this handler, because it has the signal blocked.
    extern "C" fn forward_signal(signal: c_int, _: *mut siginfo_t, context: *mut c_void) {
        MISDIRECTED_SIGNALS.fetch_add(1, Ordering::SeqCst);
        let thread = HOLDER_THREAD.load(Ordering::SeqCst);
        // SAFETY: the kernel passes a valid context, whose signal mask becomes the mask of the
        // thread when the handler returns. All calls are async-signal-safe; `errno` is saved and
        // restored for the interrupted thread.
        unsafe {
            let number = *libc::__errno_location();
            block_in(context, signal);
            if thread != 0 {
                send_to_thread(thread, signal);
            }
            *libc::__errno_location() = number;
        }
    }

    /// Sends a signal to a thread of this process. Returns the error number, 0 if none.
    fn send_to_thread(thread: c_int, signal: c_int) -> c_int {
        // SAFETY: the calls take no pointers and are async-signal-safe.
        error_number(unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, signal) })
    }

    /// Adds a signal to the mask that the interrupted thread resumes with. No effect on processors
    /// for which the crate `libc` does not define `ucontext_t`: such a thread may receive the next
    /// signal too.
    ///
    /// # Safety
    /// `context` must be the context passed to the signal handler that is running.
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
        // SAFETY: the caller passes the valid context of the running handler.
        unsafe {
            libc::sigaddset(
                &raw mut (*context.cast::<libc::ucontext_t>()).uc_sigmask,
                signal,
            );
        }
    }

    /// The timer of this process, held until it is dropped.
    pub struct Setitimer {
        signals: AwaitedSignals,
    }

    impl KernelTimer for Setitimer {
        fn prepare() -> Available<Self> {
            // SAFETY: the call has no arguments and no preconditions.
            let thread = unsafe { libc::gettid() };
            let signals = AwaitedSignals::block(SIGALRM)?;
            // A sandbox may refuse the call, or let it succeed without effect; a signal that another
            // thread receives would then never arrive.
            check_first_call("tgkill()", send_to_thread(thread, SIGALRM))?;
            if signals.wait_at_most(0) != SIGALRM {
                return Err(Unavailable::because(
                    "the kernel accepts tgkill() and sends no signal",
                ));
            }
            let held =
                HOLDER_THREAD.compare_exchange(0, thread, Ordering::SeqCst, Ordering::SeqCst);
            held.map_err(|_| {
                Unavailable::because(
                    "the timer of this process is in use; each process has only one",
                )
            })?;
            let mut timer = Self { signals };
            // SAFETY: a sigaction consists of integers, nullable pointers and a signal set;
            // all-zero bytes are a valid value.
            let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
            action.sa_sigaction =
                forward_signal as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
            action.sa_flags = libc::SA_RESTART | libc::SA_SIGINFO;
            // SAFETY: the action is initialised, and its handler is async-signal-safe.
            let installed = unsafe { libc::sigaction(SIGALRM, &raw const action, ptr::null_mut()) };
            check_first_call("sigaction(SIGALRM)", error_number(installed))?;
            check_first_call("setitimer(ITIMER_REAL)", timer.set(0, 0))?;
            timer.block_in_other_threads();
            Ok(timer)
        }

        #[inline(always)]
        fn set(&self, first_ns: u64, period_ns: u64) -> c_int {
            let times = itimerval {
                it_interval: timeval(period_ns),
                it_value: timeval(first_ns),
            };
            // SAFETY: the kernel reads one valid itimerval; a null pointer for the old value is
            // allowed.
            error_number(unsafe { libc::setitimer(ITIMER_REAL, &raw const times, ptr::null_mut()) })
        }

        #[inline(always)]
        fn await_expiration(&mut self) {
            self.signals.take();
        }

        #[inline(always)]
        fn clear(&self) {
            self.signals.clear();
        }
    }

    impl Setitimer {
        /// Fires the timer until no signal reaches another thread. Each other thread receives at
        /// most one signal, because it blocks the signal then; new threads may add to that.
        fn block_in_other_threads(&mut self) {
            const MAX_THREADS: u32 = 1 << 10;
            for _ in 0..MAX_THREADS {
                let before = MISDIRECTED_SIGNALS.load(Ordering::SeqCst);
                self.set(1, 0);
                self.await_expiration();
                if MISDIRECTED_SIGNALS.load(Ordering::SeqCst) == before {
                    break;
                }
            }
        }
    }

    impl Drop for Setitimer {
        fn drop(&mut self) {
            self.set(0, 0);
            self.clear();
            HOLDER_THREAD.store(0, Ordering::SeqCst);
        }
    }
}
