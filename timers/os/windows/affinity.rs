//! Affinity of threads and processes ([processor groups]). A CPU is numbered by its group times 64,
//! plus its place in that: a thread is bound to CPUs of one group, and a process is moved within
//! its own.
//!
//! [processor groups]: https://learn.microsoft.com/windows/win32/procthread/processor-groups

use std::io;

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::Kernel::PROCESSOR_NUMBER;
use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
use windows_sys::Win32::System::Threading::{
    GetActiveProcessorCount, GetActiveProcessorGroupCount, GetCurrentProcessorNumberEx,
    GetCurrentThread, GetProcessAffinityMask, GetThreadGroupAffinity, PROCESS_QUERY_INFORMATION,
    PROCESS_SET_INFORMATION, SetProcessAffinityMask, SetThreadGroupAffinity,
};

use super::handle::{Handle, checked};
use crate::os::AffinityError;

const GROUP: u32 = usize::BITS;
/// Far beyond any Windows, which has at most 32 groups.
pub const MOST_CPUS: u32 = 1 << 12;

/// The CPUs the calling thread may run on, in ascending order.
pub fn allowed() -> Result<Vec<u32>, AffinityError> {
    let affinity = of_this_thread().map_err(|source| AffinityError::System {
        call: "GetThreadGroupAffinity",
        source,
    })?;
    Ok(cpus(affinity.Group, affinity.Mask))
}

fn of_this_thread() -> io::Result<GROUP_AFFINITY> {
    let mut affinity = GROUP_AFFINITY::default();
    // SAFETY: the handle is the constant of the calling thread, the pointer is valid.
    checked(unsafe { GetThreadGroupAffinity(GetCurrentThread(), &raw mut affinity) })?;
    Ok(affinity)
}

/// Has the calling thread, or all threads of a process, run on these CPUs only.
pub fn allow(process: Option<u32>, cpus: &[u32]) -> io::Result<()> {
    let Some((group, mask)) = mask(cpus) else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "they belong to different processor groups",
        ));
    };
    if let Some(process) = process {
        let process = Handle::open(process, PROCESS_SET_INFORMATION | PROCESS_QUERY_INFORMATION)?;
        return restrict(process.raw(), mask);
    }
    let affinity = GROUP_AFFINITY {
        Mask: mask,
        Group: group,
        ..GROUP_AFFINITY::default()
    };
    // SAFETY: the handle is the constant of the calling thread, the pointers are valid or null,
    // which is allowed.
    checked(unsafe {
        SetThreadGroupAffinity(
            GetCurrentThread(),
            &raw const affinity,
            std::ptr::null_mut(),
        )
    })
}

/// Has a process run where the calling thread may: Windows lets it begin where the process of its
/// starter may.
pub(super) fn inherit(child: HANDLE) -> io::Result<()> {
    let wanted = of_this_thread()?.Mask;
    let (mut own, mut all) = (0, 0);
    // SAFETY: the handle is that of a process that was just started, the pointers are valid.
    checked(unsafe { GetProcessAffinityMask(child, &raw mut own, &raw mut all) })?;
    if own == wanted {
        Ok(())
    } else {
        restrict(child, wanted)
    }
}

fn restrict(process: HANDLE, mask: usize) -> io::Result<()> {
    // SAFETY: the handle is open and permits it.
    checked(unsafe { SetProcessAffinityMask(process, mask) })
}

/// The CPU the calling thread is on at this moment.
pub fn current() -> Option<u32> {
    let mut cpu = PROCESSOR_NUMBER::default();
    // SAFETY: the pointer is valid.
    unsafe { GetCurrentProcessorNumberEx(&raw mut cpu) };
    Some(u32::from(cpu.Group) * GROUP + u32::from(cpu.Number))
}

/// Threads are not told from their process: it is moved as a whole.
pub fn threads(_process: u32) -> Option<Vec<u32>> {
    None
}

/// Why the calling thread, which may run on `allowed`, could not be bound to `cpu`.
pub fn explain(cpu: u32, allowed: &[u32], source: io::Error) -> AffinityError {
    let (group, number) = (cpu / GROUP, cpu % GROUP);
    // SAFETY: no arguments, no preconditions.
    let groups = u32::from(unsafe { GetActiveProcessorGroupCount() });
    // SAFETY: a plain number.
    if group >= groups || number >= unsafe { GetActiveProcessorCount(group as u16) } {
        AffinityError::Absent(cpu)
    } else if !allowed.contains(&cpu) {
        let allowed = allowed.to_vec();
        AffinityError::NotAllowed { cpu, allowed }
    } else {
        AffinityError::System {
            call: "SetThreadGroupAffinity",
            source,
        }
    }
}

pub(super) fn cpus(group: u16, mask: usize) -> Vec<u32> {
    (0..GROUP)
        .filter(|bit| mask >> bit & 1 == 1)
        .map(|bit| u32::from(group) * GROUP + bit)
        .collect()
}

/// `None` where they belong to several groups, or there are none.
fn mask(cpus: &[u32]) -> Option<(u16, usize)> {
    let group = cpus.first()? / GROUP;
    let same = cpus.iter().all(|cpu| cpu / GROUP == group);
    let mask = cpus.iter().fold(0, |mask, cpu| mask | 1 << (cpu % GROUP));
    same.then_some((u16::try_from(group).ok()?, mask))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_hold_cpus() {
        assert_eq!(mask(&[0, 3]), Some((0, 0b1001)));
        assert_eq!(mask(&[GROUP + 1]), Some((1, 0b10)));
        assert_eq!((mask(&[0, GROUP]), mask(&[])), (None, None));
        assert_eq!(cpus(1, 0b101), [GROUP, GROUP + 2]);
    }
}
