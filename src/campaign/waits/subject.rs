//! A sleep primitive or periodic timer of a campaign, and the conditions that it is measured under.

use timers::os::Policy;
use timers::{AffinityError, Answer, BusyThread, Fault, allowed_cpus};

use super::explore::WaitBench;
use super::plan::WaitSettings;
use crate::hosts::children::Placement;
use crate::hosts::host::{Host, connect};
use crate::hosts::hosted::subject;
use crate::hosts::protocol::{HostedTimer, Op};
use crate::model::BackgroundLoad;
use crate::trace::WaitTrace;

/// The conditions under which a timer waits. `None` for the default of the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// The CPU that its process is pinned to.
    pub cpu: Option<u32>,
    /// The timer slack of its threads, in nanoseconds.
    pub slack_ns: Option<u64>,
    /// The scheduling policy of its threads.
    pub policy: Option<Policy>,
    /// The background load.
    pub load: BackgroundLoad,
}

impl Conditions {
    /// Returns the settings that its process is started with.
    #[must_use]
    pub fn placement(&self) -> Placement {
        Placement {
            cpu: self.cpu,
            slack_ns: self.slack_ns,
            policy: self.policy,
        }
    }

    /// Starts the background load, which runs until the result is dropped. `None` if the conditions
    /// have none.
    ///
    /// # Errors
    /// When this process may not use the CPU that the load has to run on.
    pub fn start_load(&self) -> Result<Option<BusyThread>, AffinityError> {
        let own_cpu = self.cpu.unwrap_or(0);
        match self.load {
            BackgroundLoad::None => Ok(None),
            BackgroundLoad::SameCpu => BusyThread::on(own_cpu).map(Some),
            BackgroundLoad::OtherCpu => {
                let cpus = allowed_cpus()?;
                // CPUs with distant numbers belong to different cores on most machines.
                let other_cpu = cpus
                    .into_iter()
                    .filter(|cpu| *cpu != own_cpu)
                    .max_by_key(|cpu| cpu.abs_diff(own_cpu));
                BusyThread::on(other_cpu.ok_or(AffinityError::Absent(own_cpu + 1))?).map(Some)
            }
        }
    }
}

/// A sleep primitive or periodic timer under one set of conditions, and its outcome.
pub struct Subject<T> {
    /// Index of the host of the timer.
    pub host: usize,
    /// The timer.
    pub waiter: HostedTimer,
    /// The conditions that it is measured under.
    pub conditions: Conditions,
    /// The observations, or the reason why the timer failed.
    pub outcome: Result<T, String>,
    /// The reason why it is not measured any further although earlier processes succeeded.
    pub lost: Option<String>,
    /// Whether at least one process of the subject succeeded.
    pub(super) has_run: bool,
}

impl<T> Subject<T> {
    /// Creates a subject for a timer that has not been measured.
    #[must_use]
    pub fn new(host: usize, waiter: HostedTimer, conditions: Conditions) -> Self {
        Self {
            host,
            waiter,
            conditions,
            outcome: Err("it was not measured".into()),
            lost: None,
            has_run: false,
        }
    }

    /// Returns whether the timer can still be measured.
    #[must_use]
    pub fn is_measurable(&self) -> bool {
        self.outcome.is_ok() && self.lost.is_none()
    }
}

impl Subject<WaitTrace> {
    /// Starts a process for the primitive.
    ///
    /// # Errors
    /// When the process cannot be started, or the subject has failed.
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
            timer: subject(&connection, id),
            floor: has_floor.then(|| subject(&connection, floor)),
            reference: trace.reference.clone(),
            arms: self.waiter.answers(Some(Op::Arms)),
            break_ns: settings.break_ns,
        })
    }
}
