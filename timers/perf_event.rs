//! Counters of the kernel's perf events, for the thread that opens them.
//!
//! What ticks: `perf-task-clock` the nanoseconds the thread ran, as the scheduler counts them; `perf-cycles` and
//! `rdpmc-cycles` the clock cycles of the core while the thread ran on it, so at whatever frequency it has at the
//! moment and not at all while the thread sleeps. A cycle's length is declared by nobody, hence no `ns_per_tick`.
//! The first two are fetched by `read(2)`, a system call; the third by the instruction `rdpmc` in user mode, with
//! the recipe that the kernel publishes for it ([perf_event_open(2)], "The mmap layout").
//!
//! Who may read them: the value of kernel.perf_event_paranoid decides. At 2, the default, an unprivileged thread may
//! count itself in user mode only, above that nothing (where a distribution has patched that in). Virtual machines
//! and containers often offer no hardware counters at all. `rdpmc` is for x86 and for the thread that opened it.
//!
//! How they lie: where the kernel's own cycles may not be counted, those spent inside `read(2)` are missing, so the
//! timer moves by less than its own cost. Out-of-order execution blurs `rdpmc` as it does `rdtsc`. On
//! CPUs of two kinds of cores the counter belongs to one kind. The events are pinned: a counter that
//! were lent out in turns would stand still unnoticed. Another thread that used `rdpmc` would read the counter of
//! whatever CPU it is on.
//!
//! [perf_event_open(2)]: https://man7.org/linux/man-pages/man2/perf_event_open.2.html

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd};

use perf_event_open_sys::bindings::{
    PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_SW_TASK_CLOCK, PERF_FLAG_FD_CLOEXEC, PERF_TYPE_HARDWARE,
    PERF_TYPE_SOFTWARE, perf_event_attr,
};

use crate::{Counts, Family, Info, Properties, ReadsBy, Ticks, Timer, Unavailable, work};

/// Cycles of the thread, which are no time: their length changes with the frequency of the core.
const CYCLES: Properties =
    Properties { family: Some(Family::PerfEvent), counts: Some(Counts::ThreadCycles), ..Properties::THREAD };

/// Time the thread ran, by `read(2)`.
pub(crate) struct TaskClock {
    event: Event,
}

impl Timer for TaskClock {
    const INFO: Info = Info {
        id: "perf-task-clock",
        label: "read(PERF_COUNT_SW_TASK_CLOCK)",
        ns_per_tick: Some(1.0),
        properties: Properties { family: Some(Family::PerfEvent), ..Properties::THREAD },
    };
    type Reading = u64;

    fn open() -> Result<Self, Unavailable> {
        Event::counting(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK.into()).map(|event| Self { event })
    }

    #[inline(always)]
    fn read(&self) -> u64 {
        self.event.read()
    }

    fn ticks(&self, reading: u64) -> Ticks {
        Ticks(reading)
    }
}

/// Cycles of the core, by `read(2)`.
pub(crate) struct Cycles {
    event: Event,
}

impl Timer for Cycles {
    const INFO: Info = Info {
        id: "perf-cycles",
        label: "read(PERF_COUNT_HW_CPU_CYCLES)",
        ns_per_tick: None,
        // The other event is read by the same system call, and needs no counter of the hardware.
        properties: CYCLES.with_variant(TaskClock::INFO.id),
    };
    type Reading = u64;

    fn open() -> Result<Self, Unavailable> {
        Event::counting(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES.into()).map(|event| Self { event })
    }

    #[inline(always)]
    fn read(&self) -> u64 {
        self.event.read()
    }

    fn ticks(&self, reading: u64) -> Ticks {
        Ticks(reading)
    }
}

/// Cycles of the core, by `rdpmc`.
pub(crate) struct RdpmcCycles {
    page: rdpmc::Page,
}

impl Timer for RdpmcCycles {
    const INFO: Info = Info {
        id: "rdpmc-cycles",
        label: "rdpmc (PERF_COUNT_HW_CPU_CYCLES)",
        ns_per_tick: None,
        properties: Properties { reads_by: Some(ReadsBy::Instruction), ..CYCLES.unfenced() },
    };
    type Reading = u64;

    fn open() -> Result<Self, Unavailable> {
        rdpmc::Page::open().map(|page| Self { page })
    }

    #[inline(always)]
    fn read(&self) -> u64 {
        self.page.read()
    }

    fn ticks(&self, reading: u64) -> Ticks {
        Ticks(reading)
    }
}

/// An event that counts for the calling thread; closed when dropped.
struct Event(File);

impl Event {
    /// One that was seen to count.
    fn counting(kind: u32, config: u64) -> Result<Self, Unavailable> {
        let event = Self::open(kind, config)?;
        event.moves().map(|()| event)
    }

    /// With the kernel's cycles where that is permitted, in user mode only where it is not.
    fn open(kind: u32, config: u64) -> Result<Self, Unavailable> {
        let mut attributes = perf_event_attr {
            type_: kind,
            config,
            size: size_of::<perf_event_attr>() as u32,
            ..Default::default()
        };
        if kind == PERF_TYPE_HARDWARE {
            attributes.set_pinned(1);
        }
        Self::with(&mut attributes)
            .or_else(|error| match error.raw_os_error() {
                Some(libc::EACCES | libc::EPERM | libc::EOPNOTSUPP) => {
                    attributes.set_exclude_kernel(1);
                    attributes.set_exclude_hv(1);
                    Self::with(&mut attributes)
                }
                _ => Err(error),
            })
            .map_err(|error| refused(&error))
    }

    fn with(attributes: &mut perf_event_attr) -> io::Result<Self> {
        // SAFETY: the attributes are initialised and say their size; they ask for a plain count, which touches no
        // memory of ours. Thread 0 is the calling one, CPU -1 any, group -1 none.
        let descriptor = unsafe {
            perf_event_open_sys::perf_event_open(attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC.into())
        };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just opened and belongs to nobody else.
        Ok(Self(unsafe { File::from_raw_fd(descriptor) }))
    }

    /// Some hypervisors let a counter be opened that then stands still, and a pinned event that found no counter
    /// reads as end of file.
    fn moves(&self) -> Result<(), Unavailable> {
        let count = || -> io::Result<u64> {
            let mut bytes = [0; 8];
            (&self.0).read_exact(&mut bytes)?;
            Ok(u64::from_ne_bytes(bytes))
        };
        let before = count();
        work::units(100_000);
        match (before, count()) {
            (Ok(before), Ok(after)) if after > before => Ok(()),
            (Ok(_), Ok(_)) => Err(Unavailable::because("the counter can be opened but stands still")
                .remedy("the hypervisor emulates the counter badly; expose the host's PMU to the guest")),
            _ => Err(Unavailable::because(
                "the event can be opened but got no counter; others hold all of them",
            )
            .remedy("stop other profilers, or free a counter with `sysctl kernel.nmi_watchdog=0`")),
        }
    }

    #[inline(always)]
    fn read(&self) -> u64 {
        // Set to zero, unlike the readings of the clocks: this call can come back short, with end of file.
        let mut count = 0_u64;
        // SAFETY: the descriptor is open as long as `self` lives, and the pointer is valid for eight bytes. Not by
        // `Read`, whose result would be examined in the timed region.
        unsafe { libc::read(self.0.as_raw_fd(), (&raw mut count).cast(), size_of::<u64>()) };
        count
    }
}

/// The refusal in the system's words, with what it means for this call.
fn refused(error: &io::Error) -> Unavailable {
    let why = format!("perf_event_open: {error}");
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            let value = setting("/proc/sys/kernel/perf_event_paranoid");
            Unavailable::because(format!("{why}; /proc/sys/kernel/perf_event_paranoid {value}")).remedy(
                "`sysctl kernel.perf_event_paranoid=1` as root, or the capability CAP_PERFMON; in a container also a \
                 seccomp profile that allows perf_event_open",
            )
        }
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => Unavailable::because(format!(
            "{why}; the CPU or the hypervisor offers no hardware performance counters"
        ))
        .remedy("in a virtual machine, expose the PMU to the guest"),
        Some(libc::ENOSYS) => Unavailable::because(format!(
            "{why}; the kernel was built without CONFIG_PERF_EVENTS, or seccomp hides it"
        ))
        .remedy("in a container, a seccomp profile that allows perf_event_open"),
        _ => Unavailable::because(why),
    }
}

fn setting(path: &str) -> String {
    match fs::read_to_string(path) {
        Ok(value) => format!("is {}", value.trim()),
        Err(_) => "is not there".into(),
    }
}

#[cfg(target_arch = "x86_64")]
mod rdpmc {
    use std::arch::asm;
    use std::os::fd::AsRawFd;
    use std::ptr;
    use std::sync::atomic::{Ordering, compiler_fence};

    use perf_event_open_sys::bindings::{PERF_COUNT_HW_CPU_CYCLES, PERF_TYPE_HARDWARE, perf_event_mmap_page};

    use super::{Event, refused, setting};
    use crate::Unavailable;

    const LENGTH: usize = 4096;
    const PERMISSION: &str = "/sys/bus/event_source/devices/cpu/rdpmc";

    /// The page in which the kernel says where the counter of an event stands; unmapped when dropped.
    pub(super) struct Page {
        page: *const perf_event_mmap_page,
        /// The event lives as long as its descriptor.
        event: Event,
    }

    // SAFETY: the mapping is read-only, belongs to the process and not to a thread, and is read by volatile loads
    // alone. A reading by another thread means nothing (see [`Counts::one_thread`]) but touches no memory it should not.
    unsafe impl Send for Page {}
    // SAFETY: as for `Send`; nothing is written through a shared reference.
    unsafe impl Sync for Page {}

    impl Page {
        pub(super) fn open() -> Result<Self, Unavailable> {
            let event = Event::open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES.into())?;
            // SAFETY: a new mapping at an address of the kernel's choice, of the event's first page, to be read.
            let address = unsafe {
                libc::mmap(ptr::null_mut(), LENGTH, libc::PROT_READ, libc::MAP_SHARED, event.0.as_raw_fd(), 0)
            };
            if address == libc::MAP_FAILED {
                return Err(refused(&std::io::Error::last_os_error()));
            }
            let page = Self { page: address.cast(), event };
            page.permitted()?;
            // Not before: of an event that is read and mapped afterwards Linux 6.18 tells an offset that does not fit the
            // sign-extended counter, so that readings are 2⁴⁸ too low until the thread is scheduled anew (seen on AMD).
            page.event.moves()?;
            Ok(page)
        }

        fn permitted(&self) -> Result<(), Unavailable> {
            // SAFETY: the mapping is longer than the structure, and every pattern of bits is a valid one of it.
            let page = unsafe { ptr::read_volatile(self.page) };
            // SAFETY: both members of the union are plain 64 bits.
            let capabilities = unsafe { page.__bindgen_anon_1.__bindgen_anon_1 };
            if capabilities.cap_user_rdpmc() == 0 {
                return Err(Unavailable::because(format!(
                    "the kernel does not let programs execute rdpmc (cap_user_rdpmc is 0); {PERMISSION} {}",
                    setting(PERMISSION)
                ))
                .remedy(format!("`echo 1 > {PERMISSION}` as root")));
            }
            if page.index == 0 {
                return Err(Unavailable::because(
                    "the event has no counter that rdpmc could read (its index is 0)",
                )
                .remedy("stop other profilers, which hold the counters"));
            }
            Ok(())
        }

        /// The recipe of perf_event_open(2): the kernel raises `lock` before and after it changes the rest.
        #[inline(always)]
        pub(super) fn read(&self) -> u64 {
            let page = self.page;
            loop {
                // SAFETY: all these loads lie in the mapping, which lives as long as `self`; volatile because the
                // kernel writes there.
                let (lock, index, offset, width) = unsafe {
                    let lock = ptr::read_volatile(&raw const (*page).lock);
                    // The kernel updates the page on the CPU that reads it, so only the compiler needs holding back.
                    compiler_fence(Ordering::SeqCst);
                    (
                        lock,
                        ptr::read_volatile(&raw const (*page).index),
                        ptr::read_volatile(&raw const (*page).offset),
                        ptr::read_volatile(&raw const (*page).pmc_width),
                    )
                };
                // At index 0 the event is on no counter, and the instruction would fault.
                let counted = if index == 0 { 0 } else { sign_extended(rdpmc(index - 1), width) };
                compiler_fence(Ordering::SeqCst);
                // SAFETY: as above.
                if unsafe { ptr::read_volatile(&raw const (*page).lock) } == lock {
                    return offset.wrapping_add(counted) as u64;
                }
            }
        }
    }

    impl Drop for Page {
        fn drop(&mut self) {
            // SAFETY: the mapping was made by `open` with this length, and nothing refers to it any more.
            unsafe { libc::munmap(self.page.cast_mut().cast(), LENGTH) };
        }
    }

    /// Counters are narrower than 64 bits, and the kernel's offset is made for their signed value.
    #[inline(always)]
    fn sign_extended(counter: u64, width: u16) -> i64 {
        let unused = 64_u32.wrapping_sub(width.into());
        (counter.wrapping_shl(unused) as i64).wrapping_shr(unused)
    }

    #[inline(always)]
    fn rdpmc(counter: u32) -> u64 {
        let (low, high): (u64, u64);
        // SAFETY: the kernel permits the instruction (cap_user_rdpmc) and named the counter. It takes ECX, writes EAX
        // and EDX and clears the upper halves of both. No `pure`: it answers differently each time. No `nomem`:
        // loads and stores of the work shall stay between two reads. `nostack` and `preserves_flags` hold.
        unsafe {
            asm!(
                "rdpmc",
                in("ecx") counter,
                out("rax") low,
                out("rdx") high,
                options(nostack, preserves_flags)
            );
        }
        high << 32 | low
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod rdpmc {
    use crate::Unavailable;

    pub(super) struct Page;

    impl Page {
        pub(super) fn open() -> Result<Self, Unavailable> {
            Err(Unavailable::because("rdpmc is an instruction of x86"))
        }

        pub(super) fn read(&self) -> u64 {
            unreachable!("never opened here")
        }
    }
}
