//! Shares work among the CPUs.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::limits::has_memory;

/// The stack size of a thread in bytes, the default of the standard library.
const STACK_BYTES: usize = 2 << 20;

thread_local! {
    /// Whether this thread does a part of shared work; what that calls is not shared again.
    static IS_WORKING: Cell<bool> = const { Cell::new(false) };
}

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

/// Calls `work` for each index below `count`, in this thread and in one more for each further CPU that it
/// may use. Fewer threads do the work if the system does not allow so many.
fn for_each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    let next = AtomicUsize::new(0);
    let work_on = || {
        let was_working = IS_WORKING.replace(true);
        loop {
            match next.fetch_add(1, Ordering::Relaxed) {
                index if index < count => work(index),
                _ => break,
            }
        }
        IS_WORKING.set(was_working);
    };
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let further = match IS_WORKING.get() {
        true => 0,
        false => cpus.min(count).saturating_sub(1),
    };
    thread::scope(|scope| {
        // If the stacks leave no memory, a new thread panics before it works.
        if further > 0 && has_memory(further.saturating_mul(STACK_BYTES)) {
            for _ in 0..further {
                let thread = thread::Builder::new().stack_size(STACK_BYTES);
                let _ = thread.spawn_scoped(scope, work_on);
            }
        }
        work_on();
    });
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
