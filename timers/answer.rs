//! Answers of timers, and the reasons why there is none.

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

/// The distances that a timer and the reference moved during the same time, each in its own ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Movement {
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
