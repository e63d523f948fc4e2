//! Defines how disturbed measurements are detected.

use timers::Answer;

use estimators::model::Hertz;

/// The state of the core during a window: the time of one question to a process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CoreState {
    /// The frequency of the core in hertz, if known.
    pub core_hz: Option<Hertz>,
    /// Whether the window is kept although it was disturbed.
    pub unstable: bool,
}

/// Detects disturbed windows of measurement and repeats their questions.
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
    ) -> Answer<(Vec<i64>, CoreState)>;
}

/// Keeps every window.
pub struct Unwatched;

impl Watcher for Unwatched {
    fn gather(
        &mut self,
        repeat: u32,
        question: &mut dyn FnMut(u32) -> Answer<Vec<i64>>,
    ) -> Answer<(Vec<i64>, CoreState)> {
        Ok((question(repeat)?, CoreState::default()))
    }
}
