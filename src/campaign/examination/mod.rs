//! Gathers the evidence for the verdicts on a timer: whether its readings are in order, also
//! between threads; its edges; its rate; and what it counts (wall time or CPU time).
//!
//! Processes that measure nothing else answer these questions. If an agent can compare a timer with
//! its reference, its processes live as long as the campaign, so that rates are observed over times
//! from a millisecond to the whole campaign. If one question to an agent can cover many timers, one
//! process examines all timers of that agent; otherwise each timer has its own process.

mod cpu_migrator;
mod edges;
mod nature;
mod order;
mod rounds;

use timers::{Answer, Fault, Subject};

use crate::agents::connection::SharedConnection;
use crate::agents::protocol::Op;
use crate::agents::subject::{compare_in_rounds, subject};
use crate::campaign::unless_refused;
use crate::plan::Plan;
use estimators::model::Device;
use estimators::trace::{Evidence, Trace};

/// Comparisons in a sample; the one with the shortest time between its outer reads is kept.
pub const COMPARISONS_PER_SAMPLE: u32 = 7;
/// Largest number of readings in one answer.
const MAX_READINGS_PER_ANSWER: u32 = 50_000;
/// Assumed time of the loop around a read, in nanoseconds.
const LOOP_NS: f64 = 5.0;
/// Time between two comparisons of a series (many comparisons in one answer), in nanoseconds.
const SPACING_NS: f64 = 1e6;

/// A process that examines timers: all timers of an agent if one question to it can cover many timers,
/// otherwise a single timer. Each question covers all of them.
pub(super) struct Session<'a> {
    /// The process.
    pub connection: SharedConnection,
    /// The id of the reference.
    pub reference: String,
    /// The plan of the campaign.
    pub plan: &'a Plan,
    /// The CPUs that the threads of the process may run on.
    pub cpus: &'a [u32],
}

/// A timer that a session examines, with the values that determine how much is asked.
pub(super) struct Examined<'a> {
    /// The id of the timer.
    pub id: &'a str,
    /// The device that reads it; `None` if a CPU does.
    pub device: Option<&'a Device>,
    /// The cost of a read, in nanoseconds.
    pub cost_ns: f64,
    /// The step in nanoseconds if the timer is slow, otherwise 0.
    pub step_ns: f64,
    /// All observations of the timer.
    pub trace: &'a mut Trace,
}

impl Session<'_> {
    /// Returns whether the agent answers this question.
    fn offers(&self, op: Op) -> bool {
        self.connection.borrow().hello().offers(op)
    }

    /// Returns the timer with this id as the process reads it.
    fn timer(&self, id: &str) -> Box<dyn Subject> {
        subject(&self.connection, id)
    }

    /// Asks all questions except the comparisons over the whole campaign. If a question is refused,
    /// records the reason and continues with the next one.
    ///
    /// # Errors
    /// When the process is lost; earlier answers are kept in the evidence.
    pub(super) fn examine(&self, examined: &mut [Examined]) -> Answer<()> {
        for one in examined.iter_mut() {
            let order = self.test_order(one);
            one.trace.evidence.order =
                record_refusal(Op::Readings, order, &mut one.trace.evidence)?;
            self.find_edges(one)?;
            let threads = self.test_threads(one);
            one.trace.evidence.threads =
                record_refusal(Op::Handoffs, threads, &mut one.trace.evidence)?;
        }
        if self.offers(Op::Comparisons) {
            self.compare_in_series(examined)?;
        }
        self.find_counted_quantity(examined)
    }

    /// Compares each timer with the reference many times, about a millisecond apart.
    fn compare_in_series(&self, examined: &mut [Examined]) -> Answer<()> {
        let work = |trace: &Trace| (SPACING_NS / trace.reference.ns_per_work) as u64;
        let (reference, count) = (&self.reference, self.plan.comparisons);
        let Some(first) = examined.first() else {
            return Ok(());
        };
        let ids: Vec<&str> = examined.iter().map(|one| one.id).collect();
        let (connection, work_of_first) = (&self.connection, work(first.trace));
        let rows = compare_in_rounds(connection, &ids, reference, [1, count], work_of_first);
        for row in unless_refused(rows)?.unwrap_or_default() {
            for (one, comparison) in examined.iter_mut().zip(row) {
                one.trace.evidence.series.extend(comparison);
            }
        }
        // That answer does not say why a timer refused, so such timers are asked individually.
        let is_missing = |one: &&mut Examined| one.trace.evidence.series.is_empty();
        for one in examined.iter_mut().filter(is_missing) {
            let series = (self.timer(one.id)).comparisons(reference, work(one.trace), count);
            let evidence = &mut one.trace.evidence;
            evidence.series =
                record_refusal(Op::Comparisons, series, evidence)?.unwrap_or_default();
        }
        Ok(())
    }
}

/// Returns the answer to a question. If the question was refused, records the reason and returns
/// `None`.
///
/// # Errors
/// When the process is lost or the run is interrupted.
fn record_refusal<T>(
    question: Op,
    answer: Answer<T>,
    evidence: &mut Evidence,
) -> Answer<Option<T>> {
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
