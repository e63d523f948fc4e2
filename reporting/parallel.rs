//! Distributes work over the CPUs with the thread pool of the crate rayon.

use std::sync::{Mutex, Once, PoisonError};
use std::thread;

use rayon::prelude::*;

/// Calls `work` for all items. Returns the results in the order of the items.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    for_each(items.len(), &|index| {
        let result = work(&items[index]);
        *results[index]
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    results
        .into_iter()
        .filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect()
}

/// Runs `here` on this thread, and `elsewhere` at the same time on another thread. Returns both
/// results. `here` may use data that cannot move to another thread.
pub fn join<A, B: Send>(here: impl FnOnce() -> A, elsewhere: impl FnOnce() -> B + Send) -> (A, B) {
    start_workers();
    let mut second = None;
    let first = rayon::in_place_scope(|scope| {
        scope.spawn(|_| second = Some(elsewhere()));
        here()
    });
    (first, second.expect("the scope waits for the other thread"))
}

/// Calls `work` for each index below `count`. This function is not generic, so that the parallel
/// iterator is compiled only once. A single item needs no threads.
fn for_each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    if count < 2 {
        return (0..count).for_each(work);
    }
    start_workers();
    (0..count).into_par_iter().for_each(work);
}

/// Starts one worker thread for each CPU that the calling thread may use; later calls do nothing.
/// If the system does not allow so many threads, the calling thread does the work alone. Threads
/// that restrict their affinity call this function first, because worker threads inherit the
/// affinity.
pub fn start_workers() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        // The pool can be built only once, so `can_start` checks first. One more thread is checked
        // than needed, because a thread of the check may still be ending when the pool starts its
        // threads.
        let builder = rayon::ThreadPoolBuilder::new();
        let builder = if can_start(threads + 1) {
            builder.num_threads(threads)
        } else {
            builder.num_threads(1).use_current_thread()
        };
        // Fails if a program that uses this library has already built the pool.
        let _ = builder.build_global();
    });
}

/// Whether this number of threads can run at the same time.
fn can_start(threads: usize) -> bool {
    /// The stack size of threads that only wait, in bytes.
    const STACK_BYTES: usize = 64 << 10;
    let gate = Mutex::new(());
    // The threads wait for this lock, so that none ends before all have started.
    let closed = gate.lock();
    thread::scope(|scope| {
        let wait = || drop(gate.lock());
        let start = |_| {
            thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, wait)
                .is_ok()
        };
        let have_all_started = (0..threads).all(start);
        drop(closed);
        have_all_started
    })
}

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn map_keeps_order_and_nests() {
        let all: Vec<usize> = (0..1_000).collect();
        let sums = map(&all, |&last| {
            map(&all[..last % 9], |number| number + 1)
                .iter()
                .sum::<usize>()
        });
        assert!(
            all.iter()
                .zip(sums)
                .all(|(last, sum)| sum == (1..=last % 9).sum::<usize>())
        );
    }
}
