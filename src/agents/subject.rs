//! Lets the campaign question the timers of an agent, over its connection.

use timers::{Activity, Answer, Context, StepQuestion, Subject, TimerQuestion, Values};

use super::connection::SharedConnection;
use estimators::rate::tightest;
use estimators::trace::{InContext, IntervalGroups, Observations, Reference};

/// Returns a timer of the agent.
pub fn subject(connection: &SharedConnection, id: &str) -> Box<dyn Subject> {
    Box::new(AgentSubject {
        connection: connection.clone(),
        id: id.into(),
    })
}

/// A timer of an agent, with the connection over which it is questioned.
struct AgentSubject {
    connection: SharedConnection,
    id: String,
}

impl Subject for AgentSubject {
    fn id(&self) -> String {
        self.id.clone()
    }

    fn answer(&mut self, mut question: TimerQuestion) -> Answer<Values> {
        let mut connection = self.connection.borrow_mut();
        let is_watched = connection.reports_thread_states();
        match &mut question {
            TimerQuestion::Batches { watched, .. } | TimerQuestion::Readings { watched, .. } => {
                *watched = is_watched;
            }
            TimerQuestion::Intervals { .. } => {}
            _ => return connection.ask(&question).map(Values::from),
        }
        connection.ask_undisturbed(&question).map(Values::from)
    }
}

/// Lets the process of a timer take all measurements of its calls.
///
/// # Errors
/// When the agent refuses or is lost.
pub fn time_calls(
    connection: &SharedConnection,
    timer: &str,
    reference: &Reference,
) -> Answer<Observations> {
    let reply = connection.borrow_mut().ask(&TimerQuestion::Calls {
        timer: timer.into(),
        reference: reference.id.clone(),
        ns_per_tick: reference.ns_per_tick,
        step: reference.step,
    })?;
    Ok(reply.packed.unwrap_or_default().0)
}

/// Lets the process of a timer search for its step. Returns the intervals, and whether the timer steps too
/// rarely for the search.
///
/// # Errors
/// When the agent refuses or is lost.
pub fn find_step(
    connection: &SharedConnection,
    timer: &str,
    question: &StepQuestion,
) -> Answer<(IntervalGroups, bool)> {
    let reply = connection.borrow_mut().ask(&TimerQuestion::Steps {
        timer: timer.into(),
        question: *question,
    })?;
    Ok((
        reply.packed.unwrap_or_default().0.intervals,
        reply.values == [1],
    ))
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
    let reply = connection.borrow_mut().ask(&TimerQuestion::Comparisons {
        timers: timers.iter().map(|&id| id.into()).collect(),
        reference: reference.into(),
        work,
        count,
        repeat,
    })?;
    let values = Values::from(reply);
    let repetitions = values.tuples().chunks(repeat.max(1) as usize);
    let tightest: Vec<_> = repetitions
        .map(|comparisons| tightest(comparisons.to_vec()))
        .map(|comparison| comparison.filter(|readings| *readings != [Values::REFUSED; 3]))
        .collect();
    Ok(tightest
        .chunks(timers.len().max(1))
        .map(<[_]>::to_vec)
        .collect())
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
    let reply = connection.borrow_mut().ask(&TimerQuestion::Advance {
        timers: timers.iter().map(|&id| id.into()).collect(),
        reference: reference.into(),
        during,
        ms,
    })?;
    let unless_refused = |&ticks: &[i64; 2]| (ticks != [Values::REFUSED; 2]).then_some(ticks);
    Ok(Values::from(reply)
        .tuples()
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
    let rows = subject(connection, timer).adds(reference, contexts, turns, repeat)?;
    let in_context = |(&context, pairs)| InContext {
        context,
        turns,
        pairs,
    };
    Ok(contexts.iter().zip(rows).map(in_context).collect())
}
