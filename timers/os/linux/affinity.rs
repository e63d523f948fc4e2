//! Affinity of threads ([sched_setaffinity(2)]).
//!
//! [sched_setaffinity(2)]: https://man7.org/linux/man-pages/man2/sched_setaffinity.2.html

use std::{fs, io};

use super::process;
use crate::os::AffinityError;

/// Far beyond any Linux (CONFIG_NR_CPUS ends at 8192): a bound for the growth of the mask.
pub const MOST_CPUS: u32 = 1 << 20;
const WORD_BITS: usize = libc::c_ulong::BITS as usize;

/// The CPUs the calling thread may run on, in ascending order.
pub fn allowed() -> Result<Vec<u32>, AffinityError> {
    Mask::of_this_thread().map(|mask| mask.cpus())
}

/// Has a thread of this user run on these CPUs only; `None` is the calling one.
pub fn allow(thread: Option<u32>, cpus: &[u32]) -> io::Result<()> {
    let thread = libc::pid_t::try_from(thread.unwrap_or(0));
    Mask::of(cpus).apply_to(thread.map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))?)
}

/// The CPU the calling thread is on at this moment.
pub fn current() -> Option<u32> {
    // SAFETY: no arguments, no preconditions.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// The threads of a process; `None` where that is not shown.
pub fn threads(process: u32) -> Option<Vec<u32>> {
    let threads = fs::read_dir(process::proc_folder(process)?.join("task")).ok()?;
    Some(
        threads
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .collect(),
    )
}

/// Why the calling thread, which may run on `allowed`, could not be bound to `cpu`. The kernel
/// answers EINVAL to every CPU that cannot be had; sysfs tells which of the causes it is.
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
        let allowed = allowed
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(",");
        AffinityError::NotAllowed { cpu, allowed }
    } else {
        AffinityError::Absent(cpu)
    }
}

/// A set of CPUs as the kernel takes it: an array of unsigned longs, not glibc's `cpu_set_t` of
/// 1024 bits.
struct Mask(Vec<libc::c_ulong>);

impl Mask {
    /// The kernel refuses a mask shorter than its own with EINVAL, without saying how long that is.
    fn of_this_thread() -> Result<Self, AffinityError> {
        let mut words = 1024 / WORD_BITS;
        loop {
            let mut mask = Self(vec![0; words]);
            // SAFETY: the kernel writes at most the number of bytes it is told, all of them in the
            // vector.
            let status = unsafe {
                libc::sched_getaffinity(
                    0,
                    mask.bytes(),
                    mask.0.as_mut_ptr().cast::<libc::cpu_set_t>(),
                )
            };
            if status >= 0 {
                return Ok(mask);
            }
            let source = io::Error::last_os_error();
            if source.raw_os_error() != Some(libc::EINVAL)
                || words * WORD_BITS >= MOST_CPUS as usize
            {
                return Err(AffinityError::System {
                    call: "sched_getaffinity",
                    source,
                });
            }
            words *= 2;
        }
    }

    fn of(cpus: &[u32]) -> Self {
        let most = cpus.iter().copied().max().unwrap_or(0) as usize;
        let mut words = vec![0; most / WORD_BITS + 1];
        for &cpu in cpus {
            words[cpu as usize / WORD_BITS] |= 1 << (cpu as usize % WORD_BITS);
        }
        Self(words)
    }

    /// To a thread by its number; 0 is the calling one.
    fn apply_to(&self, thread: libc::pid_t) -> io::Result<()> {
        // SAFETY: the kernel reads the number of bytes it is told, all of them in the vector.
        let status = unsafe {
            libc::sched_setaffinity(
                thread,
                self.bytes(),
                self.0.as_ptr().cast::<libc::cpu_set_t>(),
            )
        };
        if status == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(self.0.as_slice())
    }

    fn cpus(&self) -> Vec<u32> {
        let bits = (0_u32..).take(self.0.len() * WORD_BITS);
        bits.filter(|&cpu| self.0[cpu as usize / WORD_BITS] >> (cpu as usize % WORD_BITS) & 1 == 1)
            .collect()
    }
}
