//! Asks what the verdicts on a timer rest on: order of readings, threads, rate, and what it counts.
//!
//! Processes of their own are asked, which live as long as the campaign where the host can compare
//! a timer with its reference: so rates are seen over windows from a millisecond to the whole run.
//! One process tells of all timers of a host that answers for many at once.

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
use crate::hosts::hosted::{subject, together};
use crate::hosts::protocol::Op;
use crate::rate::tightest;
use crate::trace::{Evidence, Stored};

/// Comparisons of which the tightest counts.
const SPARSE_COMPARISON: u32 = 7;
/// Readings in one answer.
const CHUNK: u32 = 50_000;
/// Time between two comparisons of a series, in nanoseconds.
const SPACING_NS: f64 = 1e6;

/// The process that is asked about timers: about all of a host that answers for many at once, else
/// about one.
pub(super) struct Session {
    /// The process.
    pub connection: Rc<RefCell<Connection>>,
    /// The id of the reference.
    pub reference: String,
    /// Whether it answers for many at once.
    pub joint: bool,
    /// The plan of the campaign.
    pub plan: Plan,
    /// The CPUs that its threads may run on.
    pub cpus: Vec<u32>,
}

/// A timer of a session, what is known of it and shapes the questions, and where the answers go.
pub(super) struct Examined<'a> {
    /// Its id.
    pub id: &'a str,
    /// What a read costs, in nanoseconds.
    pub cost_ns: f64,
    /// Its step, in nanoseconds, where it is long.
    pub step_ns: f64,
    /// Everything that was observed of it.
    pub trace: &'a mut Stored,
}

impl Session {
    fn offers(&self, op: Op) -> bool {
        self.connection.borrow().hello().offers(op)
    }

    fn timer(&self, id: &str) -> Box<dyn Subject> {
        subject(&self.connection, id)
    }

    /// One comparison with the reference of each of these timers: of several the one that took
    /// least.
    ///
    /// # Errors
    /// As the subjects.
    pub(super) fn compare_sparsely(&self, ids: &[&str]) -> Answer<Vec<Option<[i64; 3]>>> {
        let reference = &self.reference;
        if self.joint {
            let counts = [SPARSE_COMPARISON, 1];
            let mut rows = together(&self.connection, ids, reference, counts, 0)?;
            return Ok(rows.pop().unwrap_or_default());
        }
        let one = |id: &&str| (self.timer(id)).comparisons(reference, 0, SPARSE_COMPARISON);
        ids.iter().map(|id| one(id).map(tightest)).collect()
    }

    /// Asks all the other questions. One that is refused is noted, and the next one asked.
    ///
    /// # Errors
    /// When the process is lost; what it answered before stands in the evidence.
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

    /// Comparisons that follow each other; of several timers in turn.
    fn series(&self, examined: &mut [Examined]) -> Answer<()> {
        let work = |trace: &Stored| (SPACING_NS / trace.reference.ns_per_work) as u64;
        let (reference, count) = (&self.reference, self.plan.comparisons);
        if let (true, Some(first)) = (self.joint, examined.first()) {
            let ids: Vec<&str> = examined.iter().map(|one| one.id).collect();
            let work = work(first.trace);
            for row in together(&self.connection, &ids, reference, [1, count], work)? {
                for (one, comparison) in examined.iter_mut().zip(row) {
                    one.trace.evidence.series.extend(comparison);
                }
            }
        }
        // Those that refused tell why when they are asked alone.
        let silent = |one: &&mut Examined| one.trace.evidence.series.is_empty();
        for one in examined.iter_mut().filter(silent) {
            let series = (self.timer(one.id)).comparisons(reference, work(one.trace), count);
            let evidence = &mut one.trace.evidence;
            evidence.series = noted(Op::Comparisons, series, evidence)?.unwrap_or_default();
        }
        Ok(())
    }
}

/// What was answered; a refusal is written down.
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
