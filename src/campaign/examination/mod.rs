//! Gathers the evidence for the verdicts on a timer: order of readings, threads, rate, and what it
//! counts.
//!
//! Separate processes answer these questions. If the host can compare a timer with its reference,
//! they live as long as the campaign, so that rates are observed over windows from a millisecond to
//! the whole run. One process serves all timers of a host that answers for many timers in one
//! question.

mod cpu_migrator;
mod edges;
mod nature;
mod order;
mod rounds;

use std::cell::RefCell;
use std::rc::Rc;

use timers::{Answer, Fault, Subject};

pub(super) use self::order::ordered;
pub(super) use self::rounds::rounds;
use crate::campaign::sampling::Plan;
use crate::hosts::connection::Connection;
use crate::hosts::hosted::{compare_in_rounds, subject};
use crate::hosts::protocol::Op;
use crate::rate::tightest;
use crate::trace::{Evidence, Stored};

/// Comparisons, the tightest of which is kept.
const SPARSE_COMPARISON: u32 = 7;
/// Readings in one answer.
const CHUNK: u32 = 50_000;
/// Time between two comparisons of a series, in nanoseconds.
const SPACING_NS: f64 = 1e6;

/// A process that examines timers: all timers of a host that answers for many in one question,
/// otherwise a single timer.
pub(super) struct Session {
    /// The process.
    pub connection: Rc<RefCell<Connection>>,
    /// The id of the reference.
    pub reference: String,
    /// Whether one question can cover many timers.
    pub joint: bool,
    /// The plan of the campaign.
    pub plan: Plan,
    /// The CPUs that its threads may run on.
    pub cpus: Vec<u32>,
}

/// A timer of a session: the known values that shape the questions, and the record for the answers.
pub(super) struct Examined<'a> {
    /// The id of the timer.
    pub id: &'a str,
    /// The cost of a read, in nanoseconds.
    pub cost_ns: f64,
    /// The step, in nanoseconds, if it is long; otherwise 0.
    pub step_ns: f64,
    /// All observations of the timer.
    pub trace: &'a mut Stored,
}

impl Session {
    fn offers(&self, op: Op) -> bool {
        self.connection.borrow().hello().offers(op)
    }

    fn timer(&self, id: &str) -> Box<dyn Subject> {
        subject(&self.connection, id)
    }

    /// Compares each of these timers with the reference: returns the tightest of several
    /// comparisons.
    ///
    /// # Errors
    /// The errors of the subjects.
    pub(super) fn compare_sparsely(&self, ids: &[&str]) -> Answer<Vec<Option<[i64; 3]>>> {
        let reference = &self.reference;
        if self.joint {
            let counts = [SPARSE_COMPARISON, 1];
            let mut rows = compare_in_rounds(&self.connection, ids, reference, counts, 0)?;
            return Ok(rows.pop().unwrap_or_default());
        }
        let one = |id: &&str| (self.timer(id)).comparisons(reference, 0, SPARSE_COMPARISON);
        ids.iter().map(|id| one(id).map(tightest)).collect()
    }

    /// Asks all other questions. A refused question is recorded, and the next one follows.
    ///
    /// # Errors
    /// When the process is lost; earlier answers are kept in the evidence.
    pub(super) fn examine(&self, examined: &mut [Examined]) -> Answer<()> {
        for one in examined.iter_mut() {
            let order = self.order(one);
            one.trace.evidence.order = noted(Op::Readings, order, &mut one.trace.evidence)?;
            self.edges(one)?;
            let threads = self.threads(one.id);
            one.trace.evidence.threads = noted(Op::Handoffs, threads, &mut one.trace.evidence)?;
        }
        if self.offers(Op::Comparisons) {
            self.series(examined)?;
        }
        self.nature(examined)
    }

    /// Makes comparisons in a row, for several timers in turn.
    fn series(&self, examined: &mut [Examined]) -> Answer<()> {
        let work = |trace: &Stored| (SPACING_NS / trace.reference.ns_per_work) as u64;
        let (reference, count) = (&self.reference, self.plan.comparisons);
        if let (true, Some(first)) = (self.joint, examined.first()) {
            let ids: Vec<&str> = examined.iter().map(|one| one.id).collect();
            let work = work(first.trace);
            for row in compare_in_rounds(&self.connection, &ids, reference, [1, count], work)? {
                for (one, comparison) in examined.iter_mut().zip(row) {
                    one.trace.evidence.series.extend(comparison);
                }
            }
        }
        // Timers that refused are asked individually, which returns the reason.
        let silent = |one: &&mut Examined| one.trace.evidence.series.is_empty();
        for one in examined.iter_mut().filter(silent) {
            let series = (self.timer(one.id)).comparisons(reference, work(one.trace), count);
            let evidence = &mut one.trace.evidence;
            evidence.series = noted(Op::Comparisons, series, evidence)?.unwrap_or_default();
        }
        Ok(())
    }
}

/// Returns the answer; records a refusal and returns `None`.
fn noted<T>(question: Op, answer: Answer<T>, evidence: &mut Evidence) -> Answer<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Fault::Refused(why)) => {
            evidence
                .refusals
                .entry(question.name().into())
                .or_insert(why);
            Ok(None)
        }
        Err(fault) => Err(fault),
    }
}
