//! Ends a campaign: settles what its processes agree on, examines all timers, and waits for those
//! whose steps are long.

use rand::RngExt;
use timers::Fault;

use super::Campaign;
use super::references::look;
use crate::campaign::slow_clocks::{Slow, together};
use crate::model::Interval;
use crate::profile::resolution;
use crate::resolution::Resolution;
use crate::statistics::nine_tenths;
use crate::trace::Stored;

impl Campaign<'_> {
    /// Writes down what processes agree on; returns the frequency of the core.
    pub(super) fn settle(&mut self) -> Result<Option<Interval>, Fault> {
        for (index, calibration) in self.calibrations.iter_mut().enumerate() {
            look(calibration)?;
            if let Some(rate) = calibration
                .take()
                .and_then(|calibration| calibration.rate())
            {
                let hosted = self
                    .subjects
                    .iter_mut()
                    .filter(|subject| subject.host == index);
                hosted.for_each(|subject| subject.at(rate));
            }
        }
        let core_hz = nine_tenths(self.watch.borrow().frequencies());
        self.subjects
            .iter_mut()
            .for_each(|subject| subject.settle(core_hz.map(|hertz| hertz.value)));
        self.apart = None;
        Ok(core_hz)
    }

    /// Whether they can be trusted; the slow ones, which are watched meanwhile, last.
    pub(super) fn examine(&mut self) -> Result<(), Fault> {
        let all = 0..self.subjects.len();
        let (slow, fast): (Vec<usize>, Vec<usize>) =
            all.partition(|index| self.subjects[*index].is_slow());
        self.complete(&fast)?;
        (self.progress)("waiting for slow clocks");
        for (index, waited) in self.background_watcher.end() {
            if self.subjects[index].is_slow() {
                self.subjects[index].keep(waited)?;
            }
        }
        self.wait_together(&slow)?;
        self.complete(&slow)
    }

    fn complete(&mut self, which: &[usize]) -> Result<(), Fault> {
        (self.progress)("can they be trusted");
        self.examiner
            .complete(which, self.hosts, self.subjects, self.settings, &self.cpus)
    }

    /// All slow timers that are not resolved yet.
    fn wait_together(&mut self, slow: &[usize]) -> Result<(), Fault> {
        let unresolved = slow
            .iter()
            .copied()
            .filter(|&index| !self.subjects[index].outcome.as_ref().is_ok_and(is_resolved));
        let (indices, slow): (Vec<usize>, Vec<Slow>) = unresolved
            .filter_map(|index| Some((index, self.subjects[index].waiting(self.hosts)?)))
            .unzip();
        let waited = together(&slow, self.settings, &self.cpus, self.random.random());
        for (index, waited) in indices.into_iter().zip(waited) {
            self.subjects[index].keep(waited)?;
        }
        Ok(())
    }
}

fn is_resolved(stored: &Stored) -> bool {
    matches!(resolution(&stored.open()), Resolution::Resolved { .. })
}
