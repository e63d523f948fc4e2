//! Defines the bench, on which the timers of a process are measured, and how disturbed measurements
//! are detected.

use timers::{Answer, StepQuestion, Subject};

use estimators::model::Hertz;
use estimators::trace::{Differences, Observations, Place, Reference};

/// A timer in a process, with everything that is needed to measure it.
pub struct Bench<'a> {
    /// The timer.
    pub timer: Box<dyn Subject + 'a>,
    /// Nanoseconds per tick of the timer, if declared.
    pub ns_per_tick: Option<f64>,
    /// The id of the reference.
    pub reference_id: String,
    /// The timer that reads nothing, if the host has one.
    pub floor: Option<Box<dyn Subject>>,
    /// The prober in the process of the timer, if it has one.
    pub prober: Option<Box<dyn Prober>>,
}

/// Takes all measurements of a kind in the process of the timer, so that nothing is sent between
/// two of them.
pub trait Prober {
    /// Times calls as in [`CallsPlan::BRIEF`], and those of the timer that reads nothing if `floor`.
    ///
    /// # Errors
    /// When the timer refuses or its host is lost.
    fn calls(&mut self, reference: &Reference, floor: bool) -> Answer<Observations>;

    /// Adds the intervals of a search for the step to `groups`. Returns whether the timer steps too
    /// rarely for the search.
    ///
    /// # Errors
    /// When the timer refuses or its host is lost.
    fn steps(&mut self, question: &StepQuestion, groups: &mut Vec<Differences>) -> Answer<bool>;
}

/// The state of the core during a window: the time of one question to a process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CoreState {
    /// The frequency of the core in hertz, if known.
    pub core_hz: Option<Hertz>,
    /// Whether the window is kept although it was disturbed.
    pub unstable: bool,
}

/// Detects disturbed windows of measurement and repeats their questions. Without methods of its
/// own, it keeps every window.
pub trait Watcher {
    /// Asks for `repeat` values, in one or more windows, and returns them with the state of the core
    /// during these windows. Repeats disturbed windows, but not without limit. `question` takes the
    /// number of values to ask for.
    ///
    /// # Errors
    /// When the question is refused or the host is lost.
    fn gather(
        &mut self,
        repeat: u32,
        question: &mut dyn FnMut(u32) -> Answer<Vec<i64>>,
    ) -> Answer<(Vec<i64>, CoreState)> {
        Ok((question(repeat)?, CoreState::default()))
    }

    /// Asks for all measurements of a process in one window, and again if it was disturbed so that
    /// they cannot be used. `None` if it always was.
    ///
    /// # Errors
    /// When the question is refused or the host is lost.
    fn ask_whole(
        &mut self,
        question: &mut dyn FnMut() -> Answer<Observations>,
    ) -> Answer<Option<(Observations, CoreState)>> {
        Ok(Some((question()?, CoreState::default())))
    }

    /// Returns where the windows since the last call were measured; `None` if unknown.
    fn place(&mut self) -> Option<Place> {
        None
    }
}

/// Watches nothing.
pub struct Unwatched;

impl Watcher for Unwatched {}
