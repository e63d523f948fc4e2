//! The scheduling settings that a process has from its first instruction.

use std::process::{Child, Command};
use std::{panic, thread};

use timers::os::{Policy, process, scheduling};

use super::StartError;

/// Scheduling settings of a process; `None` keeps the setting of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The only CPU on which the process runs.
    pub cpu: Option<u32>,
    /// The timer slack of the process's threads, in nanoseconds.
    pub slack_ns: Option<u64>,
    /// The scheduling policy of the process's threads.
    pub policy: Option<Policy>,
}

impl From<Option<u32>> for Placement {
    fn from(cpu: Option<u32>) -> Self {
        Self {
            cpu,
            ..Self::default()
        }
    }
}

impl Placement {
    /// Starts a process with this placement, which it inherits from the thread that starts it.
    pub(super) fn spawn(self, command: &mut Command) -> Result<Child, StartError> {
        self.run(|| Ok(process::spawn(command)?))
    }

    /// Checks that the system permits this placement.
    ///
    /// # Errors
    /// The reason why not.
    pub fn check(self) -> Result<(), StartError> {
        self.run(|| Ok(()))
    }

    /// Runs `start` in a thread of its own that has this placement.
    fn run<T: Send>(
        self,
        start: impl FnOnce() -> Result<T, StartError> + Send,
    ) -> Result<T, StartError> {
        let placed = || {
            match self.cpu {
                Some(cpu) => timers::pin_to(cpu)?,
                None => timers::unpin(),
            }
            // The policy is set last, because a real-time thread has no timer slack.
            self.slack_ns.map_or(Ok(()), scheduling::set_timer_slack)?;
            self.policy.map_or(Ok(()), scheduling::set_policy)?;
            start()
        };
        thread::scope(|scope| {
            let thread = thread::Builder::new().spawn_scoped(scope, placed)?;
            thread
                .join()
                .unwrap_or_else(|panic| panic::resume_unwind(panic))
        })
    }
}
