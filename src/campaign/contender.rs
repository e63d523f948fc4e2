//! A timer of a campaign, the conditions that it is measured under, and its outcome.

use timers::{Answer, Fault};

pub use crate::agents::children::Placement;

use crate::agents::protocol::AgentTimer;

/// A clock, sleep primitive or periodic timer under one set of conditions, and its outcome.
#[derive(Clone)]
pub struct Contender<T> {
    /// Index of the host of the timer.
    pub agent: usize,
    /// The timer.
    pub timer: AgentTimer,
    /// The conditions that it is measured under.
    pub conditions: Placement,
    /// The observations, or the reason why there are none.
    pub outcome: Answer<T>,
    /// The reason why it is not measured any further although earlier processes succeeded.
    pub lost: Option<Fault>,
    /// Whether at least one process of the subject succeeded.
    pub(super) has_run: bool,
}

impl<T> Contender<T> {
    /// Creates a subject for a timer that has not been measured.
    pub fn new(agent: usize, timer: AgentTimer, conditions: Placement) -> Self {
        Self {
            agent,
            timer,
            conditions,
            outcome: Err(Fault::Refused("it was not measured".into())),
            lost: None,
            has_run: false,
        }
    }

    /// Returns whether the timer can still be measured.
    pub fn is_measurable(&self) -> bool {
        self.outcome.is_ok() && self.lost.is_none()
    }

    /// Ends the measurement of the timer. The observations of earlier processes stay valid.
    pub(super) fn fail(&mut self, fault: Fault) {
        if self.has_run {
            self.lost = Some(fault);
        } else {
            self.outcome = Err(fault);
        }
    }
}
