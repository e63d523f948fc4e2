//! Children, and all below them ([job objects]). Each child is started suspended, put into a job of
//! its own and let go, so that nothing it starts can be outside. The jobs end with the last handle
//! to them, which this process holds: however it ends, they end too.
//!
//! [job objects]: https://learn.microsoft.com/windows/win32/procthread/job-objects

use std::collections::BTreeMap;
use std::os::windows::io::{AsRawHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{io, ptr};

use windows_sys::Win32::Foundation::{FILETIME, HANDLE, WAIT_OBJECT_0};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation,
    SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, CREATE_SUSPENDED, GetProcessTimes, INFINITE, PROCESS_SYNCHRONIZE,
    WaitForSingleObject,
};

use super::affinity::inherit;
use super::handle::{Handle, checked, owned};
pub use crate::os::other::process::{
    adopt_descendants, all, end_all_with, ends_with, ends_with_its_starter, hidden, listed,
};
use crate::os::{CpuTime, Pid};

/// Nothing has to: what is in a job ends with this process.
pub const NEEDS_GUARD: bool = false;

#[link(name = "ntdll")]
unsafe extern "system" {
    fn NtResumeProcess(process: HANDLE) -> i32;
}

/// What a process that is ended returns.
const ENDED: u32 = 1;

static JOBS: Mutex<BTreeMap<u32, OwnedHandle>> = Mutex::new(BTreeMap::new());

/// Has the process of `command` be one that [`spawn`] can put into a job of its own, which can be
/// ended as a whole.
///
/// # Errors
/// None.
pub fn lead_group(command: &mut Command) -> io::Result<()> {
    // Ctrl-C is for this program, which ends the others.
    command.creation_flags(CREATE_SUSPENDED | CREATE_NEW_PROCESS_GROUP);
    Ok(())
}

/// Starts what [`lead_group`] prepared, where the calling thread may run.
///
/// # Errors
/// What the system said.
pub fn spawn(command: &mut Command) -> io::Result<Child> {
    let mut child = command.spawn()?;
    match release(child.as_raw_handle()) {
        Ok(job) => {
            jobs().insert(child.id(), job);
            Ok(child)
        }
        Err(error) => {
            // It did nothing yet.
            let _ = child.kill().and_then(|()| child.wait());
            Err(error)
        }
    }
}

fn release(child: HANDLE) -> io::Result<OwnedHandle> {
    // SAFETY: both are optional.
    let job = owned(unsafe { CreateJobObjectW(ptr::null(), ptr::null()) })?;
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    let size = size_of_val(&limits) as u32;
    // SAFETY: the handles are open, and the pointer is valid for what that class of information
    // takes.
    unsafe {
        let kind = JobObjectExtendedLimitInformation;
        checked(SetInformationJobObject(
            job.as_raw_handle(),
            kind,
            (&raw const limits).cast(),
            size,
        ))?;
        checked(AssignProcessToJobObject(job.as_raw_handle(), child))?;
    }
    inherit(child)?;
    // SAFETY: the handle is valid, and the process was started so that it waits for this.
    match unsafe { NtResumeProcess(child) } {
        0 => Ok(job),
        status => Err(io::Error::other(format!(
            "NtResumeProcess: status {status:#x}"
        ))),
    }
}

/// Ends a job. Nothing happens when it is empty.
pub fn kill_group(group: Pid) {
    if let Some(job) = jobs().remove(&group.0) {
        // SAFETY: the handle is open.
        unsafe { TerminateJobObject(job.as_raw_handle(), ENDED) };
    }
}

/// Does nothing: [`kill_group`] ends the child too, because the child is in the job.
pub fn end_child(_process: Pid) {}

/// The signal that ended a process; always `None`, because Windows has no signals.
#[must_use]
pub fn signal(_status: ExitStatus) -> Option<i32> {
    None
}

/// The name of a signal; always `None`, because Windows has no signals.
#[must_use]
pub fn signal_name(_signal: i32) -> Option<&'static str> {
    None
}

/// Whether a child is over. Its number stays its own as long as the child is held.
#[must_use]
pub fn has_exited(child: Pid) -> bool {
    is_over(child, 0)
}

/// Returns once a child is over, as above.
pub fn until_it_exits(child: Pid) {
    is_over(child, INFINITE);
}

/// Waits for a child, once. Returns how it ended, and the CPU time that it took, where the system
/// counts that.
///
/// # Errors
/// What the system said.
pub fn wait(child: &mut Child) -> io::Result<(ExitStatus, Option<CpuTime>)> {
    let status = child.wait()?;
    let [mut created, mut exited, mut kernel, mut user] = [FILETIME::default(); 4];
    // SAFETY: the handle is open as long as the child is held, and the pointers are valid.
    let known = unsafe {
        GetProcessTimes(
            child.as_raw_handle(),
            &raw mut created,
            &raw mut exited,
            &raw mut kernel,
            &raw mut user,
        )
    };
    let time = |time: FILETIME| {
        let hundreds = u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
        Duration::from_nanos(hundreds.saturating_mul(100))
    };
    Ok((
        status,
        (known != 0).then(|| CpuTime {
            user: time(user),
            system: time(kernel),
        }),
    ))
}

/// Whether a process ends within a number of milliseconds. One that no longer exists has ended.
fn is_over(process: Pid, milliseconds: u32) -> bool {
    let process = Handle::open(process.0, PROCESS_SYNCHRONIZE);
    // SAFETY: the handle is open and permits it.
    process.map_or(
        true,
        |process| unsafe { WaitForSingleObject(process.raw(), milliseconds) } == WAIT_OBJECT_0,
    )
}

fn jobs() -> MutexGuard<'static, BTreeMap<u32, OwnedHandle>> {
    JOBS.lock().unwrap_or_else(PoisonError::into_inner)
}
