//! The timeout of `io_uring`.
//!
//! What ticks: a high-resolution timer of CLOCK_MONOTONIC. At what granularity: nanoseconds. Who
//! may use it: whom the system lets (`kernel.io_uring_disabled`; the seccomp profiles of containers
//! forbid it); since Linux 5.4. Caveats: each wait is one call, which submits the timeout and waits
//! for its completion; arming and cancelling are two. Sources: `io_uring_setup(2)`,
//! `io_uring_enter(2)`, `io_uring_prep_timeout(3)`.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use libc::{c_int, c_void, off_t};

use super::{KernelTimespec, checked, number_since_5_1, refused};
use crate::Unavailable;
use crate::waits::method::{Armed, Countdown, Method};
use crate::waits::{WaitInfo, linux};

const OP_TIMEOUT: u8 = 11;
const OP_TIMEOUT_REMOVE: u8 = 12;
const ENTER_GETEVENTS: c_int = 1;
const FEAT_SINGLE_MMAP: u32 = 1;
const OFFSET_RINGS: off_t = 0;
const OFFSET_ENTRIES: off_t = 0x1000_0000;
/// The most that is under way at once: a timeout and what cancels it.
const ENTRIES: u32 = 2;
/// By which a timeout is known that is going to be cancelled.
const CANCELLED: u64 = 1;

/// `struct io_sqring_offsets`: where in the shared memory the kernel keeps what.
#[repr(C)]
#[derive(Default)]
struct Submissions {
    head: u32,
    tail: u32,
    ring_mask: u32,
    ring_entries: u32,
    flags: u32,
    dropped: u32,
    array: u32,
    reserved: [u32; 3],
}

/// `struct io_cqring_offsets`.
#[repr(C)]
#[derive(Default)]
struct Completions {
    head: u32,
    tail: u32,
    ring_mask: u32,
    ring_entries: u32,
    overflow: u32,
    entries: u32,
    flags: u32,
    reserved: [u32; 3],
}

/// `struct io_uring_params`.
#[repr(C)]
#[derive(Default)]
struct Parameters {
    submission_entries: u32,
    completion_entries: u32,
    flags: u32,
    thread: [u32; 2],
    features: u32,
    others: [u32; 4],
    submissions: Submissions,
    completions: Completions,
}

/// `struct io_uring_sqe`.
#[repr(C)]
#[derive(Default)]
struct Submission {
    operation: u8,
    flags: u8,
    priority: u16,
    descriptor: i32,
    offset: u64,
    address: u64,
    length: u32,
    operation_flags: u32,
    user_data: u64,
    others: [u64; 3],
}

/// `struct io_uring_cqe`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Completion {
    user_data: u64,
    result: i32,
    flags: u32,
}

/// Memory that is shared with the kernel.
struct Shared {
    begin: *mut u8,
    length: usize,
}

impl Shared {
    fn of(ring: &OwnedFd, length: usize, offset: off_t) -> Result<Self, Unavailable> {
        let (protection, flags) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_POPULATE,
        );
        // SAFETY: at a place that the kernel chooses, so that nothing of ours is there.
        let begin = unsafe {
            libc::mmap(
                ptr::null_mut(),
                length,
                protection,
                flags,
                ring.as_raw_fd(),
                offset,
            )
        };
        if begin == libc::MAP_FAILED {
            return Err(refused(
                "mmap() of an io_uring",
                &io::Error::last_os_error(),
            ));
        }
        Ok(Self {
            begin: begin.cast(),
            length,
        })
    }

    /// What stands at an offset, which the kernel told.
    fn at<T>(&self, offset: usize) -> *mut T {
        debug_assert!(offset + size_of::<T>() <= self.length);
        self.begin.wrapping_add(offset).cast()
    }

    fn word(&self, offset: u32) -> &AtomicU32 {
        // SAFETY: within the memory, at a multiple of four, as long as `self`; the kernel uses it
        // as such too.
        unsafe { AtomicU32::from_ptr(self.at(offset as usize)) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: mapped once, of that length; nothing refers to it any more.
        unsafe { libc::munmap(self.begin.cast::<c_void>(), self.length) };
    }
}

/// A pair of rings.
pub(crate) struct Timeout {
    rings: Shared,
    entries: Shared,
    told: Parameters,
    ring: OwnedFd,
}

impl Timeout {
    fn new() -> Result<Self, Unavailable> {
        let mut told = Parameters::default();
        // SAFETY: the parameters have the length that the kernel knows and writes.
        let made = unsafe { libc::syscall(number_since_5_1(425), ENTRIES, &raw mut told) };
        let descriptor = checked("io_uring_setup()", made)?;
        // SAFETY: it was just opened and has no other owner; descriptors are ints.
        let ring = unsafe { OwnedFd::from_raw_fd(descriptor as c_int) };
        if told.features & FEAT_SINGLE_MMAP == 0 {
            let why = Unavailable::because("this kernel's io_uring has no timeouts");
            return Err(why.remedy("they need Linux 5.4 or later"));
        }
        let submissions =
            told.submissions.array as usize + told.submission_entries as usize * size_of::<u32>();
        let completions = told.completions.entries as usize
            + told.completion_entries as usize * size_of::<Completion>();
        let rings = Shared::of(&ring, submissions.max(completions), OFFSET_RINGS)?;
        let length = told.submission_entries as usize * size_of::<Submission>();
        let entries = Shared::of(&ring, length, OFFSET_ENTRIES)?;
        // Each place of the ring stands for the entry of its number.
        for place in 0..told.submission_entries {
            rings
                .word(told.submissions.array + place * size_of::<u32>() as u32)
                .store(place, Ordering::Relaxed);
        }
        Ok(Self {
            rings,
            entries,
            told,
            ring,
        })
    }

    /// Puts one into the ring; the kernel sees it when it is entered.
    fn submit(&mut self, submission: Submission) {
        let (tail, mask) = (
            self.rings.word(self.told.submissions.tail),
            self.told.submission_entries - 1,
        );
        let next = tail.load(Ordering::Relaxed);
        let place = self
            .entries
            .at((next & mask) as usize * size_of::<Submission>());
        // SAFETY: one of the entries, which are two and which the kernel has read before the second
        // next one is written.
        unsafe { ptr::write(place, submission) };
        tail.store(next.wrapping_add(1), Ordering::Release);
    }

    fn submit_timeout(&mut self, time: &KernelTimespec, user_data: u64) {
        self.submit(Submission {
            operation: OP_TIMEOUT,
            descriptor: -1,
            address: ptr::from_ref(time).addr() as u64,
            length: 1,
            user_data,
            ..Submission::default()
        });
    }

    /// Has the kernel look at `submitted` entries and waits for `completed`: how many it looked at.
    fn enter(&self, submitted: u32, completed: u32) -> io::Result<u32> {
        let (flags, ring) = (
            if completed > 0 { ENTER_GETEVENTS } else { 0 },
            self.ring.as_raw_fd(),
        );
        let no_mask = ptr::null::<libc::sigset_t>();
        // SAFETY: plain numbers, and no mask of signals; the entries point to times that live until
        // this returns.
        let looked_at = unsafe {
            libc::syscall(
                number_since_5_1(426),
                ring,
                submitted,
                completed,
                flags,
                no_mask,
                0_usize,
            )
        };
        u32::try_from(looked_at).map_err(|_| io::Error::last_os_error())
    }

    /// The result of a completion, if one is there.
    fn take(&mut self) -> Option<i32> {
        let (at, mask) = (&self.told.completions, self.told.completion_entries - 1);
        let (head, tail) = (self.rings.word(at.head), self.rings.word(at.tail));
        let next = head.load(Ordering::Relaxed);
        if next == tail.load(Ordering::Acquire) {
            return None;
        }
        let place = at.entries as usize + (next & mask) as usize * size_of::<Completion>();
        // SAFETY: one of the entries, which the kernel wrote before the tail.
        let completion: Completion = unsafe { ptr::read(self.rings.at(place)) };
        head.store(next.wrapping_add(1), Ordering::Release);
        Some(completion.result)
    }

    /// Submits what is in the ring and waits for a number of completions: the result of the last
    /// one.
    fn complete(&mut self, mut submitted: u32, mut awaited: u32) -> io::Result<i32> {
        loop {
            match self.enter(submitted, awaited) {
                Ok(looked_at) => submitted = submitted.saturating_sub(looked_at),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            while let Some(result) = self.take() {
                awaited -= 1;
                if awaited == 0 {
                    return Ok(result);
                }
            }
        }
    }
}

impl Method for Timeout {
    const INFO: WaitInfo = linux::IO_URING_TIMEOUT;

    fn open() -> Result<Self, Unavailable> {
        let permit = |why: Unavailable| match std::fs::read_to_string(
            "/proc/sys/kernel/io_uring_disabled",
        ) {
            Ok(setting) if setting.trim() != "0" => {
                let reason = format!(
                    "{}; kernel.io_uring_disabled is {}",
                    why.reason,
                    setting.trim()
                );
                Unavailable::because(reason).remedy("`sysctl kernel.io_uring_disabled=0` as root")
            }
            _ => why,
        };
        let mut timeout = Self::new().map_err(permit)?;
        let time = KernelTimespec::of(1);
        timeout.submit_timeout(&time, 0);
        let result = timeout.complete(1, 1).and_then(|result| match result {
            result if result == -libc::ETIME => Ok(()),
            result => Err(io::Error::from_raw_os_error(-result)),
        });
        result
            .map(|()| timeout)
            .map_err(|error| refused(Self::INFO.label, &error))
    }
}

impl Countdown for Timeout {
    fn wait(&mut self, nanoseconds: u64) {
        let time = KernelTimespec::of(nanoseconds);
        self.submit_timeout(&time, 0);
        // It could be made when this was opened, and signals do not end it.
        let _ = self.complete(1, 1);
    }
}

impl Armed for Timeout {
    fn arm_and_cancel(&mut self, nanoseconds: u64) {
        let ahead = KernelTimespec::of(nanoseconds);
        self.submit_timeout(&ahead, CANCELLED);
        let _ = self.enter(1, 0);
        self.submit(Submission {
            operation: OP_TIMEOUT_REMOVE,
            descriptor: -1,
            address: CANCELLED,
            ..Submission::default()
        });
        let _ = self.complete(1, 2);
    }
}
