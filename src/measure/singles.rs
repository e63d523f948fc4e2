//! Single calls, each a sample of its own, of weight 1, after its set-up (macro trials of Caliper).

use super::summary::Sample;
use super::trial::{Goal, Measured, Trial, TrialError};
use super::window::Timed;
use crate::analysis::statistics::mean;
use crate::method::ClockFigures;

/// Single calls of one operation, taken when a caller with several wants the next.
pub struct Singles<'a> {
    trial: Trial<'a>,
    samples: Vec<Sample>,
}

impl<'a> Singles<'a> {
    /// None are taken yet.
    ///
    /// # Errors
    /// When no clock could keep the error.
    pub fn new(timed: &'a mut dyn Timed, clock: &'a ClockFigures, goal: &Goal) -> Result<Self, TrialError> {
        Ok(Self { trial: Trial::new(timed, clock, goal)?, samples: Vec::new() })
    }

    /// Takes one.
    pub fn take(&mut self) {
        let sample = one(&mut self.trial);
        self.samples.push(sample);
    }

    /// What they came to.
    ///
    /// # Errors
    /// When one call is too short for the clock.
    pub fn sum_up(self) -> Result<Measured, TrialError> {
        let valid = self.samples.iter().filter(|sample| sample.disturbed.is_none());
        let one_ns = mean(&valid.map(|sample| sample.ns_per_call).collect::<Vec<_>>()).unwrap_or(0.0);
        let budget = self.trial.budget(one_ns, true);
        let error = self.trial.goal.error;
        if !(one_ns > 0.0 && budget.total() <= error) {
            return Err(TrialError::Clock(format!(
                "one call takes {}, too short for single measurements with this clock within {} %: use micro, or adaptive",
                crate::text::numbers::time(Some(one_ns.max(0.0))),
                error * 100.0
            )));
        }
        self.trial.sum_up(1, self.samples, &budget)
    }
}

/// As many as have to be valid.
///
/// # Errors
/// When one call is too short for the clock, or the limit passes.
pub fn macro_trial(timed: &mut dyn Timed, clock: &ClockFigures, goal: &Goal) -> Result<Measured, TrialError> {
    let mut singles = Singles::new(timed, clock, goal)?;
    singles.samples = singles.trial.collect(one)?;
    singles.sum_up()
}

fn one(trial: &mut Trial) -> Sample {
    trial.timed.set_up();
    trial.take(1)
}
