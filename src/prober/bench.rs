//! What stands on the bench: a timer, the reference that times it, and the floor of the loops, all of one host.

use timers::{Answer, Subject};

use crate::prober::watch::{Seen, Watcher};
use crate::trace::{Batches, Readings};

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
}

impl Bench {
    /// Batches of calls of the timer, in a window that nothing disturbed.
    ///
    /// # Errors
    /// As the subject.
    pub fn batches(&mut self, calls: u64, repeat: u32) -> Answer<Batches> {
        let (timer, id) = (&mut self.timer, &self.reference_id);
        let (deltas, seen) = gather(&mut self.watch, repeat, |repeat| timer.batches(id, calls, repeat))?;
        Ok(Batches { calls, deltas, core_hz: seen.core_hz, restless: seen.restless })
    }

    /// The same of the timer that reads nothing; `None` where the host has none.
    ///
    /// # Errors
    /// As the subject.
    pub fn floor(&mut self, calls: u64, repeat: u32) -> Answer<Option<Batches>> {
        let (Some(floor), id) = (&mut self.floor, &self.reference_id) else { return Ok(None) };
        let (deltas, seen) = gather(&mut self.watch, repeat, |repeat| floor.batches(id, calls, repeat))?;
        Ok(Some(Batches { calls, deltas, core_hz: seen.core_hz, restless: seen.restless }))
    }

    /// Successive readings of the timer, likewise.
    ///
    /// # Errors
    /// As the subject.
    pub fn readings(&mut self, count: u32) -> Answer<Readings> {
        let timer = &mut self.timer;
        let (values, seen) = gather(&mut self.watch, count, |count| timer.readings(count))?;
        Ok(Readings { values, core_hz: seen.core_hz, restless: seen.restless })
    }
}

fn gather(
    watch: &mut Option<Box<dyn Watcher>>,
    repeat: u32,
    mut question: impl FnMut(u32) -> Answer<Vec<i64>>,
) -> Answer<(Vec<i64>, Seen)> {
    let (mut values, seen) = match watch {
        Some(watch) => watch.gather(repeat, &mut question)?,
        None => (question(repeat)?, Seen::default()),
    };
    // They are kept to the end of the campaign, millions of them.
    values.shrink_to_fit();
    Ok((values, seen))
}
