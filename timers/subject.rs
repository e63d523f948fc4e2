//! What can be asked of a timer, whatever hosts it: the five questions of the agent protocol.

use crate::Context;

/// The answer to one question.
pub type Answer<T> = Result<T, Fault>;

/// Why a question was not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The subject cannot serve this request; others it still can.
    #[error("{0}")]
    Refused(String),
    /// The subject is gone or cannot be believed any more: it crashed, hangs, or sends malformed
    /// replies.
    #[error("{0}")]
    Lost(String),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// What the calling thread does while [`Subject::advance`] watches the timer move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum During {
    /// It computes.
    Spin,
    /// It sleeps.
    Sleep,
    /// It sleeps while another thread of the same process computes.
    OtherSpin,
}

/// How far a timer and the reference moved together, each in its own ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advance {
    /// Ticks of the timer.
    pub timer: i64,
    /// Ticks of the reference.
    pub reference: i64,
}

/// Successive readings of one thread, of which only their order is kept. All in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ordered {
    /// How many readings there were.
    pub readings: u64,
    /// How often one was smaller than the one before it.
    pub backward: u64,
    /// By how much at most.
    pub largest: u64,
    /// The first and the last reading.
    pub ends: Option<[i64; 2]>,
}

impl Ordered {
    /// Of these readings.
    #[must_use]
    pub fn from_readings(readings: &[i64]) -> Self {
        let back = |pair: &[i64]| pair[1].wrapping_sub(pair[0]).min(0).unsigned_abs();
        let steps = readings.windows(2).map(back).filter(|&step| step > 0);
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

    /// These and later ones, as one series: from the last of these to the first of those is a step
    /// as well.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
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

/// A timer as the prober sees it: a black box that answers five questions, in ticks.
///
/// Implemented by the native timers of this process ([`Native`](crate::Native)), by the simulated
/// ones of `dev/simulated` and by the client of the agent protocol.
pub trait Subject {
    /// For each amount in `work`, `repeat` times: read the timer, do that many units of work, read
    /// it again. Answers second − first, a row for each amount.
    ///
    /// # Errors
    /// As every question: see [`Fault`].
    fn intervals(&mut self, work: &[u64], repeat: u32) -> Answer<Vec<Vec<i64>>>;

    /// `repeat` times: read `reference`, call the timer `calls` times, read `reference`. Answers
    /// second − first in ticks of the reference. With no calls that is the floor of the bracket
    /// itself.
    ///
    /// # Errors
    /// Refused when the host does not know the reference.
    fn batches(&mut self, reference: &str, calls: u64, repeat: u32) -> Answer<Vec<i64>>;

    /// `count` successive readings.
    ///
    /// # Errors
    /// Refused when a reading does not fit 63 bits.
    fn readings(&mut self, count: u32) -> Answer<Vec<i64>>;

    /// `count` successive readings, of which only the order is told.
    ///
    /// # Errors
    /// As [`readings`](Self::readings).
    fn order(&mut self, count: u32) -> Answer<Ordered> {
        self.readings(count)
            .map(|readings| Ordered::from_readings(&readings))
    }

    /// `count` times: one thread reads `a`, hands over to another thread (release, acquire), which
    /// reads `b`. The roles alternate. `b < a` is a step backwards across threads.
    ///
    /// # Errors
    /// Refused by hosts without threads.
    fn handoffs(&mut self, _count: u32) -> Answer<Vec<[i64; 2]>> {
        unanswered()
    }

    /// The same between threads on these CPUs, of several pairs at the same time; a list for each
    /// pair. The thread on the first CPU of a pair begins.
    ///
    /// # Errors
    /// Refused by hosts that cannot choose CPUs.
    fn handoffs_between(&mut self, _cpus: &[[u32; 2]], _count: u32) -> Answer<Vec<Vec<[i64; 2]>>> {
        unanswered()
    }

    /// `count` times: read `reference`, read the timer, read `reference`, do `work` units of work.
    ///
    /// # Errors
    /// Refused by hosts that cannot do it, or do not know the reference.
    fn comparisons(&mut self, _reference: &str, _work: u64, _count: u32) -> Answer<Vec<[i64; 3]>> {
        unanswered()
    }

    /// How far the timer and `reference` move while `milliseconds` pass in the way `during` says.
    ///
    /// # Errors
    /// Refused by hosts that cannot do it, or do not know the reference.
    fn advance(
        &mut self,
        _reference: &str,
        _during: During,
        _milliseconds: u32,
    ) -> Answer<Advance> {
        unanswered()
    }

    /// What a read adds to the code around it: a row for each context, `repeat` times how long
    /// `turns` pieces of work take without a read, and with one in the middle of each piece, in
    /// turn, in ticks of `reference`. A cold read is one piece, whatever `turns` is.
    ///
    /// # Errors
    /// Refused by hosts that cannot do it, or do not know the reference.
    fn adds(
        &mut self,
        _reference: &str,
        _contexts: &[Context],
        _turns: u32,
        _repeat: u32,
    ) -> Answer<Vec<Vec<[i64; 2]>>> {
        unanswered()
    }
}

/// The answer to a question that a host does not know.
pub(crate) fn unanswered<T>() -> Answer<T> {
    Err(Fault::Refused("this host does not answer that".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_parts_adds_up() {
        let readings = [3, 5, 5, 4, 9, 2, 2, 8, i64::MIN, i64::MAX];
        for at in 0..=readings.len() {
            let (first, second) = readings.split_at(at);
            let parts = Ordered::from_readings(first).and(Ordered::from_readings(second));
            assert_eq!(parts, Ordered::from_readings(&readings), "parted at {at}");
        }
        let whole = Ordered::from_readings(&readings[..8]);
        assert_eq!(
            (whole.readings, whole.backward, whole.largest, whole.ends),
            (8, 2, 7, Some([3, 8]))
        );
        assert_eq!(Ordered::from_readings(&[]), Ordered::default());
    }
}
