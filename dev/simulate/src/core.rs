//! Measures the core frequency and the width of the core of a simulated machine before and after
//! each question, and repeats questions during which the frequency changed or the core was shared.

use std::cell::RefCell;
use std::rc::Rc;

use simulated::Shared;
use timers::Answer;

use super::FREQUENCY;
use estimators::model::{Hertz, MIN_ALONE_WIDTH};
use estimators::statistics::mean;
use probe::prober::{CoreState, Watcher};
use timermeter::campaign::disturbances::MAX_FREQUENCY_CHANGE;

/// The relative error of a measured frequency, with alternating sign. Measurements by chains of
/// additions on real machines repeat to a tenth of this.
const FREQUENCY_ERROR: f64 = 2e-4;
/// The largest number of times that a question is asked, as in a campaign that has spent most of
/// its allowance of repetitions.
const MAX_TRIES: u32 = 2;

/// Measures the core frequency during one simulated process.
pub(super) struct SimulatedCore {
    world: Shared,
    frequencies: Rc<RefCell<Vec<f64>>>,
    /// Whether the last measured frequency was too high.
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

    fn measure_frequency(&mut self) -> f64 {
        self.up = !self.up;
        let hertz = FREQUENCY
            * self.world.speed()
            * if self.up {
                1.0 + FREQUENCY_ERROR
            } else {
                1.0 - FREQUENCY_ERROR
            };
        self.frequencies.borrow_mut().push(hertz);
        hertz
    }

    /// Asks the question until nothing disturbs it, at most [`MAX_TRIES`] times. Returns
    /// the last answer and the state of the core during it.
    pub(super) fn ask_undisturbed<T>(
        &mut self,
        mut question: impl FnMut() -> Answer<T>,
    ) -> Answer<(T, CoreState)> {
        let mut tries = 0;
        loop {
            tries += 1;
            let (before, width) = (self.measure_frequency(), self.world.width());
            let answer = question()?;
            let after = self.measure_frequency();
            let unstable = (after / before - 1.0).abs() > MAX_FREQUENCY_CHANGE
                || width.min(self.world.width()) < MIN_ALONE_WIDTH;
            if !unstable || tries == MAX_TRIES {
                let core_hz = mean([before, after]).and_then(Hertz::new);
                return Ok((answer, CoreState { core_hz, unstable }));
            }
        }
    }
}

impl Watcher for SimulatedCore {
    fn gather(
        &mut self,
        repeat: u32,
        question: &mut dyn FnMut(u32) -> Answer<Vec<i64>>,
    ) -> Answer<(Vec<i64>, CoreState)> {
        self.ask_undisturbed(|| question(repeat))
    }
}
