//! A timer of an agent: the five questions, sent over the connection; their answers, counted.

use std::cell::RefCell;
use std::rc::Rc;

use serde::de::DeserializeOwned;
use timers::{Advance, Answer, During, Fault, Subject};

use super::connection::Connection;
use super::protocol::{
    Adds, Advanced, Advances, Batches, Called, Comparisons, Handoffs, HandoffsBetween, Intervals,
    Ordered, Readings, Request, Steps, Together,
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

    pub(super) fn ask<T: DeserializeOwned>(
        &self,
        request: &Request,
        expected: &str,
        objection: impl FnOnce(&T) -> Option<String>,
    ) -> Answer<T> {
        let op = request.op();
        if !self.offers(op) {
            return Err(Fault::Refused(format!("this agent does not offer `{op}`")));
        }
        self.connection
            .borrow_mut()
            .ask(request, expected, objection)
    }

    fn offers(&self, op: &str) -> bool {
        self.connection.borrow().offers(op)
    }

    fn is_watched(&self) -> bool {
        self.connection.borrow().watches_itself()
    }

    /// As `ask`, again and again until nothing that the runtime did to itself fell into the window.
    /// What voids all that was measured before is left to the caller, which knows what that was.
    fn ask_undisturbed<T: DeserializeOwned>(
        &self,
        request: &Request,
        expected: &str,
        objection: impl Fn(&T) -> Option<String>,
    ) -> Answer<T> {
        let mut left = REPETITIONS;
        loop {
            let answer = self.ask(request, expected, &objection)?;
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
    let request = Request::Calls {
        timer: id.into(),
        reference: reference.id.clone(),
        ns_per_tick: reference.ns_per_tick,
        step: reference.step,
        floor,
    };
    let objection = |answer: &Called| {
        let Run {
            bracket,
            singles,
            batches,
            readings,
            ..
        } = &answer.calls.0;
        let empty =
            bracket.deltas.is_empty() || singles.deltas.is_empty() || batches.deltas.is_empty();
        (empty || readings.values.is_empty() || batches.calls == 0)
            .then(|| "something is missing".into())
    };
    let hosted = Hosted::new(Rc::clone(connection), id);
    let Called { calls, around } =
        hosted.ask(&request, r#"{"calls":"…","around":…}"#, objection)?;
    connection.borrow_mut().saw(around);
    Ok(calls.0)
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
    let request = Request::Steps {
        timer: timer.into(),
        question,
    };
    let objection = |answer: &Steps| {
        let intervals = &answer.steps.0.intervals;
        let short = intervals.is_empty() || intervals.iter().any(|row| row.deltas.is_empty());
        short.then(|| "something is missing".into())
    };
    let Steps { steps, slow } =
        connection
            .borrow_mut()
            .ask(&request, r#"{"steps":"…","slow":…}"#, objection)?;
    Ok((steps.0.intervals, slow))
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
    let ids = timers.iter().map(|&id| id.into()).collect();
    let request = Request::Together {
        timers: ids,
        reference: reference.into(),
        repeat,
        work,
        count,
    };
    let expected = format!(
        r#"{{"together":[…]}} with {count} rows of {} triples each"#,
        timers.len()
    );
    let objection = |answer: &Together| {
        let rows = &answer.together;
        off(rows.len(), count as usize, "rows").or_else(|| {
            rows.iter()
                .find_map(|row| off(row.len(), timers.len(), "timers in a row"))
        })
    };
    Ok(connection
        .borrow_mut()
        .ask(&request, &expected, objection)?
        .together)
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
    let ids = timers.iter().map(|&id| id.into()).collect();
    let request = Request::Advances {
        timers: ids,
        reference: reference.into(),
        during,
        ms,
    };
    let expected = format!(
        r#"{{"advances":[…]}} with {} pairs of integers"#,
        timers.len()
    );
    let objection = |answer: &Advances| off(answer.advances.len(), timers.len(), "timers");
    Ok(connection
        .borrow_mut()
        .ask(&request, &expected, objection)?
        .advances)
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
    let (id, known) = (timer.into(), reference.into());
    let request = Request::Adds {
        timer: id,
        reference: known,
        contexts: contexts.into(),
        turns,
        repeat,
    };
    let expected = format!(
        r#"{{"adds":[…]}} with {} rows of {repeat} pairs of integers each"#,
        contexts.len()
    );
    let objection = |answer: &Adds| {
        let rows = &answer.adds;
        off(rows.len(), contexts.len(), "rows").or_else(|| {
            rows.iter()
                .find_map(|row| off(row.len(), repeat as usize, "pairs in a row"))
        })
    };
    let Adds { adds, around } = connection
        .borrow_mut()
        .ask(&request, &expected, objection)?;
    connection.borrow_mut().saw(around);
    let of = |(&context, pairs)| InContext {
        context,
        turns: if context == Context::Cold { 1 } else { turns },
        pairs,
    };
    Ok(contexts.iter().zip(adds).map(of).collect())
}

impl Subject for Hosted {
    fn intervals(&mut self, work: &[u64], repeat: u32) -> Answer<Vec<Vec<i64>>> {
        let request = Request::Intervals {
            timer: self.id.clone(),
            work: work.into(),
            repeat,
        };
        let expected = format!(
            r#"{{"intervals":[…]}} with {} rows of {repeat} integers each"#,
            work.len()
        );
        let objection = |answer: &Intervals| {
            let rows = &answer.intervals;
            off(rows.len(), work.len(), "rows").or_else(|| {
                rows.iter()
                    .find_map(|row| off(row.len(), repeat as usize, "intervals in a row"))
            })
        };
        Ok(self
            .ask_undisturbed(&request, &expected, objection)?
            .intervals)
    }

    fn batches(&mut self, reference: &str, calls: u64, repeat: u32) -> Answer<Vec<i64>> {
        let (timer, reference) = (self.id.clone(), reference.into());
        let request = Request::Batches {
            timer,
            reference,
            calls,
            repeat,
            watched: self.is_watched(),
        };
        let expected = format!(r#"{{"batches":[…]}} with {repeat} integers"#);
        let objection = |answer: &Batches| off(answer.batches.len(), repeat as usize, "batches");
        let Batches { batches, around } = self.ask_undisturbed(&request, &expected, objection)?;
        self.connection.borrow_mut().saw(around);
        Ok(batches)
    }

    fn readings(&mut self, count: u32) -> Answer<Vec<i64>> {
        let request = Request::Readings {
            timer: self.id.clone(),
            count,
            watched: self.is_watched(),
        };
        let expected = format!(r#"{{"readings":[…]}} with {count} integers"#);
        let objection = |answer: &Readings| off(answer.readings.len(), count as usize, "readings");
        let Readings { readings, around } = self.ask_undisturbed(&request, &expected, objection)?;
        self.connection.borrow_mut().saw(around);
        Ok(readings)
    }

    fn order(&mut self, count: u32) -> Answer<timers::Ordered> {
        if !self.offers("order") {
            return self
                .readings(count)
                .map(|readings| timers::Ordered::of(&readings));
        }
        let request = Request::Order {
            timer: self.id.clone(),
            count,
        };
        let expected = r#"{"backward":…,"largest":…,"ends":[…,…]} with integers"#;
        let objection = |answer: &Ordered| answer.contradiction(count);
        let Ordered {
            backward,
            largest,
            ends,
        } = self.ask(&request, expected, objection)?;
        Ok(timers::Ordered {
            readings: count.into(),
            backward,
            largest,
            ends,
        })
    }

    fn handoffs(&mut self, count: u32) -> Answer<Vec<[i64; 2]>> {
        let request = Request::Handoffs {
            timer: self.id.clone(),
            count,
        };
        let expected = format!(r#"{{"handoffs":[…]}} with {count} pairs of integers"#);
        let objection = |answer: &Handoffs| off(answer.handoffs.len(), count as usize, "pairs");
        Ok(self.ask(&request, &expected, objection)?.handoffs)
    }

    fn handoffs_between(&mut self, cpus: &[[u32; 2]], count: u32) -> Answer<Vec<Vec<[i64; 2]>>> {
        let request = Request::HandoffsBetween {
            timer: self.id.clone(),
            cpus: cpus.into(),
            count,
        };
        let expected = format!(
            r#"{{"handoffs":[…]}} with {} lists of {count} pairs"#,
            cpus.len()
        );
        let objection = |answer: &HandoffsBetween| {
            let pairs = &answer.handoffs;
            off(pairs.len(), cpus.len(), "lists").or_else(|| {
                pairs
                    .iter()
                    .find_map(|list| off(list.len(), count as usize, "pairs in a list"))
            })
        };
        Ok(self.ask(&request, &expected, objection)?.handoffs)
    }

    fn comparisons(&mut self, reference: &str, work: u64, count: u32) -> Answer<Vec<[i64; 3]>> {
        let (timer, reference) = (self.id.clone(), reference.into());
        let request = Request::Comparisons {
            timer,
            reference,
            work,
            count,
        };
        let expected = format!(r#"{{"comparisons":[…]}} with {count} triples of integers"#);
        let objection =
            |answer: &Comparisons| off(answer.comparisons.len(), count as usize, "comparisons");
        Ok(self.ask(&request, &expected, objection)?.comparisons)
    }

    fn advance(&mut self, reference: &str, during: During, milliseconds: u32) -> Answer<Advance> {
        let (timer, reference) = (self.id.clone(), reference.into());
        let request = Request::Advance {
            timer,
            reference,
            during,
            ms: milliseconds,
        };
        let expected = r#"{"timer":…,"reference":…} with two integers"#;
        let Advanced { timer, reference } = self.ask(&request, expected, |_| None)?;
        Ok(Advance { timer, reference })
    }
}

/// What is wrong where so many were found of what there should be.
pub fn off(found: usize, wanted: usize, what: &str) -> Option<String> {
    (found != wanted).then(|| format!("there are {found} {what}, not {wanted}"))
}
