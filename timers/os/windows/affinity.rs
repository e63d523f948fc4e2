//! The affinity of threads and processes within the group of the calling thread, which has up to 64
//! CPUs ([processor groups]).
//!
//! [processor groups]: https://learn.microsoft.com/windows/win32/procthread/processor-groups

use std::io;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
use windows_sys::Win32::System::Threading::{
    GetCurrentProcessorNumber, GetCurrentThread, GetThreadGroupAffinity, PROCESS_SET_INFORMATION,
    SetProcessAffinityMask, SetThreadGroupAffinity,
};

use super::handle::{check_status, open_process};
use crate::os::AffinityError;

/// A bound above all CPU numbers.
pub const MAX_CPUS: u32 = usize::BITS;

/// The CPUs the calling thread may run on, in ascending order.
pub fn allowed() -> Result<Vec<u32>, AffinityError> {
    let mask = own().map_err(|source| explain(0, &[0], source))?.Mask;
    Ok((0..MAX_CPUS).filter(|cpu| mask >> cpu & 1 == 1).collect())
}

fn own() -> io::Result<GROUP_AFFINITY> {
    let mut affinity = GROUP_AFFINITY::default();
    // SAFETY: the handle is the constant for the calling thread; the pointer is valid for one
    // GROUP_AFFINITY.
    check_status(unsafe { GetThreadGroupAffinity(GetCurrentThread(), &raw mut affinity) })?;
    Ok(affinity)
}

/// Binds the calling thread, or all threads of a process, to these CPUs.
pub fn allow(process: Option<u32>, cpus: &[u32]) -> io::Result<()> {
    let known = cpus.iter().filter(|cpu| **cpu < MAX_CPUS);
    let mask = known.fold(0, |mask, cpu| mask | 1 << cpu);
    if let Some(process) = process {
        let process = open_process(process, PROCESS_SET_INFORMATION)?;
        return bind(process.as_raw_handle(), mask);
    }
    let affinity = GROUP_AFFINITY {
        Mask: mask,
        ..own()?
    };
    // SAFETY: the handle is the constant for the calling thread; the pointer to the new affinity is
    // valid; the pointer for the old one may be null.
    check_status(unsafe {
        SetThreadGroupAffinity(
            GetCurrentThread(),
            &raw const affinity,
            std::ptr::null_mut(),
        )
    })
}

/// Binds a process to the CPUs of the calling thread, because a new process inherits the affinity
/// of its parent process and not that of the thread.
pub(super) fn inherit(child: HANDLE) -> io::Result<()> {
    bind(child, own()?.Mask)
}

fn bind(process: HANDLE, mask: usize) -> io::Result<()> {
    // SAFETY: the handle is open and has the right PROCESS_SET_INFORMATION.
    check_status(unsafe { SetProcessAffinityMask(process, mask) })
}

/// The CPU that currently runs the calling thread.
pub fn current() -> Option<u32> {
    // SAFETY: the function has no arguments and no preconditions.
    Some(unsafe { GetCurrentProcessorNumber() })
}

/// `None`, because all threads of a process are bound together by [`allow`].
pub fn threads(_process: u32) -> Option<Vec<u32>> {
    None
}

/// The reason why the calling thread, which may run on `allowed`, could not be bound to `cpu`.
pub fn explain(cpu: u32, allowed: &[u32], source: io::Error) -> AffinityError {
    if allowed.contains(&cpu) {
        let call = "affinity of threads";
        AffinityError::System { call, source }
    } else {
        let allowed = allowed.to_vec();
        AffinityError::NotAllowed { cpu, allowed }
    }
}
