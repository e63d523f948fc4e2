//! Child processes and their descendants ([job objects]). Each child is started suspended, assigned
//! to its own job and then resumed, so that all its descendants belong to the job. The system kills
//! the processes of a job when its last handle is closed. This process holds these handles, so that
//! the jobs end with this process, however it ends.
//!
//! [job objects]: https://learn.microsoft.com/windows/win32/procthread/job-objects

use std::collections::BTreeMap;
use std::os::windows::io::{AsRawHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{io, ptr};

use windows_sys::Win32::Foundation::{HANDLE, WAIT_OBJECT_0};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation,
    SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, CREATE_SUSPENDED, INFINITE, PROCESS_SYNCHRONIZE, WaitForSingleObject,
};

use super::affinity::inherit;
use super::handle::{check_status, open_process, own_handle};
use crate::os::Pid;
pub use crate::os::other::process::{
    ProcessGroup, descendants, has_unkillable, keep_exited_children, kill_by_environment,
    why_descendants_unknown, why_left,
};

/// Whether another process has to kill the jobs if this process is killed: no, the system does.
pub const NEEDS_GUARD: bool = false;

#[link(name = "ntdll")]
unsafe extern "system" {
    fn NtResumeProcess(process: HANDLE) -> i32;
}

/// The exit code of a process that was killed.
const KILLED: u32 = 1;

/// The job of each child, by the id of the child.
static JOBS: Mutex<BTreeMap<u32, OwnedHandle>> = Mutex::new(BTreeMap::new());

/// Prepares `command` for [`spawn`], which assigns the process to its own job.
pub fn prepare_group(command: &mut Command) {
    // In a new console group, so that Ctrl-C reaches only this program, which then kills the
    // others.
    command.creation_flags(CREATE_SUSPENDED | CREATE_NEW_PROCESS_GROUP);
}

/// Starts a command prepared by [`prepare_group`], with the affinity of the calling thread.
///
/// # Errors
/// When the process cannot be started, assigned to a job or resumed.
pub fn spawn(command: &mut Command) -> io::Result<Child> {
    let mut child = command.spawn()?;
    match resume_in_job(child.as_raw_handle()) {
        Ok(job) => {
            jobs().insert(child.id(), job);
            Ok(child)
        }
        Err(error) => {
            // The child is still suspended.
            let _ = child.kill().and_then(|()| child.wait());
            Err(error)
        }
    }
}

/// Assigns a suspended process to a new job, and resumes it. Returns the job.
fn resume_in_job(child: HANDLE) -> io::Result<OwnedHandle> {
    // SAFETY: both pointers may be null.
    let job = own_handle(unsafe { CreateJobObjectW(ptr::null(), ptr::null()) })?;
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    // SAFETY: the handles are open, and the pointer is valid for the structure that
    // this class of information requires.
    unsafe {
        check_status(SetInformationJobObject(
            job.as_raw_handle(),
            JobObjectExtendedLimitInformation,
            (&raw const limits).cast(),
            size_of_val(&limits) as u32,
        ))?;
        check_status(AssignProcessToJobObject(job.as_raw_handle(), child))?;
    }
    inherit(child)?;
    // SAFETY: the handle is open, and the process was started suspended.
    match unsafe { NtResumeProcess(child) } {
        0 => Ok(job),
        status => Err(io::Error::other(format!("NtResumeProcess(): {status:#x}"))),
    }
}

/// Kills all processes of a job; has no effect if the job is empty.
pub fn kill_group(group: Pid) {
    if let Some(job) = jobs().remove(&group.0) {
        // SAFETY: the handle is open, because `job` owns it.
        unsafe { TerminateJobObject(job.as_raw_handle(), KILLED) };
    }
}

/// The signal that ended a process; always `None`, because Windows has no signals.
pub fn signal(_status: ExitStatus) -> Option<i32> {
    None
}

/// The name of a signal; always `None`, because Windows has no signals.
pub fn signal_name(_signal: i32) -> Option<&'static str> {
    None
}

/// Whether a child has exited. Its id is not reused as long as its [`Child`] exists.
pub fn has_exited(child: Pid) -> bool {
    wait_for_exit(child, Duration::ZERO)
}

/// Waits for at most `limit` until a child has exited. Returns whether it has; `true` if it no
/// longer exists.
#[must_use]
pub fn wait_for_exit(child: Pid, limit: Duration) -> bool {
    let limit = u32::try_from(limit.as_millis()).unwrap_or(INFINITE);
    open_process(child.0, PROCESS_SYNCHRONIZE).map_or(true, |child| {
        // SAFETY: the handle is open and has the right PROCESS_SYNCHRONIZE.
        unsafe { WaitForSingleObject(child.as_raw_handle(), limit) == WAIT_OBJECT_0 }
    })
}

fn jobs() -> MutexGuard<'static, BTreeMap<u32, OwnedHandle>> {
    JOBS.lock().unwrap_or_else(PoisonError::into_inner)
}
