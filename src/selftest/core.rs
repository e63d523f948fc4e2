//! A watch on the core of a simulated machine: it sees the frequency around each window, nearly as it is.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use timers::Answer;
use timers::simulated::Shared;

use super::FREQUENCY;
use crate::analysis::statistics::mean;
use crate::prober::watch::{Gathered, STEADY, Seen, Watcher};

/// What a look at the frequency is off by, in turns up and down, as a share: chains of additions were seen to repeat to a
/// tenth of this.
const LOOK: f64 = 2e-4;
/// How often a window is taken at most, as in a campaign that has not much credit left.
const MOST_TRIES: u32 = 2;

/// Watches one simulated process.
pub(super) struct SimulatedCore {
    world: Shared,
    frequencies: Rc<RefCell<Vec<f64>>>,
    up: bool,
}

impl SimulatedCore {
    pub(super) fn of(world: Shared, frequencies: &Rc<RefCell<Vec<f64>>>) -> Self {
        Self { world, frequencies: Rc::clone(frequencies), up: false }
    }

    fn look(&mut self) -> f64 {
        self.up = !self.up;
        let hertz = FREQUENCY * self.world.speed() * if self.up { 1.0 + LOOK } else { 1.0 - LOOK };
        self.frequencies.borrow_mut().push(hertz);
        hertz
    }
}

impl Watcher for SimulatedCore {
    fn gather(&mut self, repeat: u32, question: &mut dyn FnMut(u32) -> Answer<Vec<i64>>) -> Answer<Gathered> {
        let (mut turn, mut dropped) = (1, Vec::new());
        loop {
            let before = self.look();
            let values = question(repeat)?;
            let after = self.look();
            let unstable = (after / before - 1.0).abs() > STEADY;
            if !unstable || turn == MOST_TRIES {
                let seen = Seen { core_hz: mean(&[before, after]), unstable };
                return Ok(Gathered { values, seen, dropped });
            }
            dropped.push(values);
            turn += 1;
        }
    }

    fn end(self: Box<Self>) -> (BTreeMap<String, u32>, bool) {
        (BTreeMap::new(), true)
    }
}
