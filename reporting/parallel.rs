//! Distributes work over the CPUs.

use std::sync::{Mutex, Once, PoisonError};
use std::thread;

use rayon::prelude::*;

/// The results of `of` for all items, in the order of the items.
pub fn mapped<T: Sync, R: Send>(items: &[T], of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let made: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    each(items.len(), &|at| {
        let one = of(&items[at]);
        *made[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(one);
    });
    made.into_iter()
        .filter_map(|one| one.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect()
}

/// Runs `one` on this thread, which may hold locks, and `other` concurrently. Returns both results.
pub fn both<A, B: Send>(one: impl FnOnce() -> A, other: impl FnOnce() -> B + Send) -> (A, B) {
    share_work();
    let mut second = None;
    let first = rayon::in_place_scope(|scope| {
        scope.spawn(|_| second = Some(other()));
        one()
    });
    (first, second.expect("the scope ends after it"))
}

/// Runs `work` for each index. A single loop avoids compiling a parallel iterator for each caller.
/// A single item needs no threads.
fn each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    if count < 2 {
        return (0..count).for_each(work);
    }
    share_work();
    (0..count).into_par_iter().for_each(work);
}

/// Starts the worker threads on all CPUs that the calling thread may use. Callers that restrict
/// their own affinity later call this function first.
pub fn prepare() {
    share_work();
}

/// Starts one worker thread for each CPU once. If the system does not allow so many threads, the
/// calling thread does the work alone.
fn share_work() {
    static SHARED: Once = Once::new();
    SHARED.call_once(|| {
        let wanted = thread::available_parallelism().map_or(1, usize::from);
        // The global pool can be built only once. The check includes a spare thread, because the
        // threads of the check end with some delay.
        let builder = rayon::ThreadPoolBuilder::new();
        let builder = if can_start(wanted + 1) {
            builder.num_threads(wanted)
        } else {
            builder.num_threads(1).use_current_thread()
        };
        // Fails if a program that uses this library has already built the pool.
        let _ = builder.build_global();
    });
}

/// Whether this number of threads can run at the same time.
fn can_start(threads: usize) -> bool {
    /// Stack size in bytes for threads that only wait.
    const STACK_BYTES: usize = 64 << 10;
    let gate = Mutex::new(());
    let closed = gate.lock();
    thread::scope(|scope| {
        let wait = || drop(gate.lock());
        let start = |_| {
            thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, wait)
                .is_ok()
        };
        let all = (0..threads).all(start);
        drop(closed);
        all
    })
}

#[cfg(test)]
mod tests {
    use super::mapped;

    #[test]
    fn keeps_order_and_allows_nesting() {
        let all: Vec<usize> = (0..1_000).collect();
        let sums = mapped(&all, |&last| {
            mapped(&all[..last % 9], |number| number + 1)
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
