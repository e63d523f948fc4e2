//! Explains which system limit of this process is too low, and defines the largest number of
//! timers.

use std::{io, thread};

use timers::os::Shortage;
use timers::os::limits::shortage;

/// The largest number of timers that an agent may host, and of missing timers that it may report.
pub const MOST_TIMERS: usize = 4_096;

/// Names the exhausted resource and the required amount, if `error` is due to a limit.
#[must_use]
pub fn explain(error: &io::Error) -> Option<String> {
    let at_most =
        |most: Option<u64>| most.map_or_else(String::new, |most| format!(" (at most {most})"));
    Some(match shortage(error)? {
        Shortage::Files(most) => {
            format!(
                "too many open files{}: allow more, with `ulimit -n 1024`",
                at_most(most)
            )
        }
        Shortage::FilesOfAll => {
            "the whole system has too many open files: end what holds them".into()
        }
        Shortage::Processes(most) => format!(
            "no more processes or threads may be started{}: allow more, with `ulimit -u` or in the cgroup (pids.max)",
            at_most(most)
        ),
        Shortage::Memory => {
            "there is not enough memory: end what holds it, or allow more with `ulimit -v`".into()
        }
    })
}

/// Stack size in bytes for the main work of the program, regardless of `ulimit -s`.
const MAIN_STACK_BYTES: usize = 8 << 20;

/// Runs `work` in a thread with a large stack, or in the calling thread if no thread can start.
///
/// # Panics
/// When `work` panics.
pub fn on_roomy_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let mut work = Some(work);
    let done = thread::scope(|scope| {
        let work = &mut work;
        let roomy = thread::Builder::new()
            .name("timermeter".into())
            .stack_size(MAIN_STACK_BYTES);
        let started = roomy.spawn_scoped(scope, move || work.take().map(|work| work()));
        started.ok().map(thread::ScopedJoinHandle::join)
    });
    match (done, work) {
        (Some(Ok(Some(done))), _) => done,
        (Some(Err(panic)), _) => std::panic::resume_unwind(panic),
        (_, Some(work)) => work(),
        (Some(Ok(None)) | None, None) => {
            unreachable!("only the thread that does the work takes it")
        }
    }
}
