//! Which CPUs threads may run on.

use std::io;
use std::sync::OnceLock;

use crate::os::AffinityError;
use crate::os::affinity::{MOST_CPUS, allow, allowed, explain, threads};

pub(crate) use crate::os::affinity::current as current_cpu;

/// The CPUs the calling thread may run on, in ascending order.
///
/// # Errors
/// When the system does not tell.
pub fn allowed_cpus() -> Result<Vec<u32>, AffinityError> {
    allowed()
}

/// Binds the calling thread, and the threads it starts from now on, to one CPU.
///
/// # Errors
/// When the CPU does not exist, is offline or not allowed; the affinity is then as it was.
pub fn pin_to(cpu: u32) -> Result<(), AffinityError> {
    if cpu >= MOST_CPUS {
        return Err(AffinityError::Absent(cpu));
    }
    let before = allowed()?;
    allow(None, &[cpu]).map_err(|error| explain(cpu, &before, error))?;
    BEFORE_PINNING.get_or_init(|| before);
    Ok(())
}

/// Gives the calling thread back the CPUs that this process had before anything here pinned a
/// thread.
pub fn unpin() {
    if let Some(before) = BEFORE_PINNING.get() {
        // These CPUs were allowed before; if the cpuset changed meanwhile there is nothing to do.
        let _ = allow(None, before);
    }
}

/// Moves a thread of any process of this user to `cpus`, from outside.
///
/// # Errors
/// What the system said.
pub fn move_thread(thread: u32, cpus: &[u32]) -> io::Result<()> {
    allow(Some(thread), cpus)
}

/// Moves all threads of a process to `cpus`; whether at least one could be moved. Threads come and
/// go, so that one that cannot is nothing unusual.
pub fn move_process(process: u32, cpus: &[u32]) -> bool {
    // All of them, also after one could be moved.
    let all = threads(process).unwrap_or_else(|| vec![process]);
    all.into_iter()
        .filter(|&thread| move_thread(thread, cpus).is_ok())
        .count()
        > 0
}

/// The CPUs of this process before anything here pinned a thread: a thread that is bound to one CPU
/// starts others on it, and some questions need two CPUs.
pub(crate) fn cpus_before_pinning() -> Vec<u32> {
    BEFORE_PINNING
        .get()
        .cloned()
        .or_else(|| allowed_cpus().ok())
        .unwrap_or_default()
}

/// The calling thread, and those it starts meanwhile, bound to a CPU or kept off one for a while.
/// Dropping this gives the thread back the CPUs it had.
pub struct Pinned {
    before: Vec<u32>,
}

impl Pinned {
    /// Keeps the calling thread off a CPU that something else measures on. `None` when it has no
    /// other.
    #[must_use]
    pub fn off(cpu: u32) -> Option<Self> {
        let before = allowed().ok()?;
        BEFORE_PINNING.get_or_init(|| before.clone());
        let others: Vec<u32> = before
            .iter()
            .copied()
            .filter(|&other| other != cpu)
            .collect();
        if others.is_empty() {
            return None;
        }
        allow(None, &others).ok()?;
        Some(Self { before })
    }

    /// Binds the calling thread. `None` when that cannot be done: the thread then runs where it
    /// may.
    pub(crate) fn to(cpu: u32) -> Option<Self> {
        let before = allowed().ok()?;
        allow(None, &[cpu]).ok()?;
        Some(Self { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // They were in force before, so it can only fail if the cpuset changed meanwhile: nothing
        // to do then.
        let _ = allow(None, &self.before);
    }
}

static BEFORE_PINNING: OnceLock<Vec<u32>> = OnceLock::new();
