//! A timer that waits in a campaign, and under what it does.

use timers::os::Policy;
use timers::{AffinityError, Answer, Busy, Fault, allowed_cpus};

use super::explore::WaitBench;
use super::plan::WaitSettings;
use crate::hosts::children::Placement;
use crate::hosts::host::{Host, connect};
use crate::hosts::hosted::waiter;
use crate::hosts::protocol::{HostedWaiter, Op};
use crate::model::BackgroundLoad;
use crate::trace::WaitTrace;

/// Under what a timer waits, as far as it is not as the system has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// The CPU that its process is pinned to.
    pub cpu: Option<u32>,
    /// The timer slack of its threads, in nanoseconds.
    pub slack_ns: Option<u64>,
    /// The policy by which its threads are scheduled.
    pub policy: Option<Policy>,
    /// What else runs.
    pub load: BackgroundLoad,
}

impl Conditions {
    /// How its process is started.
    #[must_use]
    pub fn placement(&self) -> Placement {
        Placement {
            cpu: self.cpu,
            slack_ns: self.slack_ns,
            policy: self.policy,
        }
    }

    /// Lets run what else shall run, until the result is dropped.
    ///
    /// # Errors
    /// When there is no such CPU.
    pub fn start_load(&self) -> Result<Option<Busy>, AffinityError> {
        let own = self.cpu.unwrap_or(0);
        match self.load {
            BackgroundLoad::None => Ok(None),
            BackgroundLoad::SameCpu => Busy::on(own).map(Some),
            BackgroundLoad::OtherCpu => {
                let cpus = allowed_cpus()?;
                // The farthest by number, which on most machines is of another core.
                let other = cpus
                    .into_iter()
                    .filter(|cpu| *cpu != own)
                    .max_by_key(|cpu| cpu.abs_diff(own));
                Busy::on(other.ok_or(AffinityError::Absent(own + 1))?).map(Some)
            }
        }
    }
}

/// A timer that waits, under one set of conditions, and what became of it.
pub struct Subject<T> {
    /// Index of its host.
    pub host: usize,
    /// The timer.
    pub waiter: HostedWaiter,
    /// Under what it waits.
    pub conditions: Conditions,
    /// What was observed; with a reason where the timer failed.
    pub outcome: Result<T, String>,
    /// Why it was not asked any more, where what was observed until then is kept.
    pub lost: Option<String>,
    /// Whether a process of it observed something.
    pub(super) has_run: bool,
}

impl<T> Subject<T> {
    /// A timer that was not asked anything yet.
    #[must_use]
    pub fn new(host: usize, waiter: HostedWaiter, conditions: Conditions) -> Self {
        Self {
            host,
            waiter,
            conditions,
            outcome: Err("it was not asked".into()),
            lost: None,
            has_run: false,
        }
    }

    /// Whether it is asked again.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.outcome.is_ok() && self.lost.is_none()
    }
}

impl Subject<WaitTrace> {
    /// Starts a process for it.
    ///
    /// # Errors
    /// As the start of a process.
    pub(super) fn bench(&self, hosts: &[Host], settings: &WaitSettings) -> Answer<WaitBench> {
        let trace = self.outcome.as_ref();
        let trace = trace.map_err(|why| Fault::Refused(why.clone()))?;
        let (id, floor) = (&self.waiter.id, timers::waits::FLOOR_ID);
        let placement = self.conditions.placement();
        let connection = connect(&hosts[self.host], &[id], placement, settings.timeout)?;
        let has_floor = (connection.borrow().hello().waiters)
            .iter()
            .any(|hosted| hosted.id == floor);
        Ok(WaitBench {
            timer: waiter(&connection, id),
            floor: has_floor.then(|| waiter(&connection, floor)),
            reference: trace.reference.clone(),
            arms: (self.waiter.ops.iter()).any(|offered| offered == Op::Arms.name()),
            break_ns: settings.break_ns,
        })
    }
}
