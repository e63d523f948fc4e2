//! Moves all threads of a process from CPU to CPU while it is measured.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// Time that the process stays on a CPU.
const TIME_PER_CPU: Duration = Duration::from_micros(300);

/// Runs `work` while another thread moves all threads of a process over these CPUs in turn, if
/// there are at least two; then allows the process all of them again. `work` can read the number of
/// moves so far.
pub(super) fn while_migrating<T>(
    process: u32,
    cpus: &[u32],
    work: impl FnOnce(&AtomicU32) -> T,
) -> T {
    let (over, moves) = (AtomicBool::new(false), AtomicU32::new(0));
    if cpus.len() < 2 {
        return work(&moves);
    }
    let migrate = || {
        for cpu in cpus.iter().cycle() {
            if over.load(Ordering::Relaxed) {
                break;
            }
            let moved = timers::move_process(process, &[*cpu]);
            moves.fetch_add(u32::from(moved), Ordering::Relaxed);
            thread::sleep(TIME_PER_CPU);
        }
        timers::move_process(process, cpus);
    };
    thread::scope(|scope| {
        // If no thread can be started, the process is not moved.
        let _ = thread::Builder::new().spawn_scoped(scope, migrate);
        let worked = work(&moves);
        over.store(true, Ordering::Relaxed);
        worked
    })
}
