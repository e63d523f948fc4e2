//! The questions that a timer answers, wherever it runs: in this process, in a simulation or in an
//! agent.

use crate::Context;
use crate::waits::{Wait, WaitList, Wakeups};

/// The answer to one question.
pub type Answer<T> = Result<T, Fault>;

/// The reason why a question was not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The subject cannot answer this request, but can still answer others.
    Refused(String),
    /// The subject cannot be used any more: it crashed, hangs, or sends malformed replies.
    Lost(String),
    /// The user asked to stop.
    Interrupted,
}

texts! { Fault {
    Self::Refused(why) | Self::Lost(why) => "{why}",
    Self::Interrupted => "interrupted",
} }

/// The activity of the calling thread during [`Subject::advance`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum Activity {
    /// The thread computes.
    Spin,
    /// The thread sleeps.
    Sleep,
    /// The thread sleeps while another thread of the same process computes.
    OtherSpin,
}

/// The distances that a timer and the reference moved during the same time, each in its own ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advance {
    /// Ticks of the timer.
    pub timer: i64,
    /// Ticks of the reference.
    pub reference: i64,
}

/// The backward steps in successive readings of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackwardSteps {
    /// The number of readings.
    pub readings: u64,
    /// The number of readings that were less than the previous reading.
    pub backward: u64,
    /// The largest backward step in ticks; 0 if there is none.
    pub largest: u64,
    /// The first and the last reading in ticks; `None` without readings.
    pub ends: Option<[i64; 2]>,
}

impl BackwardSteps {
    /// Counts the backward steps of these readings.
    pub fn from_readings(readings: &[i64]) -> Self {
        let backward_step = |pair: &[i64]| pair[1].wrapping_sub(pair[0]).min(0).unsigned_abs();
        let steps = readings
            .windows(2)
            .map(backward_step)
            .filter(|&step| step > 0);
        let (backward, largest) =
            steps.fold((0, 0), |(count, most), step| (count + 1, step.max(most)));
        let ends = readings
            .first()
            .zip(readings.last())
            .map(|(&first, &last)| [first, last]);
        Self {
            readings: readings.len() as u64,
            backward,
            largest,
            ends,
        }
    }

    /// Combines these readings with later ones into one series. The step from the last of these
    /// readings to the first of the later ones counts too.
    #[must_use]
    pub fn followed_by(self, later: Self) -> Self {
        let (Some([first, last]), Some([next, end])) = (self.ends, later.ends) else {
            return if self.ends.is_none() { later } else { self };
        };
        let between = Self::from_readings(&[last, next]);
        Self {
            readings: self.readings + later.readings,
            backward: self.backward + between.backward + later.backward,
            largest: self.largest.max(between.largest).max(later.largest),
            ends: Some([first, end]),
        }
    }
}

/// A timer as a black box that answers questions, in ticks. It refuses those that it cannot answer:
/// a clock cannot wait, and a sleep primitive cannot be read.
///
/// Implemented by the clocks ([`Native`](crate::Native)) and wait methods of this process, by the
/// simulated timers of `dev/simulated` and by the client of the agent protocol.
pub trait Subject {
    /// For each amount in `work`, `repeat` times: reads the timer, does that many units of work,
    /// reads the timer again. Returns second − first, one row per amount.
    ///
    /// # Errors
    /// See [`Fault`].
    fn intervals(&mut self, _work: &[u64], _repeat: u32) -> Answer<Vec<Vec<i64>>> {
        unsupported()
    }

    /// `repeat` times: reads `reference`, reads the timer `calls` times, reads `reference` again.
    /// Returns second − first in ticks of the reference.
    ///
    /// The result contains the reads of the timer, the loop around them, the part of the first read
    /// of the reference after it took its value, and the part of the second read before it took its
    /// value; both parts together are about one read. With 0 calls only these parts and the test of
    /// the loop remain.
    ///
    /// # Errors
    /// Refused if the host does not know the reference.
    fn batches(&mut self, _reference: &str, _calls: u64, _repeat: u32) -> Answer<Vec<i64>> {
        unsupported()
    }

    /// Returns `count` successive readings.
    ///
    /// # Errors
    /// See [`Fault`].
    fn readings(&mut self, _count: u32) -> Answer<Vec<i64>> {
        unsupported()
    }

    /// Counts the backward steps in `count` successive readings.
    ///
    /// # Errors
    /// As for [`readings`](Self::readings).
    fn order(&mut self, count: u32) -> Answer<BackwardSteps> {
        self.readings(count)
            .map(|readings| BackwardSteps::from_readings(&readings))
    }

    /// For several pairs of CPUs at the same time, `count` times: a thread on the first CPU reads the
    /// timer (`a`) and signals a thread on the second CPU by a store-release; that thread reads the
    /// timer (`b`) after a load-acquire. The threads swap their roles after each handoff. Without
    /// pairs, there is one pair of threads, on any CPUs. Returns a list of `[a, b]` per pair of
    /// threads; `b < a` is a backward step between threads.
    ///
    /// # Errors
    /// Refused by hosts without threads, or that cannot choose CPUs.
    fn handoffs(&mut self, _cpus: &[[u32; 2]], _count: u32) -> Answer<Vec<Vec<[i64; 2]>>> {
        unsupported()
    }

    /// `count` times: reads `reference`, reads the timer, reads `reference`, does `work` units of
    /// work. Returns the three readings of each round.
    ///
    /// # Errors
    /// Refused by hosts that do not support the question or do not know the reference.
    fn comparisons(&mut self, _reference: &str, _work: u64, _count: u32) -> Answer<Vec<[i64; 3]>> {
        unsupported()
    }

    /// Measures how far the timer and `reference` move in the given number of milliseconds, while
    /// the calling thread does what `during` says.
    ///
    /// # Errors
    /// Refused by hosts that do not support the question or do not know the reference.
    fn advance(
        &mut self,
        _reference: &str,
        _during: Activity,
        _milliseconds: u32,
    ) -> Answer<Advance> {
        unsupported()
    }

    /// Measures the time that a read adds to the code around it. Returns a row per context with
    /// `repeat` pairs, in ticks of `reference`: the time of `turns` pieces of work without a read,
    /// and with a read in the middle of each piece. [`Context::Cold`] always measures one piece.
    ///
    /// # Errors
    /// Refused by hosts that do not support the question or do not know the reference.
    fn adds(
        &mut self,
        _reference: &str,
        _contexts: &[Context],
        _turns: u32,
        _repeat: u32,
    ) -> Answer<Vec<Vec<[i64; 2]>>> {
        unsupported()
    }

    /// Measures waits, in the order of the list.
    ///
    /// # Errors
    /// When the method is periodic only, or the reference clock is unknown.
    fn waits(&mut self, _reference: &str, _list: WaitList) -> Answer<Vec<Wait>> {
        unsupported()
    }

    /// Runs the timer with the given period for `count` wake-ups.
    ///
    /// # Errors
    /// When the method is not periodic, or the reference clock is unknown.
    fn periods(&mut self, _reference: &str, _period_ns: u64, _count: u32) -> Answer<Wakeups> {
        unsupported()
    }
}

/// Refuses a question that a host does not support.
fn unsupported<T>() -> Answer<T> {
    Err(Fault::Refused(
        "this host does not support the question".into(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combines_backward_steps_of_parts() {
        let readings = [3, 5, 5, 4, 9, 2, 2, 8, i64::MIN, i64::MAX];
        for at in 0..=readings.len() {
            let (first, second) = readings.split_at(at);
            let parts = BackwardSteps::from_readings(first)
                .followed_by(BackwardSteps::from_readings(second));
            assert_eq!(
                parts,
                BackwardSteps::from_readings(&readings),
                "parted at {at}"
            );
        }
        let whole = BackwardSteps::from_readings(&readings[..8]);
        assert_eq!(
            (whole.readings, whole.backward, whole.largest, whole.ends),
            (8, 2, 7, Some([3, 8]))
        );
        assert_eq!(BackwardSteps::from_readings(&[]), BackwardSteps::default());
    }
}
