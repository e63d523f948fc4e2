//! A process that may not read the counter of the CPU regains the permission. The test has its own
//! program, because the permission affects the whole process.

#![cfg(all(target_os = "linux", any(target_arch = "x86", target_arch = "x86_64")))]

use std::time::Instant;

use timers::find;
use timers::os::machine::regain_counter;

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "the test checks that the clock is readable"
)]
fn regains_counter_after_refusal() {
    // SAFETY: the call takes integers; no code reads the counter before `regain_counter`.
    let refused = unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV) } == 0;
    regain_counter();
    // Without the permission this call would end the process.
    let _ = Instant::now();
    if !refused {
        // An emulator that does not support the call.
        return;
    }
    for id in ["rdtsc", "rdtscp", "rdtsc-lfence", "quanta"] {
        let why = (find(id).unwrap().availability)().expect_err(id);
        assert!(
            why.reason.contains("prctl(PR_SET_TSC, PR_TSC_SIGSEGV)"),
            "{id}: {why:?}"
        );
    }
    assert_eq!((find("monotonic-syscall").unwrap().availability)(), Ok(()));
}
