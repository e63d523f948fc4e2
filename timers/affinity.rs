//! Binds threads to CPUs (CPU affinity), and restores the previous affinity.

use std::io;
use std::sync::OnceLock;

use crate::os::AffinityError;
use crate::os::affinity::{MAX_CPUS, allow, allowed, explain, threads};

pub(crate) use crate::os::affinity::current as current_cpu;

/// The CPUs the calling thread may run on, in ascending order.
///
/// # Errors
/// When the system does not report them.
pub fn allowed_cpus() -> Result<Vec<u32>, AffinityError> {
    allowed()
}

/// Binds the calling thread to one CPU; threads that it starts from now on inherit this.
///
/// # Errors
/// When the CPU does not exist, is offline or not allowed. The affinity is then unchanged.
pub fn pin_to(cpu: u32) -> Result<(), AffinityError> {
    if cpu >= MAX_CPUS {
        return Err(AffinityError::Absent(cpu));
    }
    let before = allowed()?;
    allow(None, &[cpu]).map_err(|error| explain(cpu, &before, error))?;
    BEFORE_PINNING.get_or_init(|| before);
    Ok(())
}

/// Lets the calling thread run on all CPUs that this process could use before the first thread was
/// pinned.
pub fn unpin() {
    if let Some(before) = BEFORE_PINNING.get() {
        // The result is ignored: these CPUs were allowed, and the call fails only if the cpuset
        // changed since then.
        let _ = allow(None, before);
    }
}

/// Binds a thread of any process of this user to `cpus`.
///
/// # Errors
/// When the system call fails.
pub fn move_thread(thread: u32, cpus: &[u32]) -> io::Result<()> {
    allow(Some(thread), cpus)
}

/// Binds all threads of a process to `cpus`. Returns whether at least one could be bound: some may
/// fail, because they ended meanwhile.
pub fn move_process(process: u32, cpus: &[u32]) -> bool {
    // `count` instead of `any`, which would stop after the first thread that could be bound.
    let all = threads(process).unwrap_or_else(|| vec![process]);
    all.into_iter()
        .filter(|&thread| move_thread(thread, cpus).is_ok())
        .count()
        > 0
}

/// The CPUs that this process could use before the first thread was pinned. Questions that need two
/// CPUs use them, because a thread bound to one CPU starts further threads on the same CPU.
pub(crate) fn cpus_before_pinning() -> Vec<u32> {
    BEFORE_PINNING
        .get()
        .cloned()
        .or_else(|| allowed_cpus().ok())
        .unwrap_or_default()
}

/// A temporary affinity of the calling thread, inherited by threads that it starts meanwhile.
/// Dropping this value restores the previous affinity.
pub struct Pinned {
    before: Vec<u32>,
}

impl Pinned {
    /// Keeps the calling thread off a CPU on which another thread measures. `None` if the thread
    /// may run on no other CPU.
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

    /// Binds the calling thread to a CPU. `None` on failure: the affinity is then unchanged.
    pub(crate) fn to(cpu: u32) -> Option<Self> {
        let before = allowed().ok()?;
        allow(None, &[cpu]).ok()?;
        Some(Self { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // The result is ignored: these CPUs were allowed, and the call fails only if the cpuset
        // changed since then.
        let _ = allow(None, &self.before);
    }
}

/// The CPUs that this process could use before the first thread was pinned.
static BEFORE_PINNING: OnceLock<Vec<u32>> = OnceLock::new();
