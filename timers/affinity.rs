//! Which CPUs the calling thread may run on ([sched_setaffinity(2)]).
//!
//! [sched_setaffinity(2)]: https://man7.org/linux/man-pages/man2/sched_setaffinity.2.html

use std::sync::OnceLock;
use std::{fs, io};

/// Why a thread could not be bound to a CPU.
#[derive(Debug, thiserror::Error)]
pub enum AffinityError {
    /// The machine has no such CPU.
    #[error("this machine has no CPU {0}")]
    Absent(u32),
    /// The CPU is there but switched off.
    #[error("CPU {0} is offline; `echo 1 > /sys/devices/system/cpu/cpu{0}/online` as root brings it up")]
    Offline(u32),
    /// The CPU is there and runs, but not for this process.
    #[error(
        "CPU {cpu} is not among those this process may use ({allowed}); its cpuset (container, cgroup) forbids it"
    )]
    NotAllowed {
        /// The CPU that was asked for.
        cpu: u32,
        /// Those that may be used, separated by commas.
        allowed: String,
    },
    /// The system refused for another reason.
    #[error("{call}: {source}")]
    System {
        /// The call that failed.
        call: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// The CPUs the calling thread may run on, in ascending order.
///
/// # Errors
/// When the system does not tell.
pub fn allowed_cpus() -> Result<Vec<u32>, AffinityError> {
    Mask::of_this_thread().map(|mask| mask.cpus())
}

/// Binds the calling thread, and the threads it starts from now on, to one CPU.
///
/// # Errors
/// When the CPU does not exist, is offline or not allowed; the affinity is then as it was.
pub fn pin_to(cpu: u32) -> Result<(), AffinityError> {
    if cpu >= MOST_CPUS {
        return Err(AffinityError::Absent(cpu));
    }
    let before = Mask::of_this_thread()?;
    Mask::single(cpu).apply().map_err(|error| explain(cpu, &before, error))?;
    BEFORE_PINNING.get_or_init(|| before.cpus());
    Ok(())
}

/// Gives the calling thread back the CPUs that this process had before anything here pinned a thread.
pub fn unpin() {
    if let Some(before) = BEFORE_PINNING.get() {
        // These CPUs were allowed before; if the cpuset changed meanwhile there is nothing to do.
        let _ = Mask::of(before).apply();
    }
}

/// Moves a thread of any process of this user to `cpus`, from outside.
///
/// # Errors
/// What the system said.
pub fn move_thread(thread: u32, cpus: &[u32]) -> io::Result<()> {
    Mask::of(cpus).apply_to(thread)
}

/// The calling thread, and those it starts meanwhile, kept off a CPU that something else measures on. Dropping this gives
/// the thread back the CPUs it had.
pub struct KeptOff(Pinned);

impl KeptOff {
    /// Keeps the calling thread off `cpu`. `None` when it has no other.
    #[must_use]
    pub fn cpu(cpu: u32) -> Option<Self> {
        let before = Mask::of_this_thread().ok()?;
        let cpus = before.cpus();
        let others: Vec<u32> = cpus.iter().copied().filter(|&other| other != cpu).collect();
        if others.is_empty() {
            return None;
        }
        Mask::of(&others).apply().ok()?;
        BEFORE_PINNING.get_or_init(|| cpus);
        Some(Self(Pinned { before }))
    }

    /// The CPUs the thread had before.
    #[must_use]
    pub fn from(&self) -> Vec<u32> {
        self.0.before.cpus()
    }
}

/// The CPUs of this process before anything here pinned a thread: a thread that is bound to one CPU starts others
/// on it, and some questions need two CPUs.
pub(crate) fn cpus_before_pinning() -> Vec<u32> {
    BEFORE_PINNING.get().cloned().or_else(|| allowed_cpus().ok()).unwrap_or_default()
}

/// The CPU the calling thread is on at this moment.
pub(crate) fn current_cpu() -> Option<u32> {
    // SAFETY: no arguments, no preconditions.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// The calling thread bound to a CPU for a while; dropping this gives it back the CPUs it had.
pub(crate) struct Pinned {
    before: Mask,
}

impl Pinned {
    /// Binds the calling thread. `None` when that cannot be done: the thread then runs where it may.
    pub(crate) fn to(cpu: u32) -> Option<Self> {
        let before = Mask::of_this_thread().ok()?;
        Mask::single(cpu).apply().ok()?;
        Some(Self { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // The mask was in force before, so it can only fail if the cpuset changed meanwhile: nothing to do then.
        let _ = self.before.apply();
    }
}

static BEFORE_PINNING: OnceLock<Vec<u32>> = OnceLock::new();

/// Far beyond any Linux (CONFIG_NR_CPUS ends at 8192): a bound for the growth of the mask.
const MOST_CPUS: u32 = 1 << 20;
const WORD_BITS: usize = libc::c_ulong::BITS as usize;

/// A set of CPUs as the kernel takes it: an array of unsigned longs, not glibc's `cpu_set_t` of 1024 bits.
struct Mask(Vec<libc::c_ulong>);

impl Mask {
    /// The kernel refuses a mask shorter than its own with EINVAL, without saying how long that is.
    fn of_this_thread() -> Result<Self, AffinityError> {
        let mut words = 1024 / WORD_BITS;
        loop {
            let mut mask = Self(vec![0; words]);
            // SAFETY: the kernel writes at most the number of bytes it is told, all of them in the vector.
            let status = unsafe {
                libc::sched_getaffinity(0, mask.bytes(), mask.0.as_mut_ptr().cast::<libc::cpu_set_t>())
            };
            if status >= 0 {
                return Ok(mask);
            }
            let source = io::Error::last_os_error();
            if source.raw_os_error() != Some(libc::EINVAL) || words * WORD_BITS >= MOST_CPUS as usize {
                return Err(AffinityError::System { call: "sched_getaffinity", source });
            }
            words *= 2;
        }
    }

    fn single(cpu: u32) -> Self {
        Self::of(&[cpu])
    }

    fn of(cpus: &[u32]) -> Self {
        let most = cpus.iter().copied().max().unwrap_or(0) as usize;
        let mut words = vec![0; most / WORD_BITS + 1];
        for &cpu in cpus {
            words[cpu as usize / WORD_BITS] |= 1 << (cpu as usize % WORD_BITS);
        }
        Self(words)
    }

    fn apply(&self) -> io::Result<()> {
        self.apply_to(0)
    }

    /// To a thread by its number; 0 is the calling one.
    fn apply_to(&self, thread: u32) -> io::Result<()> {
        let thread = libc::pid_t::try_from(thread).map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))?;
        // SAFETY: the kernel reads the number of bytes it is told, all of them in the vector.
        let status = unsafe {
            libc::sched_setaffinity(thread, self.bytes(), self.0.as_ptr().cast::<libc::cpu_set_t>())
        };
        if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    fn bytes(&self) -> usize {
        size_of_val(self.0.as_slice())
    }

    fn cpus(&self) -> Vec<u32> {
        let bits = (0_u32..).take(self.0.len() * WORD_BITS);
        bits.filter(|&cpu| self.0[cpu as usize / WORD_BITS] >> (cpu as usize % WORD_BITS) & 1 == 1).collect()
    }
}

/// The kernel answers EINVAL to every CPU that cannot be had; sysfs tells which of the causes it is.
fn explain(cpu: u32, before: &Mask, source: io::Error) -> AffinityError {
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}");
    if source.raw_os_error() != Some(libc::EINVAL) {
        AffinityError::System { call: "sched_setaffinity", source }
    } else if fs::read_to_string(format!("{folder}/online")).is_ok_and(|text| text.trim() == "0") {
        AffinityError::Offline(cpu)
    } else if fs::exists(&folder).unwrap_or(false) {
        let allowed = before.cpus().iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        AffinityError::NotAllowed { cpu, allowed }
    } else {
        AffinityError::Absent(cpu)
    }
}
