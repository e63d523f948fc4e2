//! The affinity of threads and processes ([processor groups]). The number of a CPU is its group
//! times the size of a group (64 on 64-bit Windows) plus its number in the group. A thread can be
//! bound only to CPUs of one group, a process only to CPUs of its own group.
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

use super::handle::{Handle, check_status};
use crate::os::AffinityError;

/// The CPUs per processor group.
const GROUP_SIZE: u32 = usize::BITS;
/// A bound above all CPU numbers: Windows has at most 32 groups.
pub const MAX_CPUS: u32 = 1 << 12;

/// The CPUs the calling thread may run on, in ascending order.
pub fn allowed() -> Result<Vec<u32>, AffinityError> {
    let affinity = thread_affinity().map_err(|source| AffinityError::System {
        call: "GetThreadGroupAffinity",
        source,
    })?;
    Ok(cpus(affinity.Group, affinity.Mask))
}

fn thread_affinity() -> io::Result<GROUP_AFFINITY> {
    let mut affinity = GROUP_AFFINITY::default();
    // SAFETY: the handle is the constant for the calling thread; the pointer is valid for one
    // GROUP_AFFINITY.
    check_status(unsafe { GetThreadGroupAffinity(GetCurrentThread(), &raw mut affinity) })?;
    Ok(affinity)
}

/// Binds the calling thread, or all threads of a process, to these CPUs.
pub fn allow(process: Option<u32>, cpus: &[u32]) -> io::Result<()> {
    let Some((group, mask)) = mask(cpus) else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the CPUs belong to different processor groups, or none is given",
        ));
    };
    if let Some(process) = process {
        let process = Handle::open(process, PROCESS_SET_INFORMATION | PROCESS_QUERY_INFORMATION)?;
        return bind_process(process.raw(), mask);
    }
    let affinity = GROUP_AFFINITY {
        Mask: mask,
        Group: group,
        ..GROUP_AFFINITY::default()
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
    let wanted = thread_affinity()?.Mask;
    let (mut own, mut all) = (0, 0);
    // SAFETY: the handle of the new process is open; the pointers are valid for one usize each.
    check_status(unsafe { GetProcessAffinityMask(child, &raw mut own, &raw mut all) })?;
    if own == wanted {
        Ok(())
    } else {
        bind_process(child, wanted)
    }
}

fn bind_process(process: HANDLE, mask: usize) -> io::Result<()> {
    // SAFETY: the handle is open and has the right PROCESS_SET_INFORMATION.
    check_status(unsafe { SetProcessAffinityMask(process, mask) })
}

/// The CPU that currently runs the calling thread.
pub fn current() -> Option<u32> {
    let mut cpu = PROCESSOR_NUMBER::default();
    // SAFETY: the pointer is valid for one PROCESSOR_NUMBER.
    unsafe { GetCurrentProcessorNumberEx(&raw mut cpu) };
    Some(u32::from(cpu.Group) * GROUP_SIZE + u32::from(cpu.Number))
}

/// `None`, because all threads of a process are bound together by [`allow`].
pub fn threads(_process: u32) -> Option<Vec<u32>> {
    None
}

/// The reason why the calling thread, which may run on `allowed`, could not be bound to `cpu`.
pub fn explain(cpu: u32, allowed: &[u32], source: io::Error) -> AffinityError {
    let (group, number) = (cpu / GROUP_SIZE, cpu % GROUP_SIZE);
    // SAFETY: the function has no arguments and no preconditions.
    let groups = u32::from(unsafe { GetActiveProcessorGroupCount() });
    // SAFETY: the function takes an integer and has no preconditions.
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

/// The CPUs in the mask of a group.
pub(super) fn cpus(group: u16, mask: usize) -> Vec<u32> {
    (0..GROUP_SIZE)
        .filter(|bit| mask >> bit & 1 == 1)
        .map(|bit| u32::from(group) * GROUP_SIZE + bit)
        .collect()
}

/// The group and the mask of CPUs; `None` if there are no CPUs or they belong to several groups.
fn mask(cpus: &[u32]) -> Option<(u16, usize)> {
    let group = cpus.first()? / GROUP_SIZE;
    let same_group = cpus.iter().all(|cpu| cpu / GROUP_SIZE == group);
    let mask = cpus
        .iter()
        .fold(0, |mask, cpu| mask | 1 << (cpu % GROUP_SIZE));
    same_group.then_some((u16::try_from(group).ok()?, mask))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_cpus_to_masks() {
        assert_eq!(mask(&[0, 3]), Some((0, 0b1001)));
        assert_eq!(mask(&[GROUP_SIZE + 1]), Some((1, 0b10)));
        assert_eq!((mask(&[0, GROUP_SIZE]), mask(&[])), (None, None));
        assert_eq!(cpus(1, 0b101), [GROUP_SIZE, GROUP_SIZE + 2]);
    }
}
