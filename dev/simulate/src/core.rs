//! A watch on the core of a simulated machine: it sees the frequency around each window, nearly as
//! it is.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use simulated::Shared;
use timers::Answer;

use super::FREQUENCY;
use timermeter::campaign::watch::MAX_FREQUENCY_CHANGE;
use timermeter::hosts::bench::{CoreState, Gathered, Watcher};

use timermeter::statistics::mean;
use timermeter::trace::Run;

/// What a look at the frequency is off by, in turns up and down, as a share: chains of additions
/// were seen to repeat to a tenth of this.
const LOOK: f64 = 2e-4;
/// How often a window is taken at most, as in a campaign that has not much credit left.
const MOST_TRIES: usize = 2;

/// Watches one simulated process.
pub(super) struct SimulatedCore {
    world: Shared,
    frequencies: Rc<RefCell<Vec<f64>>>,
    up: bool,
}

impl SimulatedCore {
    pub(super) fn new(world: Shared, frequencies: &Rc<RefCell<Vec<f64>>>) -> Self {
        Self {
            world,
            frequencies: Rc::clone(frequencies),
            up: false,
        }
    }

    fn look(&mut self) -> f64 {
        self.up = !self.up;
        let hertz = FREQUENCY * self.world.speed() * if self.up { 1.0 + LOOK } else { 1.0 - LOOK };
        self.frequencies.borrow_mut().push(hertz);
        hertz
    }

    /// Asks until the frequency stays the same, within limits: the answer that counts, what was
    /// seen, and answers that were dropped.
    fn watched<T>(
        &mut self,
        mut question: impl FnMut() -> Answer<T>,
    ) -> Answer<(T, CoreState, Vec<T>)> {
        let mut dropped = Vec::new();
        loop {
            let before = self.look();
            let answer = question()?;
            let after = self.look();
            let unstable = (after / before - 1.0).abs() > MAX_FREQUENCY_CHANGE;
            if !unstable || dropped.len() + 1 == MOST_TRIES {
                return Ok((
                    answer,
                    CoreState {
                        core_hz: mean([before, after]),
                        unstable,
                    },
                    dropped,
                ));
            }
            dropped.push(answer);
        }
    }
}

impl Watcher for SimulatedCore {
    fn gather(
        &mut self,
        repeat: u32,
        question: &mut dyn FnMut(u32) -> Answer<Vec<i64>>,
    ) -> Answer<Gathered> {
        let (values, seen, dropped) = self.watched(|| question(repeat))?;
        Ok(Gathered {
            values,
            seen,
            dropped,
        })
    }

    fn around(&mut self, questions: &mut dyn FnMut() -> Answer<Run>) -> Answer<(Run, CoreState)> {
        let (run, seen, _) = self.watched(questions)?;
        Ok((run, seen))
    }

    fn once(
        &mut self,
        questions: &mut dyn FnMut() -> Answer<Run>,
    ) -> Answer<Option<(Run, CoreState)>> {
        Ok(Some(self.around(questions)?).filter(|(_, seen)| !seen.unstable))
    }

    fn end(self: Box<Self>) -> (BTreeMap<String, u32>, bool) {
        (BTreeMap::new(), true)
    }
}
