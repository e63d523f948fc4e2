//! Checks that there is enough memory, defines the largest number of timers, and runs work on a
//! stack of sufficient size.

use std::thread;

/// The largest number of timers that an agent may host, and of unavailable timers that it may
/// report.
pub const MAX_TIMERS: usize = 4_096;

/// The memory in bytes that a command needs in addition to what the program and its libraries
/// take: its stack of [`MAIN_STACK_BYTES`] and several times what a command allocates for a report
/// of usual size; half as much lets all commands run on those.
const MIN_MEMORY_BYTES: usize = 40 << 20;

/// Whether this process may allocate `more` bytes than a command needs. The memory is not touched.
pub fn has_memory(more: usize) -> bool {
    let mut block = Vec::<u8>::new();
    let is_reserved = block.try_reserve_exact(MIN_MEMORY_BYTES.saturating_add(more));
    // Without this the compiler may leave the allocation out.
    std::hint::black_box(&block);
    is_reserved.is_ok()
}

/// The error of a process that may not allocate as much memory as a command needs.
#[derive(Debug, thiserror::Error)]
#[error("there is not enough memory, or a limit of this process is too low")]
pub struct LackOfMemory;

/// Checks that this process may allocate as much memory as a command needs: where an allocation
/// fails later, the program can only abort.
///
/// # Errors
/// When it may not.
pub fn check_memory() -> Result<(), LackOfMemory> {
    has_memory(0).then_some(()).ok_or(LackOfMemory)
}

/// The stack size for the main work of the program in bytes, which `ulimit -s` does not affect.
const MAIN_STACK_BYTES: usize = 8 << 20;

/// Runs `work` in a thread with a stack of [`MAIN_STACK_BYTES`], or in the calling thread if no
/// thread can start.
///
/// # Panics
/// When `work` panics.
pub fn run_on_large_stack<T: Send>(work: impl Fn() -> T + Sync) -> T {
    let named = thread::Builder::new().name("timermeter".into());
    let joined = thread::scope(|scope| {
        let started = named
            .stack_size(MAIN_STACK_BYTES)
            .spawn_scoped(scope, &work);
        Some(started.ok()?.join())
    });
    match joined {
        Some(ended) => ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        None => work(),
    }
}
