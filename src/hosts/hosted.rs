//! The timers and sleep primitives of an agent, as the prober sees all of them: each question goes
//! over the connection, and the integers of its answer get their shape.

use std::cell::RefCell;
use std::rc::Rc;

use timers::waits::{Expiration, Wait, WaitRequest, WaitSubject};
use timers::{Answer, During, Fault, Subject};

use super::connection::Connection;
use super::protocol::{Op, Question, Reply};
use crate::hosts::step_search::StepQuestion;
use crate::model::Context;
use crate::rate::tightest;
use crate::trace::{self, InContext, Reference, Run};

/// How often a window is taken again that something disturbed. The last one is kept, whatever
/// disturbed it.
const REPETITIONS: u32 = 6;

/// A timer that the agent hosts.
#[must_use]
pub fn subject(connection: &Rc<RefCell<Connection>>, id: &str) -> Box<dyn Subject> {
    Box::new(Hosted::new(connection, id))
}

/// A sleep primitive that the agent hosts.
#[must_use]
pub fn waiter(connection: &Rc<RefCell<Connection>>, id: &str) -> Box<dyn WaitSubject> {
    Box::new(Hosted::new(connection, id))
}

struct Hosted {
    connection: Rc<RefCell<Connection>>,
    id: String,
}

impl Hosted {
    fn new(connection: &Rc<RefCell<Connection>>, id: &str) -> Self {
        Self {
            connection: Rc::clone(connection),
            id: id.into(),
        }
    }

    fn ask(&self, question: &Question) -> Answer<Vec<i64>> {
        self.connection
            .borrow_mut()
            .ask(question)
            .map(|reply| reply.values)
    }

    fn is_watched(&self) -> bool {
        self.connection.borrow().watches_itself()
    }

    /// Asks again and again until nothing that the runtime did to itself fell into the window. What
    /// voids all that was measured before is left to the caller, which knows what that was.
    fn ask_undisturbed(&self, question: &Question) -> Answer<Vec<i64>> {
        let mut left = REPETITIONS;
        loop {
            let values = self.ask(question)?;
            let mut connection = self.connection.borrow_mut();
            let voided = connection.windows().voided;
            let disturbed = connection.was_disturbed(left > 0);
            if !disturbed || left == 0 || connection.windows().voided > voided {
                return Ok(values);
            }
            left -= 1;
        }
    }
}

/// All that a process is asked of the calls of a timer, of a host that offers that in one question.
///
/// # Errors
/// As the timer.
pub fn calls(
    connection: &Rc<RefCell<Connection>>,
    id: &str,
    reference: &Reference,
    floor: bool,
) -> Answer<Run> {
    let reply = connection.borrow_mut().ask(&Question::Calls {
        timer: id.into(),
        reference: reference.id.clone(),
        ns_per_tick: reference.ns_per_tick,
        step: reference.step,
        floor,
    })?;
    Ok(reply.packed.map_or_else(Run::default, |packed| packed.0))
}

/// All intervals by which a process looks for the step of a timer, of a host that offers that in
/// one question; and whether the timer steps too seldom for that.
///
/// # Errors
/// As the timer.
pub fn steps(
    connection: &Rc<RefCell<Connection>>,
    timer: &str,
    question: StepQuestion,
) -> Answer<(Vec<trace::Intervals>, bool)> {
    let timer = timer.into();
    let reply = connection
        .borrow_mut()
        .ask(&Question::Steps { timer, question })?;
    let run = reply.packed.map_or_else(Run::default, |packed| packed.0);
    Ok((run.intervals, reply.values == [1]))
}

/// Comparisons of several timers in turn, in rounds: for each round the tightest of `repeat` a
/// timer, where it answered.
///
/// # Errors
/// As the host.
pub fn together(
    connection: &Rc<RefCell<Connection>>,
    timers: &[&str],
    reference: &str,
    [repeat, count]: [u32; 2],
    work: u64,
) -> Answer<Vec<Vec<Option<[i64; 3]>>>> {
    let reply = connection.borrow_mut().ask(&Question::Comparisons {
        timers: timers.iter().map(|&id| id.into()).collect(),
        reference: reference.into(),
        work,
        count,
        repeat,
    })?;
    let mut all = tuples(&reply.values).chunks(repeat.max(1) as usize);
    let mut one = || {
        let comparisons = all.next().unwrap_or_default();
        tightest(comparisons.to_vec()).filter(|one| *one != [Reply::REFUSED; 3])
    };
    let mut round = |_| timers.iter().map(|_| one()).collect();
    Ok((0..count).map(&mut round).collect())
}

/// How far several timers and the reference move in one span of time, where they answered.
///
/// # Errors
/// As the host.
pub fn advances(
    connection: &Rc<RefCell<Connection>>,
    timers: &[&str],
    reference: &str,
    during: During,
    ms: u32,
) -> Answer<Vec<Option<[i64; 2]>>> {
    let reply = connection.borrow_mut().ask(&Question::Advance {
        timers: timers.iter().map(|&id| id.into()).collect(),
        reference: reference.into(),
        during,
        ms,
    })?;
    let answered = |&moved: &[i64; 2]| (moved != [Reply::REFUSED; 2]).then_some(moved);
    Ok(tuples(&reply.values).iter().map(answered).collect())
}

/// What a read adds to the code around it.
///
/// # Errors
/// As the host.
pub fn adds(
    connection: &Rc<RefCell<Connection>>,
    timer: &str,
    reference: &str,
    contexts: &[Context],
    [turns, repeat]: [u32; 2],
) -> Answer<Vec<InContext>> {
    let reply = connection.borrow_mut().ask(&Question::Adds {
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
    let rows = tuples(&reply.values).chunks(repeat.max(1) as usize);
    Ok(contexts.iter().zip(rows).map(in_context).collect())
}

impl Subject for Hosted {
    fn intervals(&mut self, work: &[u64], repeat: u32) -> Answer<Vec<Vec<i64>>> {
        let values = self.ask_undisturbed(&Question::Intervals {
            timer: self.id.clone(),
            repeat,
            work: work.into(),
        })?;
        Ok(rows(&values, work.len()))
    }

    fn batches(&mut self, reference: &str, calls: u64, repeat: u32) -> Answer<Vec<i64>> {
        self.ask_undisturbed(&Question::Batches {
            timer: self.id.clone(),
            reference: reference.into(),
            calls,
            repeat,
            watched: self.is_watched(),
        })
    }

    fn readings(&mut self, count: u32) -> Answer<Vec<i64>> {
        self.ask_undisturbed(&Question::Readings {
            timer: self.id.clone(),
            count,
            watched: self.is_watched(),
        })
    }

    fn order(&mut self, count: u32) -> Answer<timers::Ordered> {
        if !self.connection.borrow().hello().offers(Op::Order) {
            return self
                .readings(count)
                .map(|readings| timers::Ordered::from_readings(&readings));
        }
        let timer = self.id.clone();
        let values = self.ask(&Question::Order { timer, count })?;
        Ok(timers::Ordered {
            readings: count.into(),
            backward: values[0].unsigned_abs(),
            largest: values[1].unsigned_abs(),
            ends: Some([values[2], values[3]]),
        })
    }

    fn handoffs(&mut self, count: u32) -> Answer<Vec<[i64; 2]>> {
        Ok(self.handoffs_between(&[], count)?.concat())
    }

    fn handoffs_between(&mut self, cpus: &[[u32; 2]], count: u32) -> Answer<Vec<Vec<[i64; 2]>>> {
        let values = self.ask(&Question::Handoffs {
            timer: self.id.clone(),
            cpus: cpus.into(),
            count,
        })?;
        Ok(rows(tuples(&values), cpus.len().max(1)))
    }

    fn comparisons(&mut self, reference: &str, work: u64, count: u32) -> Answer<Vec<[i64; 3]>> {
        let values = self.ask(&Question::Comparisons {
            timers: vec![self.id.clone()],
            reference: reference.into(),
            work,
            count,
            repeat: 1,
        })?;
        Ok(tuples(&values).into())
    }

    fn advance(&mut self, reference: &str, during: During, ms: u32) -> Answer<timers::Advance> {
        match advances(&self.connection, &[&self.id], reference, during, ms)?[..] {
            [Some([timer, reference])] => Ok(timers::Advance { timer, reference }),
            _ => Err(Fault::Refused(format!("`{}` refuses", self.id))),
        }
    }
}

impl WaitSubject for Hosted {
    fn waits(&mut self, reference: &str, request: WaitRequest) -> Answer<Vec<Vec<Wait>>> {
        let values = self.ask(&Question::Waits {
            timer: self.id.clone(),
            reference: reference.into(),
            break_ns: request
                .break_ns
                .map_or(-1, |ns| i64::try_from(ns).unwrap_or(i64::MAX)),
            pause_ns: request.pause_ns,
            repeat: request.repeat,
            request_ns: request.lengths_ns.into(),
        })?;
        let mut rows = vec![Vec::new(); request.lengths_ns.len()];
        for &[at, before, after, cpu, delay] in tuples(&values) {
            let known = |ns: i64| (ns != -1).then_some(ns);
            rows[at as usize].push(Wait {
                before,
                after,
                cpu_ns: known(cpu),
                run_delay_ns: known(delay),
            });
        }
        Ok(rows)
    }

    fn arms(&mut self, reference: &str, repeat: u32) -> Answer<Vec<i64>> {
        self.ask(&Question::Arms {
            timer: self.id.clone(),
            reference: reference.into(),
            repeat,
        })
    }

    fn periods(
        &mut self,
        reference: &str,
        period_ns: u64,
        count: u32,
        stalls: &[u32],
    ) -> Answer<Vec<Expiration>> {
        let values = self.ask(&Question::Periods {
            timer: self.id.clone(),
            reference: reference.into(),
            period_ns,
            count,
            stalls: stalls.into(),
        })?;
        let expiration = |&[at, expirations]: &[i64; 2]| Expiration {
            at,
            expirations: expirations.unsigned_abs(),
        };
        Ok(tuples(&values).iter().map(expiration).collect())
    }
}

/// Integers in groups: the connection takes no answer whose number of them is another.
fn tuples<const N: usize>(values: &[i64]) -> &[[i64; N]] {
    values.as_chunks().0
}

/// Values in so many rows of the same length, which may be 0.
fn rows<T: Clone>(values: &[T], count: usize) -> Vec<Vec<T>> {
    let length = values.len().checked_div(count).unwrap_or(0);
    (0..count)
        .map(|row| values[row * length..(row + 1) * length].into())
        .collect()
}
