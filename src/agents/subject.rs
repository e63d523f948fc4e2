//! Lets the campaign question the timers of an agent: sends each question over the connection and converts the integers of the answer.

use timers::waits::{Wait, WaitList, Wakeups};
use timers::{Activity, Answer, Fault, Subject};

use super::connection::SharedConnection;
use super::protocol::{AgentQuestion, Op, Reply};
use estimators::model::Context;
use estimators::rate::tightest;
use estimators::trace::{Differences, InContext, Observations, Reference};
use probe::prober::{Prober, StepQuestion};

/// Maximum number of repetitions of a disturbed window. The last repetition is kept even if it was
/// disturbed.
const MAX_REPETITIONS: u32 = 6;

/// Returns a timer of the agent.
#[must_use]
pub fn subject(connection: &SharedConnection, id: &str) -> Box<dyn Subject> {
    Box::new(AgentSubject::new(connection, id))
}

/// Returns the prober of the agent's process for a timer, if the agent has one.
#[must_use]
pub fn prober(connection: &SharedConnection, id: &str) -> Option<Box<dyn Prober>> {
    let offers = |op| connection.borrow().hello().offers(op);
    let has_prober = offers(Op::Calls) && offers(Op::Steps);
    has_prober.then(|| Box::new(AgentSubject::new(connection, id)) as _)
}

/// A timer of an agent, with the connection over which it is questioned.
struct AgentSubject {
    connection: SharedConnection,
    id: String,
}

impl AgentSubject {
    fn new(connection: &SharedConnection, id: &str) -> Self {
        Self {
            connection: connection.clone(),
            id: id.into(),
        }
    }

    fn ask(&self, question: &AgentQuestion) -> Answer<Vec<i64>> {
        self.connection
            .borrow_mut()
            .ask(question)
            .map(|reply| reply.values)
    }

    /// Whether the agent reports the state of its thread with its answers.
    fn is_watched(&self) -> bool {
        self.connection.borrow().reports_thread_states()
    }

    /// Repeats the question until the runtime does not disturb its answer. If a disturbance makes
    /// earlier measurements void, the caller has to discard them.
    fn ask_undisturbed(&self, question: &AgentQuestion) -> Answer<Vec<i64>> {
        let mut repetitions_left = MAX_REPETITIONS;
        loop {
            let values = self.ask(question)?;
            let mut connection = self.connection.borrow_mut();
            let voided_before = connection.windows().voided;
            let disturbed = connection.count_window(repetitions_left > 0);
            if !disturbed || repetitions_left == 0 || connection.windows().voided > voided_before {
                return Ok(values);
            }
            repetitions_left -= 1;
        }
    }
}

impl Prober for AgentSubject {
    fn calls(&mut self, reference: &Reference, floor: bool) -> Answer<Observations> {
        let reply = self.connection.borrow_mut().ask(&AgentQuestion::Calls {
            timer: self.id.clone(),
            reference: reference.id.clone(),
            ns_per_tick: reference.ns_per_tick,
            step: reference.step,
            floor,
        })?;
        Ok(reply
            .packed
            .map_or_else(Observations::default, |packed| packed.0))
    }

    fn steps(&mut self, question: &StepQuestion, groups: &mut Vec<Differences>) -> Answer<bool> {
        let reply = self.connection.borrow_mut().ask(&AgentQuestion::Steps {
            timer: self.id.clone(),
            question: *question,
        })?;
        groups.extend(reply.packed.into_iter().flat_map(|run| run.0.intervals));
        Ok(reply.values == [1])
    }
}

/// Compares several timers in turn with the reference, in `count` rounds. Returns for each round
/// and timer the tightest of `repeat` comparisons, or `None` if the timer refused.
///
/// # Errors
/// When the agent refuses or is lost.
pub fn compare_in_rounds(
    connection: &SharedConnection,
    timers: &[&str],
    reference: &str,
    [repeat, count]: [u32; 2],
    work: u64,
) -> Answer<Vec<Vec<Option<[i64; 3]>>>> {
    let reply = connection.borrow_mut().ask(&AgentQuestion::Comparisons {
        timers: timers.iter().map(|&id| id.into()).collect(),
        reference: reference.into(),
        work,
        count,
        repeat,
    })?;
    let repetitions = as_tuples(&reply.values).chunks(repeat.max(1) as usize);
    let tightest: Vec<_> = repetitions
        .map(|comparisons| tightest(comparisons.to_vec()))
        .map(|comparison| comparison.filter(|readings| *readings != [Reply::REFUSED; 3]))
        .collect();
    Ok(split_rows(&tightest, count as usize))
}

/// Measures how far several timers and the reference advance during one span of time, in ticks;
/// `None` for a timer that refused.
///
/// # Errors
/// When the agent refuses or is lost.
pub fn measure_advances(
    connection: &SharedConnection,
    timers: &[&str],
    reference: &str,
    during: Activity,
    ms: u32,
) -> Answer<Vec<Option<[i64; 2]>>> {
    let reply = connection.borrow_mut().ask(&AgentQuestion::Advance {
        timers: timers.iter().map(|&id| id.into()).collect(),
        reference: reference.into(),
        during,
        ms,
    })?;
    let unless_refused = |&ticks: &[i64; 2]| (ticks != [Reply::REFUSED; 2]).then_some(ticks);
    Ok(as_tuples(&reply.values)
        .iter()
        .map(unless_refused)
        .collect())
}

/// Measures the time that a read adds to the code around it, in ticks of the reference.
///
/// # Errors
/// When the agent refuses or is lost.
pub fn measure_added_time(
    connection: &SharedConnection,
    timer: &str,
    reference: &str,
    contexts: &[Context],
    [turns, repeat]: [u32; 2],
) -> Answer<Vec<InContext>> {
    let reply = connection.borrow_mut().ask(&AgentQuestion::Adds {
        timer: timer.into(),
        reference: reference.into(),
        contexts: contexts.into(),
        turns,
        repeat,
    })?;
    let in_context = |(&context, pairs): (&Context, &[[i64; 2]])| InContext {
        context,
        turns: if context == Context::Cold { 1 } else { turns },
        pairs: pairs.into(),
    };
    let rows = as_tuples(&reply.values).chunks(repeat.max(1) as usize);
    Ok(contexts.iter().zip(rows).map(in_context).collect())
}

impl Subject for AgentSubject {
    fn intervals(&mut self, work: &[u64], repeat: u32) -> Answer<Vec<Vec<i64>>> {
        let values = self.ask_undisturbed(&AgentQuestion::Differences {
            timer: self.id.clone(),
            repeat,
            work: work.into(),
        })?;
        Ok(split_rows(&values, work.len()))
    }

    fn batches(&mut self, reference: &str, calls: u64, repeat: u32) -> Answer<Vec<i64>> {
        self.ask_undisturbed(&AgentQuestion::Batches {
            timer: self.id.clone(),
            reference: reference.into(),
            calls,
            repeat,
            watched: self.is_watched(),
        })
    }

    fn readings(&mut self, count: u32) -> Answer<Vec<i64>> {
        self.ask_undisturbed(&AgentQuestion::Readings {
            timer: self.id.clone(),
            count,
            watched: self.is_watched(),
        })
    }

    fn order(&mut self, count: u32) -> Answer<timers::BackwardSteps> {
        if !self.connection.borrow().hello().offers(Op::Order) {
            return self
                .readings(count)
                .map(|readings| timers::BackwardSteps::from_readings(&readings));
        }
        let timer = self.id.clone();
        let values = self.ask(&AgentQuestion::Order { timer, count })?;
        Ok(timers::BackwardSteps {
            readings: count.into(),
            backward: values[0].unsigned_abs(),
            largest: values[1].unsigned_abs(),
            ends: Some([values[2], values[3]]),
        })
    }

    fn handoffs(&mut self, cpus: &[[u32; 2]], count: u32) -> Answer<Vec<Vec<[i64; 2]>>> {
        let values = self.ask(&AgentQuestion::Handoffs {
            timer: self.id.clone(),
            cpus: cpus.into(),
            count,
        })?;
        Ok(split_rows(as_tuples(&values), cpus.len().max(1)))
    }

    fn comparisons(&mut self, reference: &str, work: u64, count: u32) -> Answer<Vec<[i64; 3]>> {
        let values = self.ask(&AgentQuestion::Comparisons {
            timers: vec![self.id.clone()],
            reference: reference.into(),
            work,
            count,
            repeat: 1,
        })?;
        Ok(as_tuples(&values).into())
    }

    fn advance(&mut self, reference: &str, during: Activity, ms: u32) -> Answer<timers::Advance> {
        match measure_advances(&self.connection, &[&self.id], reference, during, ms)?[..] {
            [Some([timer, reference])] => Ok(timers::Advance { timer, reference }),
            _ => Err(Fault::Refused(format!("`{}` refuses", self.id))),
        }
    }

    fn waits(&mut self, reference: &str, list: WaitList) -> Answer<Vec<Wait>> {
        let values = self.ask(&AgentQuestion::Waits {
            timer: self.id.clone(),
            reference: reference.into(),
            pause_ns: list.pause_ns,
            repeat: 1,
            request_ns: list.lengths_ns.into(),
        })?;
        let wait = |&[index, before, after, cpu, signals]: &[i64; 5]| Wait {
            request_ns: list.lengths_ns[index as usize],
            before,
            after,
            cpu_ns: (cpu != -1).then_some(cpu),
            signals: signals.try_into().unwrap_or(0),
        };
        Ok(as_tuples(&values).iter().map(wait).collect())
    }

    fn periods(&mut self, reference: &str, period_ns: u64, count: u32) -> Answer<Wakeups> {
        let reply = self.connection.borrow_mut().ask(&AgentQuestion::Periods {
            timer: self.id.clone(),
            reference: reference.into(),
            period_ns,
            count,
        })?;
        let expiration = |&[at, count]: &[i64; 2]| (at, count.unsigned_abs());
        Ok(Wakeups {
            start: reply.start,
            list: as_tuples(&reply.values).iter().map(expiration).collect(),
            cpu_ns: reply.cpu_ns,
            signals: reply.signals.unwrap_or(0),
        })
    }
}

/// Groups the integers of an answer into tuples of `N`. The number of integers is a multiple of
/// `N`, because the connection has checked it.
fn as_tuples<const N: usize>(values: &[i64]) -> &[[i64; N]] {
    values.as_chunks().0
}

/// Splits the values into `count` rows of the same length, which may be 0.
fn split_rows<T: Clone>(values: &[T], count: usize) -> Vec<Vec<T>> {
    let length = values.len().checked_div(count).unwrap_or(0);
    (0..count)
        .map(|row| values[row * length..(row + 1) * length].into())
        .collect()
}
