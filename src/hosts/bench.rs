//! What stands on the bench: a timer, the reference that times it, and the floor of the loops, all
//! of one host.

use std::collections::BTreeMap;

use timers::{Answer, Subject};

use crate::trace::{Batches, DroppedWindow, Readings, Run};

/// What was seen of the core during a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CoreState {
    /// Its frequency in hertz, where that is known.
    pub core_hz: Option<f64>,
    /// Whether the window was disturbed, and no better one could be had.
    pub unstable: bool,
}

/// What windows that were watched gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gathered {
    /// The answers that count.
    pub values: Vec<i64>,
    /// What was seen of the core meanwhile.
    pub seen: CoreState,
    /// Answers that were dropped.
    pub dropped: Vec<Vec<i64>>,
}

/// Who sees whether a window of measurement was disturbed, and asks again.
pub trait Watcher {
    /// Asks for `repeat` values, in windows that nothing disturbed as far as that can be had.
    ///
    /// # Errors
    /// As the question.
    fn gather(
        &mut self,
        repeat: u32,
        question: &mut dyn FnMut(u32) -> Answer<Vec<i64>>,
    ) -> Answer<Gathered>;

    /// Asks several questions, all in one window that nothing disturbed as far as that can be had.
    ///
    /// # Errors
    /// As the questions.
    fn around(&mut self, questions: &mut dyn FnMut() -> Answer<Run>) -> Answer<(Run, CoreState)>;

    /// The same, once: nothing where something disturbed the window.
    ///
    /// # Errors
    /// As the questions.
    fn once(
        &mut self,
        questions: &mut dyn FnMut() -> Answer<Run>,
    ) -> Answer<Option<(Run, CoreState)>>;

    /// Ends watching: windows that were dropped, by reason, and whether enough of the others were
    /// not disturbed.
    fn end(self: Box<Self>) -> (BTreeMap<String, u32>, bool);
}

/// A timer with all that is needed to question it.
pub struct Bench {
    /// The timer.
    pub timer: Box<dyn Subject>,
    /// Nanoseconds in its tick, where declared.
    pub ns_per_tick: Option<f64>,
    /// The reference, and the id by which its host knows it.
    pub reference: Box<dyn Subject>,
    /// The id of the reference.
    pub reference_id: String,
    /// The timer that reads nothing, where the host has one.
    pub floor: Option<Box<dyn Subject>>,
    /// Who watches the process, where it is one.
    pub watch: Option<Box<dyn Watcher>>,
    /// Windows that were dropped so far.
    pub dropped: Vec<DroppedWindow>,
}

impl Bench {
    /// Batches of calls of the timer, in a window that nothing disturbed.
    ///
    /// # Errors
    /// As the subject.
    pub fn batches(&mut self, calls: u64, repeat: u32) -> Answer<Batches> {
        let (timer, id) = (&mut self.timer, &self.reference_id);
        let found = gather(&mut self.watch, repeat, |repeat| {
            timer.batches(id, calls, repeat)
        })?;
        Ok(batches(calls, found, &mut self.dropped))
    }

    /// The same of the timer that reads nothing; `None` where the host has none.
    ///
    /// # Errors
    /// As the subject.
    pub fn floor(&mut self, calls: u64, repeat: u32) -> Answer<Option<Batches>> {
        let (Some(floor), id) = (&mut self.floor, &self.reference_id) else {
            return Ok(None);
        };
        let found = gather(&mut self.watch, repeat, |repeat| {
            floor.batches(id, calls, repeat)
        })?;
        Ok(Some(batches(calls, found, &mut self.dropped)))
    }

    /// Successive readings of the timer.
    ///
    /// # Errors
    /// As the subject.
    pub fn readings(&mut self, count: u32) -> Answer<Readings> {
        let timer = &mut self.timer;
        let Gathered {
            values,
            seen,
            dropped,
        } = gather(&mut self.watch, count, |count| timer.readings(count))?;
        self.dropped
            .extend(dropped.into_iter().map(|values| DroppedWindow {
                calls: None,
                values,
            }));
        Ok(Readings {
            values,
            core_hz: seen.core_hz,
            unstable: seen.unstable,
        })
    }
}

fn batches(calls: u64, found: Gathered, dropped: &mut Vec<DroppedWindow>) -> Batches {
    let Gathered {
        values,
        seen,
        dropped: windows,
    } = found;
    dropped.extend(windows.into_iter().map(|values| DroppedWindow {
        calls: Some(calls),
        values,
    }));
    Batches {
        calls,
        deltas: values,
        core_hz: seen.core_hz,
        unstable: seen.unstable,
    }
}

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
    // They are kept to the end of the campaign, millions of them.
    found.values.shrink_to_fit();
    Ok(found)
}
