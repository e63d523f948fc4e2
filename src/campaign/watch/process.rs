//! Watches one process: disturbed windows are measured again.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use timers::Answer;
use timers::os::Counters;

use super::{
    CREDIT_PER_WINDOW, CoreState, Disturbance, Gathered, Look, MAX_FREQUENCY_CHANGE, MOST_DROPPED,
    MOST_TRIES, SHORTEST_PORTION, Watch, Watcher, counted,
};
use crate::hosts::connection::Connection;

use crate::statistics::mean;
use crate::trace::Run;

/// Watches one process of a campaign, with the samples that it takes itself if supported, otherwise
/// from outside.
pub struct ProcessWatch {
    watch: Rc<RefCell<Watch>>,
    process: u32,
    /// The connection to the process, if the process samples itself around windows.
    itself: Option<Rc<RefCell<Connection>>>,
    stolen_before: Option<u64>,
    dropped: BTreeMap<String, u32>,
    discarded: bool,
    /// Whether a window is repeated for a bearable disturbance.
    patient: bool,
    /// The sample after the last window, which is also the one before the next window.
    last: Option<Look>,
}

impl ProcessWatch {
    /// Starts to watch a process.
    #[must_use]
    pub fn patient(watch: &Rc<RefCell<Watch>>, connection: &Rc<RefCell<Connection>>) -> Self {
        let itself = connection
            .borrow_mut()
            .request_thread_states()
            .then(|| Rc::clone(connection));
        let process = connection.borrow().process();
        Self {
            itself,
            ..Self::from_outside(watch, process)
        }
    }

    /// Starts to watch a brief process, one of many: windows with a bearable disturbance are kept
    /// and marked.
    #[must_use]
    pub fn impatient(watch: &Rc<RefCell<Watch>>, connection: &Rc<RefCell<Connection>>) -> Self {
        Self {
            patient: false,
            ..Self::patient(watch, connection)
        }
    }

    pub(super) fn from_outside(watch: &Rc<RefCell<Watch>>, process: u32) -> Self {
        Self {
            watch: Rc::clone(watch),
            process,
            itself: None,
            stolen_before: watch.borrow().steal_ticks(),
            dropped: BTreeMap::new(),
            discarded: false,
            patient: true,
            last: None,
        }
    }

    /// Asks for `repeat` values and watches the process. Repeats a disturbed window, with fewer
    /// values if something else ran in between, because short windows are less likely to be
    /// interrupted.
    ///
    /// # Errors
    /// The errors of the question.
    pub fn gather<T, E>(
        &mut self,
        repeat: u32,
        mut question: impl FnMut(u32) -> Result<Vec<T>, E>,
    ) -> Result<(Vec<T>, CoreState), E> {
        let mut all: Vec<T> = Vec::new();
        let (mut frequencies, mut unstable) = (Vec::new(), false);
        let (mut portion, mut tries) = (repeat, 0);
        self.watch.borrow_mut().credit += if self.patient { CREDIT_PER_WINDOW } else { 0.0 };
        while (all.len() as u32) < repeat {
            let count = portion.min(repeat - all.len() as u32);
            let (answer, core_hz, disturbance) = self.window(|| question(count))?;
            tries += 1;
            if let Some(disturbance) = disturbance {
                let dropped: u32 = self.dropped.values().sum();
                let again = tries < MOST_TRIES
                    && dropped < MOST_DROPPED
                    && (!disturbance.is_bearable()
                        || (self.patient && self.watch.borrow_mut().spend()));
                // A runtime with several threads, for example with a garbage collector, switches
                // between its own threads.
                let threads = self
                    .last
                    .as_ref()
                    .and_then(|look| Some(look.counters.as_ref()?.cpus.len()));
                let own = disturbance == Disturbance::ContextSwitch && threads > Some(1);
                let kept = disturbance.is_bearable() || own;
                if again || !kept {
                    self.count(disturbance);
                }
                if again {
                    let shorter = if disturbance.is_bearable() {
                        portion
                    } else {
                        portion / 3
                    };
                    portion = shorter.max(repeat / SHORTEST_PORTION).max(1);
                    continue;
                }
                unstable = true;
                self.discarded |= !kept;
            } else {
                // The cause of earlier disturbances may be gone, so the window grows again.
                portion = portion.saturating_mul(2).min(repeat);
            }
            tries = 0;
            frequencies.extend(core_hz);
            all.extend(answer);
        }
        Ok((
            all,
            CoreState {
                core_hz: mean(&frequencies),
                unstable,
            },
        ))
    }

    /// Asks the question with a sample before and after it. Returns the answer, the frequency of
    /// the core in hertz, and the disturbance.
    fn window<T, E>(
        &mut self,
        question: impl FnOnce() -> Result<T, E>,
    ) -> Result<(T, Option<f64>, Option<Disturbance>), E> {
        let before = self.before();
        let answer = question()?;
        let (before, after) = self.looks_around(before);
        let found = (
            answer,
            hertz(&before, &after),
            self.compare(&before, &after),
        );
        self.last = Some(after);
        Ok(found)
    }

    /// Ends watching. Returns the dropped windows by cause, and whether enough of the others were
    /// undisturbed.
    #[must_use]
    pub fn end(mut self) -> (BTreeMap<String, u32>, bool) {
        /// Stolen time that is tolerated, in units of 10 ms: more in a process of some 50 ms means
        /// that it lost the CPU. *Definition*.
        const MOST_STOLEN: u64 = 1;
        let now = self.watch.borrow().steal_ticks();
        let taken = now
            .zip(self.stolen_before)
            .map_or(0, |(now, before)| now.saturating_sub(before));
        if taken > MOST_STOLEN {
            self.count(Disturbance::StolenTime);
            self.discarded = true;
        }
        (std::mem::take(&mut self.dropped), !self.discarded)
    }

    fn count(&mut self, disturbance: Disturbance) {
        let name = disturbance.name().to_owned();
        *self.dropped.entry(name).or_default() += 1;
    }

    /// Samples a process that is about to measure, waiting for an unshared core within the
    /// patience. Returns an empty sample if the process samples itself, because it does so closer
    /// to the measurement.
    fn before(&mut self) -> Look {
        let last = self.last.take();
        if self.itself.is_some() {
            let mut watch = self.watch.borrow_mut();
            if watch.was_shared {
                watch.wait_until_unshared();
            }
            return Look::default();
        }
        if let Some(last) = last {
            let watch = self.watch.borrow();
            if !last
                .core_frequency
                .is_some_and(|core_frequency| watch.is_shared(core_frequency))
            {
                return last;
            }
        }
        let mut watch = self.watch.borrow_mut();
        let core_frequency = watch.wait_until_unshared();
        Look {
            counters: watch.counts.of_process(self.process),
            core_frequency,
        }
    }

    /// Returns the samples before and after a window that has just ended.
    fn looks_around(&self, before: Look) -> (Look, Look) {
        let Some(itself) = &self.itself else {
            return (before, self.look());
        };
        let Some(around) = itself.borrow_mut().take_thread_states() else {
            return Default::default();
        };
        let mut watch = self.watch.borrow_mut();
        let [before, after] = around.map(|seen| Look {
            counters: Some(Counters {
                switches: seen.switches,
                major_faults: seen.major_faults,
                cpus: vec![seen.cpu],
            }),
            core_frequency: watch.reported(seen.core),
        });
        (before, after)
    }

    fn look(&self) -> Look {
        let mut watch = self.watch.borrow_mut();
        // Reads the counters of the process first, so that the effects of sampling are not counted.
        let counters = watch.counts.of_process(self.process);
        Look {
            counters,
            core_frequency: watch.look(),
        }
    }

    fn compare(&self, before: &Look, after: &Look) -> Option<Disturbance> {
        let watch = self.watch.borrow();
        // The runner causes no context switches within a window that the process itself samples.
        let own_switches = if self.itself.is_some() {
            0
        } else {
            watch.own_switches
        };
        if let (Some(before), Some(after)) = (&before.counters, &after.counters)
            && let Some(disturbance) = counted(before, after, own_switches)
        {
            return Some(disturbance);
        }
        let (before, after) = (before.core_frequency?, after.core_frequency?);
        if watch.is_shared(before) || watch.is_shared(after) {
            return Some(Disturbance::SharedCore);
        }
        ((after.hertz / before.hertz - 1.0).abs() > MAX_FREQUENCY_CHANGE)
            .then_some(Disturbance::FrequencyChange)
    }
}

impl Watcher for ProcessWatch {
    fn gather(
        &mut self,
        repeat: u32,
        question: &mut dyn FnMut(u32) -> Answer<Vec<i64>>,
    ) -> Answer<Gathered> {
        let mut answers = Vec::new();
        let (values, seen) = Self::gather(self, repeat, |repeat| {
            let answer = question(repeat)?;
            answers.push(answer.clone());
            Ok(answer)
        })?;
        // The accepted answers are contained in the values, in order; the others were dropped.
        let mut rest = values.as_slice();
        answers.retain(|answer| match rest.strip_prefix(answer.as_slice()) {
            Some(others) => {
                rest = others;
                false
            }
            None => true,
        });
        Ok(Gathered {
            values,
            seen,
            dropped: answers,
        })
    }

    fn around(&mut self, questions: &mut dyn FnMut() -> Answer<Run>) -> Answer<(Run, CoreState)> {
        let (mut runs, seen) = Self::gather(self, 1, |_| questions().map(|run| vec![run]))?;
        Ok((runs.pop().unwrap_or_default(), seen))
    }

    fn once(
        &mut self,
        questions: &mut dyn FnMut() -> Answer<Run>,
    ) -> Answer<Option<(Run, CoreState)>> {
        let (run, core_hz, disturbance) = self.window(questions)?;
        if let Some(disturbance) = disturbance {
            self.count(disturbance);
            return Ok(None);
        }
        Ok(Some((
            run,
            CoreState {
                core_hz,
                unstable: false,
            },
        )))
    }

    fn end(self: Box<Self>) -> (BTreeMap<String, u32>, bool) {
        Self::end(*self)
    }
}

fn hertz(before: &Look, after: &Look) -> Option<f64> {
    Some(f64::midpoint(
        before.core_frequency?.hertz,
        after.core_frequency?.hertz,
    ))
}
