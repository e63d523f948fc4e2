//! How often clocks are read by system calls.

use std::time::Duration;

/// While a thread reads a clock by system calls, they are counted, or it is said why not.
#[cfg(target_os = "linux")]
#[test]
fn calls_of_other_threads_are_counted() {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    let (over, made) = (AtomicBool::new(false), AtomicU64::new(0));
    let counted = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                // SAFETY: the time is written to memory of ours.
                unsafe {
                    libc::syscall(
                        libc::SYS_gettimeofday,
                        [0_i64; 2].as_mut_ptr(),
                        std::ptr::null_mut::<u8>(),
                    )
                };
                made.fetch_add(1, Ordering::Relaxed);
            }
        });
        let counted = timers::clock_calls(Duration::from_millis(50));
        over.store(true, Ordering::Relaxed);
        counted
    });
    match counted {
        Ok(calls) => assert!(calls > 0.0, "none of {}", made.load(Ordering::Relaxed)),
        Err(why) => eprintln!("skipped: {why}"),
    }
}

#[cfg(not(target_os = "linux"))]
#[test]
fn elsewhere_they_cannot_be_counted() {
    assert!(timers::clock_calls(Duration::ZERO).is_err());
}
