//! Defines the bench: the timers that a measurement needs, all of one host. They are the measured
//! timer, the reference that times its calls, and a timer that reads nothing.

use std::collections::BTreeMap;

use timers::{Answer, Subject};

use crate::trace::{Batches, DroppedWindow, Readings, Run};

/// The state of the core during a window: the time of one question to a host, or of several whose
/// answers are kept or dropped together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CoreState {
    /// The frequency of the core in hertz, if known.
    pub core_hz: Option<f64>,
    /// The least width of the core, in independent additions per cycle, if known.
    pub width: Option<f64>,
    /// Whether the window is kept although it was disturbed.
    pub unstable: bool,
}

/// The values of watched windows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gathered {
    /// The values of the windows that are kept.
    pub values: Vec<i64>,
    /// The state of the core during these windows.
    pub core: CoreState,
    /// The values of the windows that were dropped.
    pub dropped: Vec<Vec<i64>>,
}

/// Detects disturbed windows of measurement and repeats their questions.
pub trait Watcher {
    /// Asks for `repeat` values, in one or more windows. Repeats disturbed windows, but not without
    /// limit. `question` takes the number of values to ask for.
    ///
    /// # Errors
    /// When the question is refused or the host is lost.
    fn gather(
        &mut self,
        repeat: u32,
        question: &mut dyn FnMut(u32) -> Answer<Vec<i64>>,
    ) -> Answer<Gathered>;

    /// Asks several questions in a single undisturbed window, if one can be obtained.
    ///
    /// # Errors
    /// When a question is refused or the host is lost.
    fn ask_in_window(
        &mut self,
        questions: &mut dyn FnMut() -> Answer<Run>,
    ) -> Answer<(Run, CoreState)>;

    /// Like [`Self::ask_in_window`], but without repetition: `None` if the window was disturbed.
    ///
    /// # Errors
    /// When a question is refused or the host is lost.
    fn ask_once(
        &mut self,
        questions: &mut dyn FnMut() -> Answer<Run>,
    ) -> Answer<Option<(Run, CoreState)>>;

    /// Stops watching. Returns the numbers of dropped windows by reason, and whether enough of the
    /// remaining windows were undisturbed.
    fn end(self: Box<Self>) -> (BTreeMap<String, u32>, bool);
}

/// A timer with everything that is needed to measure it.
pub struct Bench {
    /// The timer.
    pub timer: Box<dyn Subject>,
    /// Nanoseconds per tick of the timer, if declared.
    pub ns_per_tick: Option<f64>,
    /// The reference.
    pub reference: Box<dyn Subject>,
    /// The id of the reference.
    pub reference_id: String,
    /// The timer that reads nothing, if the host has one.
    pub floor: Option<Box<dyn Subject>>,
    /// Detects disturbances of the host, if the host is a process.
    pub watch: Option<Box<dyn Watcher>>,
    /// Windows that were dropped so far.
    pub dropped: Vec<DroppedWindow>,
    /// The least width of the core during the windows that were kept so far, if known.
    pub width: Option<f64>,
}

impl Bench {
    /// Times batches of calls of the timer, in an undisturbed window.
    ///
    /// # Errors
    /// When the timer refuses or its host is lost.
    pub fn batches(&mut self, calls: u64, repeat: u32) -> Answer<Batches> {
        let (timer, id) = (&mut self.timer, &self.reference_id);
        let found = gather(&mut self.watch, repeat, |repeat| {
            timer.batches(id, calls, repeat)
        })?;
        Ok(self.batches_from(calls, found))
    }

    /// Times batches of calls of the timer that reads nothing; `None` if the host has no such
    /// timer.
    ///
    /// # Errors
    /// When the timer refuses or its host is lost.
    pub fn floor(&mut self, calls: u64, repeat: u32) -> Answer<Option<Batches>> {
        let (Some(floor), id) = (&mut self.floor, &self.reference_id) else {
            return Ok(None);
        };
        let found = gather(&mut self.watch, repeat, |repeat| {
            floor.batches(id, calls, repeat)
        })?;
        Ok(Some(self.batches_from(calls, found)))
    }

    /// Takes successive readings of the timer.
    ///
    /// # Errors
    /// When the timer refuses or its host is lost.
    pub fn readings(&mut self, count: u32) -> Answer<Readings> {
        let timer = &mut self.timer;
        let Gathered {
            values,
            core,
            dropped,
        } = gather(&mut self.watch, count, |count| timer.readings(count))?;
        self.add_width(core.width);
        self.dropped
            .extend(dropped.into_iter().map(|values| DroppedWindow {
                calls: None,
                values,
            }));
        Ok(Readings {
            values,
            core_hz: core.core_hz,
            unstable: core.unstable,
        })
    }

    /// Returns the values that are kept as batches, and stores the rest of what was found.
    fn batches_from(&mut self, calls: u64, found: Gathered) -> Batches {
        let Gathered {
            values,
            core,
            dropped,
        } = found;
        self.add_width(core.width);
        self.dropped
            .extend(dropped.into_iter().map(|values| DroppedWindow {
                calls: Some(calls),
                values,
            }));
        Batches {
            calls,
            deltas: values,
            core_hz: core.core_hz,
            unstable: core.unstable,
        }
    }

    /// Adds the width of the core during a window that is kept.
    pub fn add_width(&mut self, width: Option<f64>) {
        self.width = self.width.into_iter().chain(width).reduce(f64::min);
    }
}

/// Asks for `repeat` values in undisturbed windows, or without a watcher in one window.
fn gather(
    watch: &mut Option<Box<dyn Watcher>>,
    repeat: u32,
    mut question: impl FnMut(u32) -> Answer<Vec<i64>>,
) -> Answer<Gathered> {
    let mut found = match watch {
        Some(watch) => watch.gather(repeat, &mut question)?,
        None => Gathered {
            values: question(repeat)?,
            ..Gathered::default()
        },
    };
    // A campaign keeps millions of values to its end, so spare capacity is released.
    found.values.shrink_to_fit();
    Ok(found)
}
