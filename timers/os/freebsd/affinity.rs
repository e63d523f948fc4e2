//! Affinity of threads ([cpuset(2)]).
//!
//! [cpuset(2)]: https://man.freebsd.org/cgi/man.cgi?query=cpuset_setaffinity&sektion=2

use std::io;

use crate::os::AffinityError;

/// The kernel has at most 1024 (MAXCPU).
pub const MOST_CPUS: u32 = 1024;
const WORD_BITS: usize = u64::BITS as usize;

/// A set of CPUs as the kernel takes it: shorter ones are refused with ERANGE where a higher CPU is allowed.
type Mask = [u64; MOST_CPUS as usize / WORD_BITS];

/// The CPUs the calling thread may run on, in ascending order.
pub fn allowed() -> Result<Vec<u32>, AffinityError> {
    let mut mask: Mask = [0; MOST_CPUS as usize / WORD_BITS];
    // SAFETY: the kernel writes at most the number of bytes it is told; -1 is the calling thread.
    let status = unsafe {
        libc::cpuset_getaffinity(
            libc::CPU_LEVEL_WHICH,
            libc::CPU_WHICH_TID,
            -1,
            size_of_val(&mask),
            mask.as_mut_ptr().cast(),
        )
    };
    if status != 0 {
        return Err(AffinityError::System { call: "cpuset_getaffinity", source: io::Error::last_os_error() });
    }
    let set = |cpu: &u32| mask[*cpu as usize / WORD_BITS] >> (*cpu as usize % WORD_BITS) & 1 == 1;
    Ok((0..MOST_CPUS).filter(set).collect())
}

/// Has the calling thread, or all threads of a process, run on these CPUs only.
pub fn allow(process: Option<u32>, cpus: &[u32]) -> io::Result<()> {
    let mut mask: Mask = [0; MOST_CPUS as usize / WORD_BITS];
    for &cpu in cpus {
        let word = mask.get_mut(cpu as usize / WORD_BITS).ok_or(io::ErrorKind::InvalidInput)?;
        *word |= 1 << (cpu as usize % WORD_BITS);
    }
    let (which, id) = match process {
        Some(process) => (libc::CPU_WHICH_PID, i64::from(process)),
        None => (libc::CPU_WHICH_TID, -1),
    };
    // SAFETY: the kernel reads the number of bytes it is told.
    let status = unsafe {
        libc::cpuset_setaffinity(libc::CPU_LEVEL_WHICH, which, id, size_of_val(&mask), mask.as_ptr().cast())
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The CPU the calling thread is on at this moment.
pub fn current() -> Option<u32> {
    // SAFETY: no arguments, no preconditions.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// Threads are not told from their process: it is moved as a whole.
pub fn threads(_process: u32) -> Option<Vec<u32>> {
    None
}

/// Why the calling thread, which may run on `allowed`, could not be bound to `cpu`.
pub fn explain(cpu: u32, allowed: &[u32], source: io::Error) -> AffinityError {
    match source.raw_os_error() {
        Some(libc::EINVAL) => AffinityError::Absent(cpu),
        Some(libc::EDEADLK) if !allowed.contains(&cpu) => {
            let allowed = allowed.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
            AffinityError::NotAllowed { cpu, allowed }
        }
        _ => AffinityError::System { call: "cpuset_setaffinity", source },
    }
}
