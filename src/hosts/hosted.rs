//! A timer of an agent: the five questions, sent over the connection; their answers, counted.

use std::cell::RefCell;
use std::rc::Rc;

use timers::{Answer, During, Fault, Subject};

use super::connection::Connection;
use super::protocol::Question;
use super::protocol::questions::{
    Adds, Advance, Advances, Batches, Calls, Comparisons, Handoffs, HandoffsBetween, Intervals,
    Order, Readings, Steps, Together,
};
use crate::hosts::step_search::StepQuestion;
use crate::model::Context;
use crate::trace::{self, InContext, Reference, Run};

/// How often a window is taken again that something disturbed. The last one is kept, whatever
/// disturbed it.
const REPETITIONS: u32 = 6;

/// A timer that the agent hosts, as the prober sees all timers.
#[must_use]
pub fn subject(connection: &Rc<RefCell<Connection>>, id: &str) -> Box<dyn Subject> {
    Box::new(Hosted::new(Rc::clone(connection), id))
}

/// A timer that an agent hosts.
pub struct Hosted {
    connection: Rc<RefCell<Connection>>,
    pub(super) id: String,
}

impl Hosted {
    pub(super) fn new(connection: Rc<RefCell<Connection>>, id: &str) -> Self {
        Self {
            connection,
            id: id.into(),
        }
    }

    pub(super) fn ask<Q: Question>(&self, question: &Q) -> Answer<Q::Answer> {
        if !self.offers(Q::OP) {
            return Err(Fault::Refused(format!(
                "this agent does not offer `{}`",
                Q::OP
            )));
        }
        self.connection.borrow_mut().ask(question)
    }

    fn offers(&self, op: &str) -> bool {
        self.connection.borrow().offers(op)
    }

    fn is_watched(&self) -> bool {
        self.connection.borrow().watches_itself()
    }

    /// As `ask`, again and again until nothing that the runtime did to itself fell into the window.
    /// What voids all that was measured before is left to the caller, which knows what that was.
    fn ask_undisturbed<Q: Question>(&self, question: &Q) -> Answer<Q::Answer> {
        let mut left = REPETITIONS;
        loop {
            let answer = self.ask(question)?;
            let mut connection = self.connection.borrow_mut();
            let voided = connection.windows().voided;
            let disturbed = connection.was_disturbed(left > 0);
            if !disturbed || left == 0 || connection.windows().voided > voided {
                return Ok(answer);
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
    let answer = Hosted::new(Rc::clone(connection), id).ask(&Calls {
        timer: id.into(),
        reference: reference.id.clone(),
        ns_per_tick: reference.ns_per_tick,
        step: reference.step,
        floor,
    })?;
    connection.borrow_mut().saw(answer.around);
    Ok(answer.calls.0)
}

/// All intervals by which a process looks for the step of a timer, of a host that offers that in
/// one question.
///
/// # Errors
/// As the timer.
pub fn steps(
    connection: &Rc<RefCell<Connection>>,
    timer: &str,
    question: StepQuestion,
) -> Answer<(Vec<trace::Intervals>, bool)> {
    let timer = timer.into();
    let answer = connection.borrow_mut().ask(&Steps { timer, question })?;
    Ok((answer.steps.0.intervals, answer.slow))
}

/// Comparisons of several timers in turn, in rounds, of a host that offers that: for each round one
/// a timer, where it answered.
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
    let question = Together {
        timers: timers.iter().map(|&id| id.into()).collect(),
        reference: reference.into(),
        repeat,
        work,
        count,
    };
    Ok(connection.borrow_mut().ask(&question)?.together)
}

/// How far several timers and the reference move in one span of time, of a host that offers that.
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
    let question = Advances {
        timers: timers.iter().map(|&id| id.into()).collect(),
        reference: reference.into(),
        during,
        ms,
    };
    Ok(connection.borrow_mut().ask(&question)?.advances)
}

/// What a read adds to the code around it, of a host that offers that.
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
    let answer = connection.borrow_mut().ask(&Adds {
        timer: timer.into(),
        reference: reference.into(),
        contexts: contexts.into(),
        turns,
        repeat,
    })?;
    connection.borrow_mut().saw(answer.around);
    let in_context = |(&context, pairs)| InContext {
        context,
        turns: if context == Context::Cold { 1 } else { turns },
        pairs,
    };
    Ok(contexts.iter().zip(answer.adds).map(in_context).collect())
}

impl Subject for Hosted {
    fn intervals(&mut self, work: &[u64], repeat: u32) -> Answer<Vec<Vec<i64>>> {
        let (timer, work) = (self.id.clone(), work.into());
        let answer = self.ask_undisturbed(&Intervals {
            timer,
            work,
            repeat,
        })?;
        Ok(answer.intervals)
    }

    fn batches(&mut self, reference: &str, calls: u64, repeat: u32) -> Answer<Vec<i64>> {
        let answer = self.ask_undisturbed(&Batches {
            timer: self.id.clone(),
            reference: reference.into(),
            calls,
            repeat,
            watched: self.is_watched(),
        })?;
        self.connection.borrow_mut().saw(answer.around);
        Ok(answer.batches)
    }

    fn readings(&mut self, count: u32) -> Answer<Vec<i64>> {
        let answer = self.ask_undisturbed(&Readings {
            timer: self.id.clone(),
            count,
            watched: self.is_watched(),
        })?;
        self.connection.borrow_mut().saw(answer.around);
        Ok(answer.readings)
    }

    fn order(&mut self, count: u32) -> Answer<timers::Ordered> {
        if !self.offers(Order::OP) {
            return self
                .readings(count)
                .map(|readings| timers::Ordered::of(&readings));
        }
        let timer = self.id.clone();
        let answer = self.ask(&Order { timer, count })?;
        Ok(timers::Ordered {
            readings: count.into(),
            backward: answer.backward,
            largest: answer.largest,
            ends: answer.ends,
        })
    }

    fn handoffs(&mut self, count: u32) -> Answer<Vec<[i64; 2]>> {
        let timer = self.id.clone();
        Ok(self.ask(&Handoffs { timer, count })?.handoffs)
    }

    fn handoffs_between(&mut self, cpus: &[[u32; 2]], count: u32) -> Answer<Vec<Vec<[i64; 2]>>> {
        let (timer, cpus) = (self.id.clone(), cpus.into());
        Ok(self.ask(&HandoffsBetween { timer, cpus, count })?.handoffs)
    }

    fn comparisons(&mut self, reference: &str, work: u64, count: u32) -> Answer<Vec<[i64; 3]>> {
        let answer = self.ask(&Comparisons {
            timer: self.id.clone(),
            reference: reference.into(),
            work,
            count,
        })?;
        Ok(answer.comparisons)
    }

    fn advance(&mut self, reference: &str, during: During, ms: u32) -> Answer<timers::Advance> {
        let answer = self.ask(&Advance {
            timer: self.id.clone(),
            reference: reference.into(),
            during,
            ms,
        })?;
        Ok(timers::Advance {
            timer: answer.timer,
            reference: answer.reference,
        })
    }
}
