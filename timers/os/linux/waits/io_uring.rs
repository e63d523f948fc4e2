//! The timeout of `io_uring`.
//!
//! What ticks: a high-resolution timer of CLOCK_MONOTONIC. At what granularity: nanoseconds. Who
//! may use it: processes that `kernel.io_uring_disabled` permits (container seccomp profiles forbid
//! it), since Linux 5.4. Caveats: each wait is one call, which submits the timeout and waits for
//! its completion; arming and cancelling takes two calls. Sources: `io_uring_setup(2)`,
//! `io_uring_enter(2)`, `io_uring_prep_timeout(3)`.

use crate::waits::method::methods;

methods! { "64-bit Linux", all(target_os = "linux", target_pointer_width = "64", not(target_arch = "s390x"));
    here::Timeout, "io-uring-timeout", "io_uring_enter() of IORING_OP_TIMEOUT", WAITS_AND_ARMS;
}

/// The implementation, for the processors that the crate `io-uring` supports.
#[cfg(all(
    target_os = "linux",
    target_pointer_width = "64",
    not(target_arch = "s390x")
))]
mod here {
    use std::io;

    use io_uring::types::Timespec;
    use io_uring::{IoUring, opcode, squeue};

    use crate::os::clocks::explain_failure;
    use crate::waits::method::WaitMethod;
    use crate::{Available, Unavailable};

    /// The size of the submission queue: a timeout and its cancellation.
    const QUEUE_ENTRIES: u32 = 2;

    /// The user data that identifies the timeout to cancel.
    const TIMEOUT_ID: u64 = 1;

    pub(super) struct Timeout(IoUring);

    impl Timeout {
        /// Submits an entry, waits for `awaited` completions and returns the result of the last.
        fn complete(&mut self, entry: &squeue::Entry, mut awaited: usize) -> io::Result<i32> {
            self.push(entry)?;
            loop {
                match self.0.submit_and_wait(awaited) {
                    Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                    _ => {}
                }
                for completion in self.0.completion() {
                    awaited -= 1;
                    if awaited == 0 {
                        return Ok(completion.result());
                    }
                }
            }
        }

        fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
            // SAFETY: an entry points to a timespec on the caller's stack. The kernel copies it
            // during submission, which happens before the caller returns.
            unsafe { self.0.submission().push(entry) }.map_err(io::Error::other)
        }

        fn try_once(&mut self) -> io::Result<()> {
            let time = after(1);
            match self.complete(&opcode::Timeout::new(&time).build(), 1)? {
                result if result == -libc::ETIME => Ok(()),
                result => Err(io::Error::from_raw_os_error(-result)),
            }
        }
    }

    fn after(nanoseconds: u64) -> Timespec {
        std::time::Duration::from_nanos(nanoseconds).into()
    }

    impl WaitMethod for Timeout {
        fn open(label: &'static str) -> Available<Self> {
            let opened = IoUring::new(QUEUE_ENTRIES)
                .map(Self)
                .and_then(|mut timeout| {
                    timeout.try_once()?;
                    Ok(timeout)
                });
            opened.map_err(|error| {
                let why = explain_failure(label, &error);
                match std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled") {
                    Ok(setting) if setting.trim() != "0" => Unavailable::because(format!(
                        "{}; kernel.io_uring_disabled is {}",
                        why.reason,
                        setting.trim()
                    ))
                    .remedy("`sysctl kernel.io_uring_disabled=0` as root"),
                    _ => why,
                }
            })
        }

        fn wait(&mut self, nanoseconds: u64) {
            let time = after(nanoseconds);
            let _ = self.complete(&opcode::Timeout::new(&time).build(), 1);
        }

        fn arm_and_cancel(&mut self, nanoseconds: u64) {
            let time = after(nanoseconds);
            let entry = opcode::Timeout::new(&time).build().user_data(TIMEOUT_ID);
            if self.push(&entry).is_ok() {
                // Errors are ignored: `open` has checked the call, and submitting does not block.
                let _ = self.0.submit();
                let _ = self.complete(&opcode::TimeoutRemove::new(TIMEOUT_ID).build(), 2);
            }
        }
    }
}
