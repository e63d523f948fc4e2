//! A timer that answers questions, wherever it runs: in this process, in a simulation or in an
//! agent.

use crate::waits::{Start, Wait, WaitList, Wakeups};
use crate::{Activity, Answer, BackwardSteps, Context, Fault, Movement, TimerQuestion};

/// The answer to a question: integers, which the question defines, and what only periodic timers add.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// The integers.
    pub list: Vec<i64>,
    /// When a periodic timer was armed.
    pub start: Start,
    /// The CPU time of all wake-ups of a periodic timer, in nanoseconds.
    pub cpu_ns: Option<i64>,
    /// How often signals ended the waits of a periodic timer early.
    pub signals: Option<u32>,
}

impl Values {
    /// The value for a timer that refuses while other timers answer.
    pub const REFUSED: i64 = i64::MIN;

    /// Groups the integers into tuples of `N`. The number of integers is a multiple of `N`.
    pub fn tuples<const N: usize>(&self) -> &[[i64; N]] {
        self.list.as_chunks().0
    }
}

impl From<Vec<i64>> for Values {
    fn from(list: Vec<i64>) -> Self {
        Self {
            list,
            ..Self::default()
        }
    }
}

/// A timer as a black box that answers questions, in ticks. It refuses those that it cannot answer:
/// a clock cannot wait, and a sleep primitive cannot be read.
///
/// Implemented by the clocks ([`Native`](crate::Native)) and wait methods of this process and by the
/// client of the agent protocol, which [answer](Self::answer), and by the simulated timers of
/// `dev/simulated`, which implement the questions one by one.
pub trait Subject {
    /// The id by which questions name the timer, if it needs one.
    fn id(&self) -> String {
        String::new()
    }

    /// Answers a question to this timer alone.
    ///
    /// # Errors
    /// See [`Fault`].
    fn answer(&mut self, _question: TimerQuestion) -> Answer<Values> {
        unsupported()
    }

    /// For each amount in `work`, `repeat` times: reads the timer, does that many units of work,
    /// reads the timer again. Returns second − first, one row per amount.
    ///
    /// # Errors
    /// See [`Fault`].
    fn intervals(&mut self, work: &[u64], repeat: u32) -> Answer<Vec<Vec<i64>>> {
        let question = TimerQuestion::Intervals {
            timer: self.id(),
            repeat,
            work: work.into(),
        };
        Ok(split_rows(&self.answer(question)?.list, work.len()))
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
    /// Refused if the agent does not know the reference.
    fn batches(&mut self, reference: &str, calls: u64, repeat: u32) -> Answer<Vec<i64>> {
        let question = TimerQuestion::Batches {
            timer: self.id(),
            reference: reference.into(),
            calls,
            repeat,
            watched: false,
        };
        Ok(self.answer(question)?.list)
    }

    /// Returns `count` successive readings.
    ///
    /// # Errors
    /// See [`Fault`].
    fn readings(&mut self, count: u32) -> Answer<Vec<i64>> {
        let question = TimerQuestion::Readings {
            timer: self.id(),
            count,
            watched: false,
        };
        Ok(self.answer(question)?.list)
    }

    /// Counts the backward steps in `count` successive readings, which are asked for if the timer
    /// refuses to count.
    ///
    /// # Errors
    /// As for [`readings`](Self::readings).
    fn order(&mut self, count: u32) -> Answer<BackwardSteps> {
        let timer = self.id();
        let values = match self.answer(TimerQuestion::Order { timer, count }) {
            Err(Fault::Refused(_)) => {
                return Ok(BackwardSteps::from_readings(&self.readings(count)?));
            }
            values => values?.list,
        };
        Ok(BackwardSteps {
            readings: count.into(),
            backward: values[0].unsigned_abs(),
            largest: values[1].unsigned_abs(),
            ends: Some([values[2], values[3]]),
        })
    }

    /// For several pairs of CPUs at the same time, `count` times: a thread on the first CPU reads the
    /// timer (`a`) and signals a thread on the second CPU by a store-release; that thread reads the
    /// timer (`b`) after a load-acquire. The threads swap their roles after each handoff. Without
    /// pairs, there is one pair of threads, on any CPUs. Returns a list of `[a, b]` per pair of
    /// threads; `b < a` is a backward step between threads.
    ///
    /// # Errors
    /// Refused by agents without threads, or that cannot choose CPUs.
    fn handoffs(&mut self, cpus: &[[u32; 2]], count: u32) -> Answer<Vec<Vec<[i64; 2]>>> {
        let question = TimerQuestion::Handoffs {
            timer: self.id(),
            cpus: cpus.into(),
            count,
        };
        let values = self.answer(question)?;
        Ok(split_rows(values.tuples(), cpus.len().max(1)))
    }

    /// `count` times: reads `reference`, reads the timer, reads `reference`, does `work` units of
    /// work. Returns the three readings of each round.
    ///
    /// # Errors
    /// Refused by agents that do not support the question or do not know the reference.
    fn comparisons(&mut self, reference: &str, work: u64, count: u32) -> Answer<Vec<[i64; 3]>> {
        let question = TimerQuestion::Comparisons {
            timers: vec![self.id()],
            reference: reference.into(),
            work,
            count,
            repeat: 1,
        };
        Ok(self.answer(question)?.tuples().into())
    }

    /// Measures how far the timer and `reference` move in the given number of milliseconds, while
    /// the calling thread does what `during` says.
    ///
    /// # Errors
    /// Refused by agents that do not support the question or do not know the reference.
    fn advance(&mut self, reference: &str, during: Activity, ms: u32) -> Answer<Movement> {
        let question = TimerQuestion::Advance {
            timers: vec![self.id()],
            reference: reference.into(),
            during,
            ms,
        };
        match *self.answer(question)?.tuples() {
            [[timer, reference]] if timer != Values::REFUSED => Ok(Movement { timer, reference }),
            _ => Err(Fault::Refused(format!("`{}` refuses", self.id()))),
        }
    }

    /// Measures the time that a read adds to the code around it. Returns a row per context with
    /// `repeat` pairs, in ticks of `reference`: the time of `turns` pieces of work without a read,
    /// and with a read in the middle of each piece. [`Context::Cold`] always measures one piece.
    ///
    /// # Errors
    /// Refused by agents that do not support the question or do not know the reference.
    fn adds(
        &mut self,
        reference: &str,
        contexts: &[Context],
        turns: u32,
        repeat: u32,
    ) -> Answer<Vec<Vec<[i64; 2]>>> {
        let question = TimerQuestion::Adds {
            timer: self.id(),
            reference: reference.into(),
            contexts: contexts.into(),
            turns,
            repeat,
        };
        let values = self.answer(question)?;
        Ok(split_rows(values.tuples(), contexts.len()))
    }

    /// Measures waits, in the order of the list.
    ///
    /// # Errors
    /// When the method is periodic only, or the reference clock is unknown.
    fn waits(&mut self, reference: &str, list: WaitList) -> Answer<Vec<Wait>> {
        let question = TimerQuestion::Waits {
            timer: self.id(),
            reference: reference.into(),
            pause_ns: list.pause_ns,
            repeat: 1,
            request_ns: list.lengths_ns.into(),
        };
        let wait = |&[index, before, after, cpu, signals]: &[i64; 5]| Wait {
            request_ns: list.lengths_ns[index as usize],
            before,
            after,
            cpu_ns: (cpu != -1).then_some(cpu),
            signals: signals.try_into().unwrap_or(0),
        };
        Ok(self.answer(question)?.tuples().iter().map(wait).collect())
    }

    /// Runs the timer with the given period for `count` wake-ups.
    ///
    /// # Errors
    /// When the method is not periodic, or the reference clock is unknown.
    fn periods(&mut self, reference: &str, period_ns: u64, count: u32) -> Answer<Wakeups> {
        let values = self.answer(TimerQuestion::Periods {
            timer: self.id(),
            reference: reference.into(),
            period_ns,
            count,
        })?;
        let expiration = |&[at, count]: &[i64; 2]| (at, count.unsigned_abs());
        Ok(Wakeups {
            list: values.tuples().iter().map(expiration).collect(),
            start: values.start,
            cpu_ns: values.cpu_ns,
            signals: values.signals.unwrap_or(0),
        })
    }
}

/// Refuses a question that a host does not support.
pub(crate) fn unsupported<T>() -> Answer<T> {
    Err(Fault::Refused(
        "this host does not support the question".into(),
    ))
}

/// Splits the values into `count` rows of the same length, which may be 0.
fn split_rows<T: Clone>(values: &[T], count: usize) -> Vec<Vec<T>> {
    let length = values.len().checked_div(count).unwrap_or(0);
    (0..count)
        .map(|row| values[row * length..(row + 1) * length].into())
        .collect()
}
