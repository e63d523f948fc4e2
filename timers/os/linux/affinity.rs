//! Affinity of threads ([sched_setaffinity(2)]).
//!
//! [sched_setaffinity(2)]: https://man7.org/linux/man-pages/man2/sched_setaffinity.2.html

use std::{fs, io};

use super::process;
use crate::os::AffinityError;

/// The maximum number of CPUs that Linux can be built for (CONFIG_NR_CPUS).
pub const MAX_CPUS: u32 = 8192;
const WORD_BITS: usize = libc::c_ulong::BITS as usize;

/// A set of CPUs in the kernel's format: an array of unsigned longs, not glibc's `cpu_set_t` of
/// 1024 bits. The kernel rejects a mask shorter than its own and accepts a longer mask.
type Mask = [libc::c_ulong; MAX_CPUS as usize / WORD_BITS];
const EMPTY_MASK: Mask = [0; MAX_CPUS as usize / WORD_BITS];

/// The CPUs the calling thread may run on, in ascending order.
pub fn allowed() -> Result<Vec<u32>, AffinityError> {
    let mut mask = EMPTY_MASK;
    // SAFETY: the kernel writes at most as many bytes as the given size, which is that of the mask.
    let status = unsafe { libc::sched_getaffinity(0, size_of::<Mask>(), (&raw mut mask).cast()) };
    if status < 0 {
        return Err(AffinityError::System {
            call: "sched_getaffinity",
            source: io::Error::last_os_error(),
        });
    }
    let is_set = |&cpu: &u32| mask[cpu as usize / WORD_BITS] >> (cpu as usize % WORD_BITS) & 1 == 1;
    Ok((0..MAX_CPUS).filter(is_set).collect())
}

/// Restricts a thread of this user to the given CPUs; `None` means the calling thread.
pub fn allow(thread: Option<u32>, cpus: &[u32]) -> io::Result<()> {
    let thread = libc::pid_t::try_from(thread.unwrap_or(0));
    let thread = thread.map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))?;
    let mut mask = EMPTY_MASK;
    for &cpu in cpus.iter().filter(|&&cpu| cpu < MAX_CPUS) {
        mask[cpu as usize / WORD_BITS] |= 1 << (cpu as usize % WORD_BITS);
    }
    // SAFETY: the kernel reads at most as many bytes as the given size, which is that of the mask.
    match unsafe { libc::sched_setaffinity(thread, size_of::<Mask>(), (&raw const mask).cast()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The CPU that the calling thread currently runs on.
pub fn current() -> Option<u32> {
    // SAFETY: the call has no arguments and no preconditions.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// The thread ids of a process; `None` if unreadable.
pub fn threads(process: u32) -> Option<Vec<u32>> {
    let threads = fs::read_dir(process::proc_folder(process)?.join("task")).ok()?;
    Some(
        threads
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .collect(),
    )
}

/// The reason why the calling thread, which may run on `allowed`, could not be bound to `cpu`. The
/// kernel returns EINVAL for every unavailable CPU; sysfs shows the cause.
pub fn explain(cpu: u32, allowed: &[u32], source: io::Error) -> AffinityError {
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}");
    if source.raw_os_error() != Some(libc::EINVAL) {
        AffinityError::System {
            call: "sched_setaffinity",
            source,
        }
    } else if fs::read_to_string(format!("{folder}/online")).is_ok_and(|text| text.trim() == "0") {
        AffinityError::Offline(cpu)
    } else if fs::exists(&folder).unwrap_or(false) {
        let allowed = allowed.to_vec();
        AffinityError::NotAllowed { cpu, allowed }
    } else {
        AffinityError::Absent(cpu)
    }
}
