//! A process that may not read the counter of the CPU, by itself: what it takes back is of the
//! whole process.

#![cfg(all(target_os = "linux", any(target_arch = "x86", target_arch = "x86_64")))]

use std::time::Instant;

use timers::find;
use timers::os::machine::regain_counter;

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "whether it can be read at all is the question"
)]
fn regains_counter_after_refusal() {
    // SAFETY: plain integers; nothing reads the counter before it is given back.
    let refused = unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV) } == 0;
    regain_counter();
    // Without the permission this would be the end.
    let _ = Instant::now();
    if !refused {
        // An emulator, which knows no such thing.
        return;
    }
    for id in ["rdtsc", "rdtscp", "rdtsc-lfence", "quanta"] {
        let why = (find(id).expect("known").availability)().expect_err(id);
        assert!(
            why.reason.contains("prctl(PR_SET_TSC, PR_TSC_SIGSEGV)"),
            "{id}: {why:?}"
        );
    }
    assert_eq!(
        (find("monotonic-syscall").expect("known").availability)(),
        Ok(())
    );
}
