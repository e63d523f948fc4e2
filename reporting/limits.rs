//! Explains errors that are due to limits of the system, defines the largest number of timers, and
//! runs work on a stack of sufficient size.

use std::{io, thread};

use timers::os::limits::{memory_limit, shortage};
use timers::os::{ProcessMemoryLimit, Shortage};

/// The largest number of timers that an agent may host, and of unavailable timers that it may
/// report.
pub const MAX_TIMERS: usize = 4_096;

/// Explains which resource is exhausted and how to allow more of it; `None` if `error` has another
/// cause.
pub fn explain_shortage(error: &io::Error) -> Option<String> {
    let limit_in_words =
        |limit: Option<u64>| limit.map_or_else(String::new, |limit| format!(" (at most {limit})"));
    let shortage = shortage(error)?;
    // A thread that gets no memory for its stack fails as if there were too many threads.
    if matches!(shortage, Shortage::Processes(_)) && !has_memory(0) {
        return Some(explain_lack_of_memory());
    }
    Some(match shortage {
        Shortage::Files(limit) => {
            format!(
                "too many open files{}: allow more, with `ulimit -n 1024`",
                limit_in_words(limit)
            )
        }
        Shortage::FilesOfAll => {
            "the whole system has too many open files: end programs that hold many files open"
                .into()
        }
        Shortage::Processes(limit) => format!(
            "no more processes or threads may be started{}: allow more, with `ulimit -u` or in the cgroup (pids.max)",
            limit_in_words(limit)
        ),
        Shortage::Memory => explain_lack_of_memory(),
    })
}

fn explain_lack_of_memory() -> String {
    match memory_limit() {
        Some(ProcessMemoryLimit { bytes, command }) => format!(
            "there is not enough memory (at most {} MiB): allow more, with `{command}`",
            bytes >> 20
        ),
        None => "there is not enough memory: end other programs".into(),
    }
}

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
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("{}", explain_lack_of_memory())]
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
pub fn run_on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let mut work = Some(work);
    let result = thread::scope(|scope| {
        let work = &mut work;
        let builder = thread::Builder::new()
            .name("timermeter".into())
            .stack_size(MAIN_STACK_BYTES);
        let started = builder.spawn_scoped(scope, move || work.take().map(|work| work()));
        started.ok().map(thread::ScopedJoinHandle::join)
    });
    match (result, work) {
        (Some(Ok(Some(result))), _) => result,
        (Some(Err(panic)), _) => std::panic::resume_unwind(panic),
        (_, Some(work)) => work(),
        (Some(Ok(None)) | None, None) => {
            unreachable!("a thread that was started takes the work")
        }
    }
}
