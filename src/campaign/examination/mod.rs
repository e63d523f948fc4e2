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
pub struct Session {
    connection: Rc<RefCell<Connection>>,
    timers: Vec<(String, Box<dyn Subject>)>,
    reference: String,
    /// Whether it answers for many at once.
    joint: bool,
}

/// A timer of a session, what is known of it and shapes the questions, and where the answers go.
pub struct Examined<'a> {
    /// Its place among the timers of the session.
    pub place: usize,
    /// What a read costs, in nanoseconds.
    pub cost_ns: f64,
    /// Its step, in nanoseconds, where it is long.
    pub step_ns: f64,
    /// Everything that was observed of it.
    pub trace: &'a mut Stored,
}

/// What holds for all timers of a campaign.
#[derive(Clone, Copy, Debug)]
pub struct CampaignFacts<'a> {
    /// The plan of the campaign.
    pub plan: &'a Plan,
    /// The CPUs that their threads may run on.
    pub cpus: &'a [u32],
}

impl Session {
    /// With a process that was just started and hosts these timers.
    #[must_use]
    pub fn new(connection: Rc<RefCell<Connection>>, timers: &[&str], reference: &str) -> Self {
        let joint = connection.borrow().hello().many;
        let timers = timers
            .iter()
            .map(|&id| (id.to_owned(), subject(&connection, id)))
            .collect();
        Self {
            connection,
            timers,
            reference: reference.into(),
            joint,
        }
    }

    fn offers(&self, op: Op) -> bool {
        self.connection.borrow().hello().offers(op)
    }

    /// One comparison with the reference of each of these timers: of several the one that took
    /// least.
    ///
    /// # Errors
    /// As the subjects.
    pub fn compare_sparsely(&mut self, places: &[usize]) -> Answer<Vec<Option<[i64; 3]>>> {
        if self.joint {
            return Ok(self
                .together(places, [SPARSE_COMPARISON, 1], 0)?
                .pop()
                .unwrap_or_default());
        }
        let reference = &self.reference;
        let one = |place: &usize| {
            self.timers[*place]
                .1
                .comparisons(reference, 0, SPARSE_COMPARISON)
                .map(tightest)
        };
        places.iter().map(one).collect()
    }

    fn together(
        &self,
        places: &[usize],
        counts: [u32; 2],
        work: u64,
    ) -> Answer<Vec<Vec<Option<[i64; 3]>>>> {
        let ids: Vec<&str> = places
            .iter()
            .map(|&place| self.timers[place].0.as_str())
            .collect();
        together(&self.connection, &ids, &self.reference, counts, work)
    }

    /// All the other questions. One that is refused is noted, and the next one asked.
    ///
    /// # Errors
    /// When the process is lost; what it answered before stands in the evidence.
    pub fn examine(&mut self, known: &CampaignFacts, examined: &mut [Examined]) -> Answer<()> {
        for one in examined.iter_mut() {
            let order = self.order(known, one);
            one.trace.evidence.order = noted(Op::Readings, order, &mut one.trace.evidence)?;
            self.edges(known, one)?;
            let threads = self.threads(known, one.place);
            one.trace.evidence.threads = noted(Op::Handoffs, threads, &mut one.trace.evidence)?;
        }
        if self.offers(Op::Comparisons) {
            self.series(known, examined)?;
        }
        self.nature(known, examined)
    }

    /// Comparisons that follow each other; of several timers in turn.
    fn series(&mut self, known: &CampaignFacts, examined: &mut [Examined]) -> Answer<()> {
        let work = |trace: &Stored| (SPACING_NS / trace.reference.ns_per_work) as u64;
        let count = known.plan.comparisons;
        if let (true, Some(first)) = (self.joint, examined.first()) {
            let places: Vec<usize> = examined.iter().map(|one| one.place).collect();
            let work = work(first.trace);
            for row in self.together(&places, [1, count], work)? {
                for (one, comparison) in examined.iter_mut().zip(row) {
                    one.trace.evidence.series.extend(comparison);
                }
            }
        }
        // Those that refused tell why when they are asked alone.
        for one in examined
            .iter_mut()
            .filter(|one| one.trace.evidence.series.is_empty())
        {
            let series =
                self.timers[one.place]
                    .1
                    .comparisons(&self.reference, work(one.trace), count);
            one.trace.evidence.series =
                noted(Op::Comparisons, series, &mut one.trace.evidence)?.unwrap_or_default();
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
