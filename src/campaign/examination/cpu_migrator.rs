//! Moves all threads of a process from CPU to CPU while it is measured.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// Time between two moves.
const TIME_PER_CPU: Duration = Duration::from_micros(300);

/// Runs `work` while another thread moves all threads of a process from CPU to CPU of `cpus`; then
/// allows the process all of `cpus` again. `work` can read the number of moves so far. With fewer
/// than two CPUs, nothing is moved.
pub(super) fn while_migrating<T>(
    process: u32,
    cpus: &[u32],
    work: impl FnOnce(&AtomicU32) -> T,
) -> T {
    let (is_over, moves) = (AtomicBool::new(false), AtomicU32::new(0));
    if cpus.len() < 2 {
        return work(&moves);
    }
    let migrate = || {
        for cpu in cpus.iter().cycle() {
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            let moved = timers::move_process(process, &[*cpu]);
            moves.fetch_add(u32::from(moved), Ordering::Relaxed);
            timers::pause(TIME_PER_CPU);
        }
        timers::move_process(process, cpus);
    };
    thread::scope(|scope| {
        // If no thread can be started, the process is not moved.
        let _ = thread::Builder::new().spawn_scoped(scope, migrate);
        let result = work(&moves);
        is_over.store(true, Ordering::Relaxed);
        result
    })
}
