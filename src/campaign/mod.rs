//! Decides which questions each clock, sleep primitive and periodic timer is asked, and stores the
//! answers.
//!
//! A campaign is a list of phases, in the order of [`clocks::run`]: the reference of each agent is chosen,
//! rounds of fresh processes measure the clocks, further processes narrow the widest intervals, and the
//! evidence for verdicts is gathered. A phase asks questions about clocks, and adds each answer to the
//! [`clocks::Clock`] that it is about: a clock owns its observations and what decides about its further
//! processes. Its observations are all that leaves the campaign. [`waits`] has the same form: rounds over
//! [`waits::Waiter`].

mod choose;
pub mod clocks;
pub mod disturbances;
pub mod examination;
mod reference_rate;
mod slow_clocks;
mod unit_check;
pub mod waits;

use timers::{Answer, Fault};

/// Separates an interrupt, which ends the run, from failures of a single timer or agent, which the
/// caller handles: returns `Ok` with the answer or its failure unless the run was interrupted.
///
/// # Errors
/// Only [`Fault::Interrupted`].
pub(crate) fn unless_interrupted<T>(answer: Answer<T>) -> Result<Answer<T>, Fault> {
    match answer {
        Err(Fault::Interrupted) => Err(Fault::Interrupted),
        answer => Ok(answer),
    }
}

/// Returns the answer to a question, or `None` if it was refused.
///
/// # Errors
/// When the process that answers is lost or the run is interrupted.
pub(crate) fn unless_refused<T>(answer: Answer<T>) -> Answer<Option<T>> {
    match answer {
        Err(Fault::Refused(_)) => Ok(None),
        answer => answer.map(Some),
    }
}

/// The fault if no thread can be started.
pub(crate) fn no_thread(error: std::io::Error) -> Fault {
    Fault::Lost(format!("cannot start a thread for it: {error}"))
}
