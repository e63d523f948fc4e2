//! The clocks that the C library reads, and the system calls that read the same clocks.

pub use libc::clockid_t;

pub use super::clocks::preloaded;
use super::clocks::*;
use crate::os::posix::{Route, read_checked};

/// Whether the system call is made without the C library: on other processors a preloaded library
/// may replace its function `syscall` too.
pub const CALLS_DIRECTLY: bool = cfg!(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "riscv64"
));

/// The ids of the clocks; the clocks of the kernel between which each has to be, as some versions of
/// `time` return the last tick; and the clock that tells when, which nobody sets.
pub const CLOCKS: &[(&str, [clockid_t; 3])] = &[
    ("monotonic", [CLOCK_MONOTONIC; 3]),
    ("monotonic-raw", by_kernel(CLOCK_MONOTONIC_RAW)),
    ("monotonic-coarse", [CLOCK_MONOTONIC_COARSE; 3]),
    ("realtime", by_kernel(CLOCK_REALTIME)),
    (
        "realtime-coarse",
        [
            CLOCK_REALTIME_COARSE,
            CLOCK_REALTIME_COARSE,
            CLOCK_MONOTONIC_COARSE,
        ],
    ),
    ("boottime", by_kernel(CLOCK_BOOTTIME)),
    ("tai", by_kernel(CLOCK_TAI)),
    ("gettimeofday", by_kernel(CLOCK_REALTIME)),
    (
        "time",
        [CLOCK_REALTIME_COARSE, CLOCK_REALTIME, CLOCK_MONOTONIC],
    ),
];

const fn by_kernel(clock: clockid_t) -> [clockid_t; 3] {
    [clock, clock, CLOCK_MONOTONIC]
}

/// The time of a clock by the system call, in nanoseconds; `None` if it fails.
pub fn read_by_call(clock: clockid_t) -> Option<i64> {
    SystemCall::permitted(clock).ok()?;
    read_checked::<SystemCall>(clock, "").ok()
}
