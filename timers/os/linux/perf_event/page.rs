//! Counters that a program reads in user mode, by the method that the kernel documents
//! (perf_event_open(2), "The mmap layout").

use std::io;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::atomic::{Ordering, compiler_fence};

use perf_event_open_sys::bindings::perf_event_mmap_page;

use super::{CYCLES, OpenEvent, describe_setting, explain_failure};
use crate::{Available, Unavailable};

/// The length of the mapping in bytes.
const MAPPING_BYTES: usize = 4096;
/// The kernel setting that permits `rdpmc`.
const RDPMC_SETTING: &str = "/sys/bus/event_source/devices/cpu/rdpmc";

/// The mapped page in which the kernel publishes the state of an event; unmapped when dropped.
pub struct EventPage {
    page: *const perf_event_mmap_page,
    /// The open event, kept because closing its descriptor would end the event.
    event: OpenEvent,
}

// SAFETY: the mapping is read-only, belongs to the process and is read only by volatile loads. A
// reading by another thread has no meaning, but accesses only the mapping.
unsafe impl Send for EventPage {}
// SAFETY: as for `Send`; nothing is written through a shared reference.
unsafe impl Sync for EventPage {}

impl EventPage {
    pub fn open() -> Available<Self> {
        if cfg!(not(any(target_arch = "x86", target_arch = "x86_64"))) {
            return Err(Unavailable::because("rdpmc is an instruction of x86"));
        }
        let page = Self::map(OpenEvent::open(CYCLES)?)?;
        page.check_permission()?;
        // The event is mapped before it is read: if it is read first, Linux 6.18 publishes an
        // offset that does not fit the sign-extended counter, so that readings are 2⁴⁸ too low
        // until the thread is scheduled again (observed on AMD).
        page.event.check_increase()?;
        Ok(page)
    }

    /// Maps the page of an event.
    fn map(event: OpenEvent) -> Available<Self> {
        // SAFETY: the kernel chooses the address of the new mapping, so that it overlaps no other
        // memory; the descriptor is open.
        let address = unsafe {
            libc::mmap(
                ptr::null_mut(),
                MAPPING_BYTES,
                libc::PROT_READ,
                libc::MAP_SHARED,
                event.0.as_raw_fd(),
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(explain_failure(&io::Error::last_os_error()));
        }
        Ok(Self {
            page: address.cast(),
            event,
        })
    }

    /// Checks that the kernel permits `rdpmc` and that the event has a hardware counter.
    fn check_permission(&self) -> Available {
        // SAFETY: the mapping is longer than the structure, for which every bit pattern is valid.
        let page = unsafe { ptr::read_volatile(self.page) };
        // SAFETY: both members of the union are 64-bit integers, for which every bit pattern is
        // valid.
        let capabilities = unsafe { page.__bindgen_anon_1.__bindgen_anon_1 };
        if capabilities.cap_user_rdpmc() == 0 {
            return Err(Unavailable::because(format!(
                "the kernel does not let programs execute rdpmc (cap_user_rdpmc is 0); {RDPMC_SETTING} {}",
                describe_setting(RDPMC_SETTING)
            ))
            .remedy(format!("`echo 1 > {RDPMC_SETTING}` as root")));
        }
        if page.index == 0 {
            return Err(Unavailable::because(
                "the event has no hardware counter that rdpmc could read (its index is 0)",
            )
            .remedy("stop other profilers, which use the counters"));
        }
        Ok(())
    }

    /// Reads the count by the sequence given in perf_event_open(2): the kernel increments `lock`
    /// before and after it changes the other fields.
    #[inline(always)]
    pub fn read(&self) -> u64 {
        let page = self.page;
        loop {
            // SAFETY: all these loads lie in the mapping, which lives as long as `self`; volatile
            // because the kernel writes there.
            let (lock, index, offset, width) = unsafe {
                let lock = ptr::read_volatile(&raw const (*page).lock);
                // The kernel updates the page on the CPU that reads it, so only the compiler needs
                // holding back.
                compiler_fence(Ordering::SeqCst);
                (
                    lock,
                    ptr::read_volatile(&raw const (*page).index),
                    ptr::read_volatile(&raw const (*page).offset),
                    ptr::read_volatile(&raw const (*page).pmc_width),
                )
            };
            // Index 0 means that the event has no hardware counter; the instruction would fault.
            let counted = if index == 0 {
                0
            } else {
                sign_extend(rdpmc(index - 1), width)
            };
            compiler_fence(Ordering::SeqCst);
            // SAFETY: as for the loads above.
            if unsafe { ptr::read_volatile(&raw const (*page).lock) } == lock {
                return offset.wrapping_add(counted) as u64;
            }
        }
    }
}

impl Drop for EventPage {
    fn drop(&mut self) {
        // SAFETY: `map` created the mapping with this length, and no reference to it remains.
        unsafe { libc::munmap(self.page.cast_mut().cast(), MAPPING_BYTES) };
    }
}

/// Reads a performance counter. The instruction faults if the kernel does not permit it or the CPU
/// has no counter of this number.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
#[inline(always)]
fn rdpmc(counter: u32) -> u64 {
    let (low, high): (usize, usize);
    // SAFETY: `EventPage::open` found that the kernel permits the instruction, and the kernel's page
    // gives the number of the counter. The instruction takes ECX, writes EAX and EDX and clears the
    // upper halves of both.
    unsafe {
        std::arch::asm!("rdpmc", in("ecx") counter, out("rax") low, out("rdx") high, options(nostack, preserves_flags));
    }
    (high as u64) << 32 | low as u64
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
fn rdpmc(_counter: u32) -> u64 {
    unreachable!("`EventPage::open` fails on this processor")
}

/// Sign-extends a counter of `width` bits to 64 bits; the kernel's offset assumes a signed value.
#[inline(always)]
fn sign_extend(counter: u64, width: u16) -> i64 {
    let unused = 64_u32.wrapping_sub(width.into());
    (counter.wrapping_shl(unused) as i64).wrapping_shr(unused)
}
