//! Distributes work over the CPUs with a thread pool of the crate rayon.

use std::sync::OnceLock;
use std::thread;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::limits::has_memory;

/// Calls `work` for all items. Returns the results in the order of the items.
pub fn map<T: Sync, R: Send + Sync>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let results: Vec<OnceLock<R>> = items.iter().map(|_| OnceLock::new()).collect();
    for_each(items.len(), &|index| {
        results[index].get_or_init(|| work(&items[index]));
    });
    results
        .into_iter()
        .filter_map(OnceLock::into_inner)
        .collect()
}

/// Calls `work` for each index below `count`. This function is not generic, so that the parallel
/// iterator is compiled only once. A single item needs no threads.
fn for_each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    match (count >= 2).then(workers).flatten() {
        Some(pool) => pool.install(|| (0..count).into_par_iter().for_each(work)),
        None => (0..count).for_each(work),
    }
}

/// Starts one worker thread for each CPU that the calling thread may use; later calls do nothing.
/// Threads that restrict their affinity call this function first, because worker threads inherit
/// the affinity.
pub fn start_workers() {
    workers();
}

/// The worker threads; `None` if the system does not allow so many threads or so much memory, so
/// that the calling thread does the work alone.
fn workers() -> Option<&'static ThreadPool> {
    /// The stack size of a worker thread in bytes, the default of the standard library.
    const STACK_BYTES: usize = 2 << 20;
    static WORKERS: OnceLock<Option<ThreadPool>> = OnceLock::new();
    WORKERS
        .get_or_init(|| {
            let threads = thread::available_parallelism().map_or(1, usize::from);
            // If the stacks leave no memory, a new thread panics before it works.
            if !has_memory(threads.saturating_mul(STACK_BYTES)) {
                return None;
            }
            let builder = ThreadPoolBuilder::new().num_threads(threads);
            builder.stack_size(STACK_BYTES).build().ok()
        })
        .as_ref()
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
