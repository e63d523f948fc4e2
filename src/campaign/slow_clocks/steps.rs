//! When a slow timer has shown enough.

use timers::{Answer, Fault, Subject};

/// Steps after which nothing more is learned.
const ENOUGH: usize = 48;
/// Steps of exactly one tick after which nothing more is learned: a step cannot be shorter than a
/// tick.
const ENOUGH_TICKS: usize = 2;

/// How often a timer moved.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    all: usize,
    ticks: usize,
    zeros: usize,
}

impl Steps {
    pub(super) fn count(&mut self, deltas: &[i64]) {
        self.all += deltas.iter().filter(|&&delta| delta > 0).count();
        self.ticks += deltas.iter().filter(|&&delta| delta == 1).count();
        self.zeros += deltas.iter().filter(|&&delta| delta == 0).count();
    }

    pub(super) fn are_enough(&self) -> bool {
        let only_ticks =
            self.ticks == self.all && self.ticks >= ENOUGH_TICKS && self.zeros > self.ticks;
        // Readings made unique move by one tick at every read, which is no step.
        let enough = self.all - self.ticks >= ENOUGH || (self.zeros > 0 && self.all >= ENOUGH);
        only_ticks || enough
    }
}

/// The present reading.
pub(super) fn last(subject: &mut dyn Subject) -> Answer<i64> {
    subject
        .readings(1)?
        .pop()
        .ok_or_else(|| Fault::Lost("it gave no reading".into()))
}
