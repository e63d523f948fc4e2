//! What stands on the bench: a timer, the reference that times it, and the floor of the loops, all
//! of one host.

use timers::{Answer, Subject};

use crate::prober::watch::{Gathered, Watcher};
use crate::trace::{Batches, DroppedWindow, Readings};

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
