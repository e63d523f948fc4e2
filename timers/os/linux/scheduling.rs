//! The scheduling policy and the timer slack of the calling thread (sched(7), [prctl(2)]).
//!
//! [prctl(2)]: https://man7.org/linux/man-pages/man2/PR_SET_TIMERSLACK.2const.html

use std::fs::File;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::{io, ptr, str};

use libc::{c_int, c_long};
use rustix::thread::{current_timer_slack, set_current_timer_slack};

use crate::os::Policy;
use crate::{Available, Unavailable};

/// The timer slack of the calling thread in nanoseconds: the time by which the kernel may delay its
/// wake-ups to combine several.
///
/// # Errors
/// When the system call fails.
pub fn timer_slack() -> Available<u64> {
    current_timer_slack()
        .map_err(|error| Unavailable::failed_call("prctl(PR_GET_TIMERSLACK)", &error.into()))
}

/// Sets the timer slack of the calling thread; threads that it starts inherit the slack. 0 restores
/// the slack that the thread started with.
///
/// # Errors
/// When the system call fails, or has no effect: threads with a real-time policy have no slack.
pub fn set_timer_slack(nanoseconds: u64) -> Available {
    let call = format!("prctl(PR_SET_TIMERSLACK, {nanoseconds})");
    set_current_timer_slack(NonZeroU64::new(nanoseconds))
        .map_err(|error| Unavailable::failed_call(&call, &error.into()))?;
    match timer_slack()? {
        slack if nanoseconds == 0 || slack == nanoseconds => Ok(()),
        slack => Err(Unavailable::because(format!(
            "{call} had no effect: the slack is {slack} ns"
        ))
        .remedy("only threads of the policy SCHED_OTHER have a slack")),
    }
}

/// The scheduling policy of the calling thread; `None` if unknown or not a variant of [`Policy`].
pub fn policy() -> Option<Policy> {
    let mut priority: c_int = 0;
    // SAFETY: the kernel writes one int, the only field of its `sched_param`, through a valid
    // pointer.
    let (policy, read) = unsafe {
        (
            libc::syscall(libc::SYS_sched_getscheduler, 0),
            libc::syscall(libc::SYS_sched_getparam, 0, &raw mut priority),
        )
    };
    let priority = u32::try_from(priority).ok().filter(|_| read == 0)?;
    match c_int::try_from(policy).ok()? & !libc::SCHED_RESET_ON_FORK {
        libc::SCHED_OTHER => Some(Policy::Other),
        libc::SCHED_FIFO => Some(Policy::Fifo(priority)),
        libc::SCHED_RR => Some(Policy::RoundRobin(priority)),
        _ => None,
    }
}

/// Sets the policy of the calling thread; threads that it starts inherit the policy.
///
/// # Errors
/// When the priority is not from 1 to 99, or the thread lacks the permission.
pub fn set_policy(policy: Policy) -> Available {
    let (number, priority) = match policy {
        Policy::Other => (libc::SCHED_OTHER, 0),
        Policy::Fifo(priority) => (libc::SCHED_FIFO, priority),
        Policy::RoundRobin(priority) => (libc::SCHED_RR, priority),
    };
    let priority = c_int::try_from(priority).unwrap_or(c_int::MAX);
    // By system call number, because musl's `sched_setscheduler` always fails: POSIX defines it for
    // whole processes. SAFETY: the kernel reads one int, the only field of its `sched_param`,
    // through a valid pointer.
    let status: c_long = unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            0,
            number,
            ptr::from_ref(&priority),
        )
    };
    if status == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    let why = Unavailable::failed_call(format_args!("sched_setscheduler({policy})"), &error);
    Err(match error.raw_os_error() {
        Some(libc::EPERM) => why.remedy(
            "run as root, with CAP_SYS_NICE (`setcap cap_sys_nice+ep PROGRAM`), or raise the limit RLIMIT_RTPRIO (`rtprio` in \
             /etc/security/limits.conf, `ulimit -r`); a cgroup without real-time budget forbids it too",
        ),
        Some(libc::EINVAL) => why.remedy("priorities are from 1 to 99"),
        _ => why,
    })
}

/// The time that a thread was runnable but did not run (proc_pid_schedstat(5)).
#[derive(Debug)]
pub struct RunDelay(File);

impl RunDelay {
    /// Opens the run delay of the calling thread; `None` if the kernel does not count it.
    pub fn of_this_thread() -> Option<Self> {
        Some(Self(File::open("/proc/thread-self/schedstat").ok()?))
            .filter(|delay| delay.ns().is_some())
    }

    /// The run delay in nanoseconds since the thread started.
    pub fn ns(&self) -> Option<u64> {
        let mut text = [0; 64];
        let length = self.0.read_at(&mut text, 0).ok()?;
        let mut fields = str::from_utf8(&text[..length])
            .ok()?
            .split_ascii_whitespace();
        // A run time of 0 for a running thread shows that the kernel does not count.
        let ran: u64 = fields.next()?.parse().ok()?;
        fields.next()?.parse().ok().filter(|_| ran > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Runs `check` on a new thread, so that its settings do not affect other tests.
    fn on_new_thread<T: Send + 'static>(check: impl FnOnce() -> T + Send + 'static) -> T {
        thread::spawn(check).join().unwrap()
    }

    #[test]
    fn slack_is_set_and_inherited() {
        let (before, set, inherited, after) = on_new_thread(|| {
            let before = timer_slack().expect("readable slack");
            set_timer_slack(1).unwrap();
            let seen = (timer_slack(), on_new_thread(timer_slack));
            set_timer_slack(0).unwrap();
            (before, seen.0, seen.1, timer_slack())
        });
        assert_eq!((set, inherited, after), (Ok(1), Ok(1), Ok(before)));
    }

    #[test]
    fn policies_set_or_explained() {
        on_new_thread(|| {
            assert_eq!(policy(), Some(Policy::Other));
            for wanted in [Policy::Fifo(1), Policy::RoundRobin(2), Policy::Other] {
                match set_policy(wanted) {
                    Ok(()) => assert_eq!(policy(), Some(wanted)),
                    Err(why) => assert!(why.remedy.is_some() && wanted != Policy::Other, "{why}"),
                }
            }
            for priority in [0, 100, u32::MAX] {
                let why =
                    set_policy(Policy::Fifo(priority)).expect_err("there is no such priority");
                assert!(
                    why.remedy.is_some_and(|remedy| remedy.contains("1 to 99")),
                    "{}",
                    why.reason
                );
            }
        });
    }
}
