//! Work that the CPUs share.

use std::sync::{Mutex, Once, PoisonError};
use std::thread;

use rayon::prelude::*;

/// What `of` makes of each item, in their order.
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

/// What comes of both: of `one` on this thread, which may hold locks, and meanwhile of the other.
pub fn both<A, B: Send>(one: impl FnOnce() -> A, other: impl FnOnce() -> B + Send) -> (A, B) {
    share_work();
    let mut second = None;
    let first = rayon::in_place_scope(|scope| {
        scope.spawn(|_| second = Some(other()));
        one()
    });
    (first, second.expect("the scope ends after it"))
}

/// One loop for all: a parallel iterator of its own would be compiled for each of them. What cannot
/// be shared needs no threads.
fn each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    if count < 2 {
        return (0..count).for_each(work);
    }
    share_work();
    (0..count).into_par_iter().for_each(work);
}

/// Starts the threads that share work, on all CPUs that the calling thread may run on: for who will
/// keep off one of them for a while.
pub fn prepare() {
    share_work();
}

/// Has work be shared by as many threads as there are CPUs; where the system does not allow them,
/// this thread does it alone.
fn share_work() {
    static SHARED: Once = Once::new();
    SHARED.call_once(|| {
        let wanted = thread::available_parallelism().map_or(1, usize::from);
        // It can be asked for once only. One more than needed, as those that were tried go with
        // some delay.
        let builder = rayon::ThreadPoolBuilder::new();
        let builder = if can_start(wanted + 1) {
            builder.num_threads(wanted)
        } else {
            builder.num_threads(1).use_current_thread()
        };
        // A user of this as a library has made one.
        let _ = builder.build_global();
    });
}

/// Whether this many threads can run at once.
fn can_start(threads: usize) -> bool {
    /// Bytes for a stack that nothing is put on.
    const SMALL: usize = 64 << 10;
    let gate = Mutex::new(());
    let closed = gate.lock();
    thread::scope(|scope| {
        let wait = || drop(gate.lock());
        let start = |_| {
            thread::Builder::new()
                .stack_size(SMALL)
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
