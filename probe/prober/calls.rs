//! Times the calls of one timer: single calls, batches of calls, and successive readings.

use timers::{Answer, CALLS_IN_TURN, Subject};

use super::watcher::{CoreState, Unwatched, Watcher};
use estimators::cost;
use estimators::trace::{Batches, Integers, Observations, Readings, Reference};

/// Numbers of calls of a timer that a process times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallsPlan {
    /// Number of single calls, in a process that measures only one timer.
    pub singles: u32,
    /// Number of batches, in a process that measures only one timer.
    pub batches: u32,
    /// Target time of the single calls, in nanoseconds. Short batches and readings take shares of
    /// the same length in addition.
    pub interval_ns: f64,
    /// Total time that a process waits for steps of slow timers, in nanoseconds. A tenth of it is
    /// the target time of the batches if the reference is coarse.
    pub slow_ns: f64,
}

impl CallsPlan {
    /// The plan of a brief process.
    pub const BRIEF: Self = Self {
        singles: 2_500,
        batches: 31,
        interval_ns: 5e5,
        slow_ns: 1.1e9,
    };
}

/// Maximum number of successive readings in a process. *Judgement*.
const MAX_READINGS: f64 = 6_000.0;

/// Calls in a batch that still shows the skewness of a single call. *Judgement*.
const SMALL_BATCH_CALLS: u64 = 8;
/// Calls in a batch that shows the variation of a single call, but is short enough to exclude slow
/// variation. *Judgement*.
const MEDIUM_BATCH_CALLS: u64 = 32;

/// Calls in the longest batches. *Judgement*.
const MAX_BATCH_CALLS: f64 = 512.0;

/// Target time of a batch, in nanoseconds: long compared with the step of most references, short
/// compared with the time between interruptions. *Judgement*.
const TARGET_BATCH_NS: f64 = 20_000.0;

/// Length of a batch in steps of a coarse reference. *Judgement*: each end of a batch has an error
/// of up to one step.
const COARSE_BATCH_STEPS: f64 = 8.0;

/// Whether the known step of a reference is too long for batches of the default length, as in
/// browsers.
pub fn is_coarse(reference: &Reference) -> bool {
    reference.step_at_most.is_none()
        && COARSE_BATCH_STEPS * reference.uncertainty_ns() > 2.0 * TARGET_BATCH_NS
}

/// Times calls as in [`CallsPlan::BRIEF`] where nothing is watched from outside.
///
/// # Errors
/// As [`time_calls`].
pub fn time_calls_briefly(
    timer: &mut dyn Subject,
    floor: Option<&mut Box<dyn Subject>>,
    reference: &Reference,
) -> Answer<Observations> {
    time_calls(timer, floor, &mut Unwatched, reference, &CallsPlan::BRIEF)
}

/// Times calls of a timer: single calls, batches of calls, successive readings, and batches of calls of
/// the timer that reads nothing, if there is a `floor`: calls of native timers need none.
///
/// # Errors
/// When one of the timers refuses or their host is lost.
pub fn time_calls(
    timer: &mut dyn Subject,
    floor: Option<&mut Box<dyn Subject>>,
    watch: &mut dyn Watcher,
    reference: &Reference,
    plan: &CallsPlan,
) -> Answer<Observations> {
    // The first calls are discarded, because their code and data are not in a cache yet.
    timer.batches(&reference.id, 8, 3)?;
    let mut questions = Questions {
        timer,
        reference_id: &reference.id,
        watch,
        run: Observations::default(),
    };
    if is_coarse(reference) {
        questions.time_coarsely(reference, plan)?;
    } else {
        questions.time(reference, plan)?;
    }
    if let Some(floor) = floor {
        questions.timer = floor.as_mut();
        let calls = questions.run.batches.calls.max(MAX_BATCH_CALLS as u64);
        questions.run.floor = questions.batches(calls, plan.batches)?;
    }
    Ok(questions.run)
}

/// The measurements of a process, one after the other.
struct Questions<'a> {
    timer: &'a mut dyn Subject,
    reference_id: &'a str,
    watch: &'a mut dyn Watcher,
    /// The answers so far.
    run: Observations,
}

impl Questions<'_> {
    fn time(&mut self, reference: &Reference, plan: &CallsPlan) -> Answer<()> {
        /// Number of batches without calls: their time is subtracted from single calls, so it has to
        /// be as precise. *Judgement*.
        const BRACKETS: u32 = 1_500;
        self.run.bracket = self.batches(0, BRACKETS)?;
        let pilot = self.batches(8, 15)?;
        let cost_ns = self.cost_ns(&pilot, reference);
        let singles = (plan.interval_ns / (cost_ns + 50.0))
            .clamp(f64::from(plan.singles) / 10.0, plan.singles.into());
        self.run.singles = self.batches(1, singles as u32)?;
        let interrupted_share = cost::interruption_share(&self.run, reference);
        // At most about one batch in eight should contain an interruption; whole turns of the native loop.
        let max_calls = if interrupted_share > 0.0 {
            0.13 / interrupted_share
        } else {
            f64::INFINITY
        };
        let calls = (TARGET_BATCH_NS / cost_ns.max(0.1))
            .clamp(16.0, MAX_BATCH_CALLS)
            .min(max_calls)
            .max(8.0) as u64
            / CALLS_IN_TURN
            * CALLS_IN_TURN;
        // Short batches have larger quantisation errors, so there are more of them.
        let repeat = plan.batches * (64 / calls as u32).clamp(1, 4);
        self.run.batches = self.batches(calls, repeat)?;
        let affordable = |calls: u64, max_repeat: f64| {
            let repeat = 0.15 * plan.interval_ns / (calls as f64 * cost_ns + 50.0);
            repeat.clamp(40.0, max_repeat) as u32
        };
        let repeat = affordable(SMALL_BATCH_CALLS, 4_000.0);
        self.run.small_batches = self.batches(SMALL_BATCH_CALLS, repeat)?;
        let repeat = affordable(MEDIUM_BATCH_CALLS, 800.0);
        self.run.medium_batches = self.batches(MEDIUM_BATCH_CALLS, repeat)?;
        let readings = (0.2 * plan.interval_ns / (cost_ns + 20.0)).clamp(500.0, MAX_READINGS);
        self.read(readings as u32)
    }

    /// Like [`Self::time`], for a reference with long steps: uses longer batches. Single calls only
    /// show that no call takes long.
    fn time_coarsely(&mut self, reference: &Reference, plan: &CallsPlan) -> Answer<()> {
        /// Number of single calls: if the reference does not step during any of them, a call takes
        /// less than 3 / 20 000 of a step (rule of three). *Judgement*: 150 ns for a step of 1 ms.
        const SINGLES: u32 = 20_000;
        /// Number of batches of [`SMALL_BATCH_CALLS`] and of [`MEDIUM_BATCH_CALLS`].
        const SMALL_BATCH_COUNT: u32 = 200;
        /// Maximum number of calls in a batch.
        const MAX_CALLS: f64 = 1e10;
        let batch_ns = COARSE_BATCH_STEPS * reference.uncertainty_ns();
        self.run.bracket = self.batches(0, SINGLES)?;
        let (mut calls, mut cost_ns) = (MAX_BATCH_CALLS, 0.0);
        while calls < MAX_CALLS && calls * cost_ns < batch_ns / 2.0 {
            calls *= 4.0;
            let pilot = self.batches(calls as u64, 3)?;
            cost_ns = self.cost_ns(&pilot, reference);
        }
        self.run.singles = self.batches(1, SINGLES)?;
        let repeat = (0.1 * plan.slow_ns / batch_ns).clamp(3.0, plan.batches.into()) as u32;
        let calls = (batch_ns / cost_ns.max(0.1)).clamp(MAX_BATCH_CALLS, MAX_CALLS);
        self.run.batches = self.batches(calls as u64, repeat)?;
        self.run.small_batches = self.batches(SMALL_BATCH_CALLS, SMALL_BATCH_COUNT)?;
        self.run.medium_batches = self.batches(MEDIUM_BATCH_CALLS, SMALL_BATCH_COUNT)?;
        self.read(MAX_READINGS as u32)
    }

    /// The approximate cost of a call in nanoseconds, from batches; 0 if they show none.
    fn cost_ns(&self, pilot: &Batches, reference: &Reference) -> f64 {
        let ticks = cost::approximate_cost(pilot, &self.run.bracket).unwrap_or(0.0);
        ticks * reference.ns_per_tick
    }

    /// Times batches of calls of the timer.
    fn batches(&mut self, calls: u64, repeat: u32) -> Answer<Batches> {
        let (deltas, core) = self.gather(Some(calls), repeat)?;
        Ok(Batches {
            calls,
            deltas,
            core_hz: core.core_hz,
            unstable: core.unstable,
        })
    }

    /// Takes successive readings of the timer.
    fn read(&mut self, count: u32) -> Answer<()> {
        let (values, core) = self.gather(None, count)?;
        self.run.readings = Readings {
            values,
            core_hz: core.core_hz,
            unstable: core.unstable,
        };
        Ok(())
    }

    /// Asks for `repeat` batches of `calls`, or readings, in undisturbed windows, and packs the answer.
    fn gather(&mut self, calls: Option<u64>, repeat: u32) -> Answer<(Integers, CoreState)> {
        let Self { timer, watch, .. } = self;
        let (values, core) = watch.gather(repeat, &mut |repeat| match calls {
            Some(calls) => timer.batches(self.reference_id, calls, repeat),
            None => timer.readings(repeat),
        })?;
        Ok((values.into(), core))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A timer whose calls take ten ticks each.
    struct Tens;

    impl Subject for Tens {
        fn intervals(&mut self, work: &[u64], repeat: u32) -> Answer<Vec<Vec<i64>>> {
            Ok(vec![vec![0; repeat as usize]; work.len()])
        }

        fn batches(&mut self, _: &str, calls: u64, repeat: u32) -> Answer<Vec<i64>> {
            Ok(vec![10 * calls as i64 + 7; repeat as usize])
        }

        fn readings(&mut self, count: u32) -> Answer<Vec<i64>> {
            Ok((0..i64::from(count)).collect())
        }
    }

    #[test]
    fn times_calls_of_each_length() {
        let reference = Reference {
            ns_per_tick: 1.0,
            step: 1.0,
            ..Reference::default()
        };
        let mut floor: Box<dyn Subject> = Box::new(Tens);
        let run = time_calls_briefly(&mut Tens, Some(&mut floor), &reference).expect("it answers");
        assert_eq!(run.bracket.deltas.iter().next(), Some(7));
        assert!(run.singles.deltas.iter().all(|delta| delta == 17));
        assert_eq!(run.floor.deltas.len(), CallsPlan::BRIEF.batches as usize);
        assert!(run.floor.calls >= run.batches.calls && run.batches.calls > 8);
        assert!(!run.readings.values.is_empty());
    }
}
